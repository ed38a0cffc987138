// The replay's controls: play, slider, keys, pointer; and what opens, resizes and prints the page.

/** The marks under the slider: a shape for each kind of event, and what it stands for. */
const TICKS = {
  appeared: ["▲", "first mote inside"],
  found: ["●", "found"],
  most: ["◆", "most motes inside"],
  election: ["|", "election"],
  death: ["×", "deaths"],
  crash: ["+", "crashes"],
};

/** Play, pause, slider and keys, over all maps of the page. */
class Player {
  constructor(worlds) {
    this.worlds = worlds;
    this.maps = worlds.map((world, n) => new ReplayMap(world, document.querySelector(`[data-stage="${n}"]`)));
    // Maps beside each other show the same part of the field.
    for (const map of this.maps) map.view = this.maps[0].view;
    this.legend = new Legend(this.maps);
    this.story = new MoteStory(worlds);
    this.story.released = () => this.pin(-1);
    this.pinned = this.hovered = -1;
    [this.frames, this.stepS] = [Math.max(...worlds.map((world) => world.frames)), worlds[0].stepS];
    for (const id of ["play", "time", "clock", "speed", "marks", "event", "ticks"]) this[id] = document.getElementById(id);
    this.playing = false;
    this.untouched = true;
    this.time.max = this.frames - 1;
    this.events = worlds[0].events;
    this.play.addEventListener("click", () => this.toggle());
    this.time.addEventListener("input", () => this.goToFrame(+this.time.value));
    document.addEventListener("keydown", (event) => this.key(event));
    for (const option of Object.values(controls)) option.addEventListener("change", () => this.draw());
    for (const map of this.maps) new Pointer(map, this);
    shown.watchers.push((atS) => this.show(atS));
  }

  frameAt(atS) { return Math.min(this.frames - 1, Math.floor(atS / this.stepS + 1e-9)); }

  goToFrame(frame) {
    this.untouched = false;
    shown.to(Math.min(this.frames - 1, Math.max(0, frame)) * this.stepS);
  }

  fit() {
    // Maps below each other share the height of the screen, maps beside each other do not.
    const above = this.maps.length > 1 && this.maps[0].canvas.getBoundingClientRect().left === this.maps[1].canvas.getBoundingClientRect().left;
    for (const map of this.maps) map.fit(above ? 0.6 : 1);
    this.drawMarks();
  }

  show(atS) {
    const frame = this.frameAt(atS);
    if (frame === this.frame) {
      // Between frames only messages move.
      if (this.playing) this.drawMaps();
      return;
    }
    this.frame = frame;
    this.time.value = frame;
    const text = `${format.count(frame * this.stepS)} s`;
    this.clock.textContent = text;
    const last = this.events.findLast((event) => event.at_s <= frame * this.stepS);
    this.event.textContent = this.eventText(last);
    this.time.setAttribute("aria-valuetext", last ? `${text}, last event: ${last.text}` : text);
    for (const world of this.worlds) world.goTo(Math.min(frame, world.frames - 1));
    this.draw();
  }

  /** The last event in words: what is seen now, or what was seen before. */
  eventText(last) {
    if (!last) return "";
    const now = this.frameOf(last) === this.frame;
    const text = `${now ? "Now" : "Last event"}, at ${format.seconds(last.at_s)}: ${last.text}.`;
    return this.untouched && now ? `${text} The replay opens here; ▶ plays from the start.` : text;
  }

  drawMaps() {
    const share = this.playing ? (shown.atS / this.stepS) % 1 : 0.5;
    const chosen = this.pinned >= 0 ? this.pinned : this.hovered;
    return this.maps.map((map) => map.draw(share, chosen));
  }

  draw() {
    if (!this.maps[0].canvas.clientWidth) return;
    this.legend.explain(this.drawMaps());
    this.story.update();
  }

  pin(node) {
    this.pinned = node;
    this.story.show(node, node >= 0);
    this.draw();
  }

  hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    if (this.pinned < 0) this.story.show(node, false);
    this.draw();
  }

  toggle() {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    // A screen reader should not have to read out every frame.
    for (const each of [this.clock, this.event]) each.setAttribute("aria-live", this.playing ? "off" : "polite");
    if (!this.playing) return;
    const lastS = (this.frames - 1) * this.stepS;
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

  zoom(factor, x, y) {
    this.maps[0].zoom(factor, x, y);
    this.placeAll();
  }

  placeAll() {
    for (const map of this.maps) map.place();
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    // What a focused control does with a key itself comes first.
    if (target.matches("select, textarea, input:not([type=range]):not([type=checkbox])")) return;
    if (event.key === " " && target.matches("button, input[type=checkbox], summary, a")) return;
    const far = event.shiftKey ? 10 : 1;
    const { motes } = this.worlds[0];
    const atS = this.frame * this.stepS;
    const after = this.events.find((each) => this.frameOf(each) > this.frame);
    const before = this.events.findLast((each) => this.frameOf(each) < this.frame);
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.goToFrame(this.frame - far),
      ArrowRight: () => this.goToFrame(this.frame + far),
      Home: () => this.goToFrame(0),
      End: () => this.goToFrame(this.frames - 1),
      ",": () => before && this.goToFrame(this.frameOf(before)),
      ".": () => after && this.goToFrame(this.frameOf(after)),
      "+": () => this.zoom(1.5),
      "=": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      "0": () => this.zoom(1e-9),
      "[": () => this.pin((this.pinned + motes - (this.pinned < 0 ? 0 : 1)) % motes),
      "]": () => this.pin((this.pinned + 1) % motes),
      Escape: () => this.pin(-1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key](atS);
  }

  /** The first frame that shows an event. */
  frameOf(event) { return Math.min(this.frames - 1, Math.ceil(event.at_s / this.stepS - 1e-9)); }

  /** Ticks under the slider, a shape for each kind of event. */
  drawMarks() {
    const width = this.marks.clientWidth;
    if (!width) return;
    this.marks.setAttribute("viewBox", `0 0 ${width} 14`);
    // Frequent ones first, so that they do not cover the rest. The slider's knob is 16 pixels wide.
    const order = Object.keys(TICKS).reverse();
    const sorted = [...this.events].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    this.marks.replaceChildren(...sorted.map(({ at_s: atS, kind, text }) => {
      const x = 8 + (this.frameOf({ at_s: atS }) / Math.max(1, this.frames - 1)) * (width - 16);
      const mark = shape("text", { x, y: 11, "text-anchor": "middle", class: `mark-${kind}` }, TICKS[kind][0]);
      mark.append(shape("title", {}, `${format.seconds(atS)}: ${text}`));
      return mark;
    }));
    const there = Object.entries(TICKS).filter(([kind]) => this.events.some((event) => event.kind === kind));
    this.ticks.replaceChildren(...there.map(([kind, [mark, text]]) => element("li", {}, element("i", { class: `mark-${kind}`, "aria-hidden": "true" }, mark), text)));
  }
}

/** Mouse, pen and fingers on a map: point, pin, drag, pinch, turn the wheel. */
class Pointer {
  constructor(map, player) {
    Object.assign(this, { map, player, down: new Map(), moved: 0 });
    const { canvas } = map;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.down.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => player.hover(-1));
    canvas.addEventListener("dblclick", (event) => this.player.zoom(2, ...this.at(event)));
    canvas.addEventListener("wheel", (event) => {
      // Without the key the wheel scrolls the page, as everywhere.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      player.zoom(Math.exp(-event.deltaY / 300), ...this.at(event));
    }, { passive: false });
  }

  at(event) {
    const box = this.map.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (!this.down.size) this.moved = 0;
    this.down.set(event.pointerId, this.at(event));
    if (this.down.size > 1) this.moved = Infinity;
  }

  move(event) {
    const at = this.at(event);
    const before = this.down.get(event.pointerId);
    if (!before) {
      this.player.hover(this.map.moteAt(...at));
      return;
    }
    const [dx, dy] = [at[0] - before[0], at[1] - before[1]];
    this.moved += Math.hypot(dx, dy);
    const other = [...this.down].find(([id]) => id !== event.pointerId)?.[1];
    this.down.set(event.pointerId, at);
    const { view } = this.map;
    if (other) {
      const far = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
      this.player.zoom(far(at) / far(before), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    } else if (view.zoom > 1) {
      view.x += dx;
      view.y += dy;
      this.player.placeAll();
    }
  }

  release(event) {
    if (!this.down.delete(event.pointerId) || this.moved > 6) return;
    const node = this.map.moteAt(...this.at(event), event.pointerType === "touch" ? 28 : 14);
    this.player.pin(node === this.player.pinned ? -1 : node);
  }
}

let player = null;
if (report.replay) {
  const worlds = [new World(report.replay, "")];
  if (report.beside) worlds.push(new World(report.beside, ""));
  player = new Player(worlds);
  player.fit();
}
function redraw() {
  colours.clear();
  player?.fit();
  player?.draw();
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

/** `report.html#t=120` opens at 120 s, `#t=120&by=cluster&mote=17` coloured by cluster, with mote 17 pinned. */
function openAtHash() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if ([...controls.mode.options].some((option) => option.value === wanted.get("by"))) controls.mode.value = wanted.get("by");
  const atS = Number.parseFloat(wanted.get("t") ?? report.first_s);
  shown.to(Number.isFinite(atS) ? atS : report.first_s);
  const node = Number.parseInt(wanted.get("mote"), 10);
  if (player && node >= 0 && node < player.worlds[0].motes) player.pin(node);
  player?.draw();
}
openAtHash();
window.addEventListener("hashchange", openAtHash);
if (!document.documentElement.dataset.report) document.documentElement.dataset.report = "ready";
