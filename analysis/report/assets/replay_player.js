// The replay's controls, and what opens, resizes and prints the page.

/** Play, pause, slider and keys. */
class Player {
  constructor(world, map) {
    this.world = world;
    this.map = map;
    this.button = document.getElementById("play");
    this.slider = document.getElementById("time");
    this.clock = document.getElementById("clock");
    this.speed = document.getElementById("speed");
    this.playing = false;
    this.untouched = true;
    this.slider.max = world.frames - 1;
    this.button.addEventListener("click", () => this.toggle());
    this.slider.addEventListener("input", () => this.goToFrame(+this.slider.value));
    document.getElementById("field").addEventListener("keydown", (event) => this.onKey(event));
    shown.watchers.push((atS) => this.show(atS));
  }

  frameAt(atS) { return Math.min(this.world.frames - 1, Math.floor(atS / this.world.stepS + 1e-9)); }

  goToFrame(frame) {
    this.untouched = false;
    shown.to(Math.min(this.world.frames - 1, Math.max(0, frame)) * this.world.stepS);
  }

  show(atS) {
    const frame = this.frameAt(atS);
    if (frame === this.frame) return;
    this.frame = frame;
    this.slider.value = frame;
    const text = `${(frame * this.world.stepS).toLocaleString("en")} s`;
    this.clock.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.world.goTo(frame);
    this.map.draw();
  }

  toggle() {
    this.playing = !this.playing;
    this.button.textContent = this.playing ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    // A screen reader should not have to read out every frame.
    this.clock.setAttribute("aria-live", this.playing ? "off" : "polite");
    if (!this.playing) return;
    const lastS = (this.world.frames - 1) * this.world.stepS;
    // The page opens at its most telling moment; whoever presses play wants the story from the start.
    if (this.untouched || shown.atS >= lastS) shown.to(0);
    this.untouched = false;
    let before = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      shown.to(Math.min(lastS, shown.atS + ((now - before) / 1000) * this.speed.value));
      before = now;
      if (shown.atS >= lastS) this.toggle();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  onKey(event) {
    const far = event.shiftKey ? 10 : 1;
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.goToFrame(this.frame - far),
      ArrowRight: () => this.goToFrame(this.frame + far),
      Home: () => this.goToFrame(0),
      End: () => this.goToFrame(this.world.frames - 1),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }
}

let map = null;
if (report.replay) {
  const world = new World(report.replay);
  map = new ReplayMap(world);
  map.fit();
  new Player(world, map);
}
function redraw() {
  map?.fit();
  map?.draw();
  drawPlots();
}
window.addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
window.addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  for (const details of document.querySelectorAll("details")) details.open = true;
  redraw();
});
window.addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  redraw();
});

/** `report.html#t=120` opens at 120 s, `#t=120&by=cluster` coloured by cluster. */
function openAtHash() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const select = document.getElementById("mode");
  if ([...select.options].some((option) => option.value === wanted.get("by"))) select.value = wanted.get("by");
  const atS = Number.parseFloat(wanted.get("t") ?? report.first_s);
  shown.to(Number.isFinite(atS) ? atS : report.first_s);
  map?.draw();
}
openAtHash();
window.addEventListener("hashchange", openAtHash);
if (!document.documentElement.dataset.report) document.documentElement.dataset.report = "ready";
