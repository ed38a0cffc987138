// The legend of the maps: what marks stand for, how many motes there are of each kind, and how things stand at the time shown.

/** The legend over all maps: marks, and how many motes there are of each kind now. */
class Legend {
  constructor(maps) {
    this.maps = maps;
    this.list = document.getElementById("key");
    this.now = document.getElementById("now");
    this.at = document.getElementById("at");
    const { world } = maps[0];
    for (const [name, { possible }] of Object.entries(MODES)) {
      if (possible(world)) controls.mode.append(element("option", {}, name));
    }
    const useless = { links: !world.rounds.length, haze: !world.truth, contours: !world.scenery, messages: !world.pulses, routes: !world.pulses };
    for (const [name, hidden] of Object.entries(useless)) controls[name].parentElement.hidden = hidden;
  }

  /** Explain what the maps have just drawn. */
  explain(drawn) {
    const [{ groups, look }] = drawn;
    const [{ world, radius }] = this.maps;
    const rows = groups.key.filter(([, , text]) => text).map(([id, style, text]) => [style, text, ({ sizes }) => sizes.get(id)]);
    if (groups.note) rows.push([null, groups.note]);
    if (world.rounds.length) rows.push([look.head, "cluster heads", ({ heads }) => heads]);
    rows.push([look.dead, "dead", ({ dead }) => dead]);
    if (this.maps.some((map) => map.world.down)) rows.push([look.down, "not working: crashed or not in the field", ({ down }) => down]);
    rows.push([look.sink, "sink", () => world.sinksM.length]);
    rows.push(...sceneryRows(world));
    if (world.round && controls.links.checked && drawn.some(({ counts }) => counts.dead + counts.down)) rows.push([null, "A mote without a link has lost its head."]);
    if (world.pulses && controls.messages.checked) {
      const sampled = world.pulses.every > 1 ? `; 1 in ${world.pulses.every} is drawn` : "";
      rows.push([null, `Messages sent in this ${world.stepS > 1 ? `${world.stepS} s` : "second"}${sampled}`]);
      const counted = this.maps.map((map) => (map.world.pulses ? map.causes.counts() : []));
      world.pulses.kinds.forEach(({ name, slot }, n) => rows.push([{ mark: "dash", size: 2.4, stroke: colour(`--s${slot}`), width: 2.4 }, name, (_, at) => counted[at][n] ?? 0]));
    }
    // Marks are drawn anew only when they change; from frame to frame it is the counts that do.
    const marks = JSON.stringify([rows.map(([style, text]) => [style, text]), radius]);
    if (marks !== this.marks) {
      this.marks = marks;
      this.list.replaceChildren(...rows.map(([style, text]) => (style ? this.row(style, text, radius) : element("li", { class: "head" }, text))));
    }
    rows.forEach(([style, , count], n) => {
      if (style && count) this.list.children[n].lastChild.textContent = drawn.map(({ counts }, at) => format.count(count(counts, at))).join(" / ");
    });
    this.explainNow();
  }

  row(style, text, radius) {
    const ratio = window.devicePixelRatio || 1;
    const sample = element("canvas", { width: 24 * ratio, height: 20 * ratio, "aria-hidden": "true" });
    const pen = sample.getContext("2d");
    pen.scale(ratio, ratio);
    paint(pen, style, [[12, 10]], Math.min(3.4, Math.max(2.8, radius)));
    return element("li", {}, sample, text, element("b"));
  }

  /** How well the answer fits, and what it costs, at the time shown. */
  explainNow() {
    const { world: { frame, stepS } } = this.maps[0];
    this.at.textContent = `At ${format.count(frame * stepS)} s`;
    const columns = this.maps.map(({ world }) => factsNow(world));
    const names = [...new Set(columns.flatMap((column) => [...column.keys()]))];
    const cells = names.flatMap((name) => [element("dt", {}, name), element("dd", {}, columns.map((column) => column.get(name) ?? "–").join(" / "))]);
    this.now.replaceChildren(...cells);
  }
}

/** What the legend says of leaks, contours and barriers; the wind has its words on the map. */
function sceneryRows({ scenery, frame, stepS }) {
  if (!scenery) return [];
  const rows = [];
  const open = scenery.leaks.filter((leak) => isOpen(leak, frame * stepS)).length;
  const leaks = [["--leak", "leak, open", open], ["--quiet", "leak, closed", scenery.leaks.length - open]];
  for (const [tint, text, count] of leaks) if (count) rows.push([{ mark: "star", size: 2.6, stroke: colour(tint), width: 2 }, text, () => count]);
  if (controls.contours.checked) {
    scenery.levels.forEach((text, level) => rows.push([{ mark: "dash", size: 3, stroke: colour("--contour"), width: contourWidth(level) }, `gas at ${level ? text : `the ${text}`}`]));
  }
  if (scenery.barriers_m.length) rows.push([{ mark: "dash", size: 3, stroke: colour("--wall"), width: 5 }, "barrier", () => scenery.barriers_m.length]);
  return rows;
}

function factsNow(world) {
  const atS = world.frame * world.stepS;
  const facts = new Map();
  if (world.truth && world.answer) {
    const sizes = [0, 0, 0, 0];
    for (let node = 0; node < world.motes; node++) sizes[world.state(node)]++;
    const [, missed, wrong, both] = sizes;
    if (missed + wrong + both) facts.set(world.allWork() ? "coverage now" : "coverage now (including motes that are down)", format.percent(both / (missed + wrong + both)));
  }
  const sumAt = (spec, n) => spec.series.reduce((sum, each) => sum + each.values[n], 0);
  const chart = (name) => report.charts.find((each) => each.name === world.chartPrefix + name);
  const traffic = chart("traffic"), energy = chart("energy");
  if (traffic) {
    const edges = traffic.edges_s;
    const n = Math.max(0, Math.min(edges.length - 2, edges.findLastIndex((edge) => edge <= atS)));
    facts.set("on air now", format.rate(sumAt(traffic, n) / (edges[n + 1] - edges[n] || 1)));
  }
  if (energy) {
    const n = Math.max(0, energy.times_s.findLastIndex((time) => time <= atS));
    facts.set(energy.idle_apart ? "energy spent so far, idling apart" : "energy spent so far", `${format.count(+sumAt(energy, n).toPrecision(4))} J`);
  }
  return facts;
}
