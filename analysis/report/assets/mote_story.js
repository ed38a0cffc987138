// One mote's story: its battery, heads, readings and messages over time, and its facts at the time shown.

const STORY = { width: 280, left: 62, right: 6, row: 30, gap: 8 };

/** The panel about the mote that is pinned or pointed at. */
class MoteStory {
  constructor(worlds) {
    this.worlds = worlds;
    this.box = document.getElementById("mote");
    this.show(-1, false);
  }

  /** Choose a mote, or none (-1). */
  show(node, pinned) {
    if (node === this.node && pinned === this.pinned) return;
    Object.assign(this, { node, pinned });
    if (node < 0) {
      this.box.replaceChildren(element("p", {}, "Point at a mote for its story; click or tap to pin it."));
      this.cursor = null;
      return;
    }
    this.facts = element("dl", { class: "now" });
    this.heading = element("h3", { id: "mote-name" }, `mote ${node}`);
    const bar = element("div", { class: "bar" }, this.heading);
    if (pinned) {
      const release = element("button", { type: "button", id: "unpin", "aria-label": `Let mote ${node} go` }, "pinned ×");
      release.addEventListener("click", () => this.released());
      bar.append(release);
    }
    this.box.replaceChildren(bar, this.facts, this.drawing());
    this.update();
  }

  /** Set by whoever redraws the maps. */
  released() { this.show(-1, false); }

  /** The facts at the time shown. */
  update() {
    if (this.node < 0) return;
    const columns = this.worlds.map((world) => this.factsOf(world));
    const cells = [...columns[0].keys()].flatMap((name) => [
      element("dt", {}, name),
      element("dd", {}, [...new Set(columns.map((column) => column.get(name)))].join(" / ")),
    ]);
    this.facts.replaceChildren(...cells);
    const at = this.x(Math.min(shown.atS, report.duration_s));
    this.cursor.setAttribute("x1", at);
    this.cursor.setAttribute("x2", at);
  }

  factsOf(world) {
    const { node } = this;
    const facts = new Map();
    const atS = world.frame * world.stepS;
    const head = world.round ? world.round.head[node] : -1;
    let role = "in no cluster";
    if (world.isDead(node)) role = "dead";
    else if (world.isDown(node)) role = "not working";
    else if (head === node) role = "cluster head";
    else if (head >= 0) role = `member of ${head}`;
    facts.set(`at ${format.count(atS)} s`, role);
    const senses = ["outside", "inside, not in the answer", "in the answer, not inside", "inside and in the answer"];
    if (world.truth || world.answer) facts.set("phenomenon", senses[world.state(node)]);
    const labels = world.answers.filter((each) => each.set.has[node]).map((each) => each.label);
    if (labels.length) facts.set("in the answer as", labels.join("; "));
    if (world.energy) facts.set("battery left", `${Math.round(world.left(node) * 100)} %`);
    if (world.readings) {
      const { starts, atS: times, value, labels: values, every } = world.readings;
      let last = -1, count = 0;
      for (let n = starts[node]; n < starts[node + 1] && times[n] <= atS; n++, count++) last = n;
      facts.set("readings with a value", `${every > 1 ? "about " : ""}${format.count(count * every)}`);
      facts.set("last of them", last < 0 ? "none yet" : `${values[value[last]]} at ${format.seconds(times[last])}`);
    }
    if (world.traffic) {
      const { sent, received, bins, widthS } = world.traffic;
      let [out, into] = [0, 0];
      for (let n = 0; n < bins && (n + 1) * widthS <= atS; n++) {
        out += sent[node * bins + n];
        into += received[node * bins + n];
      }
      const until = Math.min(bins, Math.floor(atS / widthS)) * widthS;
      facts.set("messages sent, received", `${format.count(out)}, ${format.count(into)}${widthS > 1 ? ` by ${until} s` : ""}`);
    }
    const route = world.route(node);
    if (route.length > 1) facts.set("way to the sink", route.map((each) => (each < 0 ? "sink" : each)).join(" → ") + (world.relayed ? ", over relays" : ""));
    return facts;
  }

  x(atS) { return STORY.left + (atS / report.duration_s) * (STORY.width - STORY.left - STORY.right); }

  /** All of the run at a glance: one row each for battery, heads, readings, messages. */
  drawing() {
    const [world] = this.worlds;
    const rows = [
      ["battery", world.energy && ((y) => this.battery(world, y))],
      ["head", world.rounds.length && ((y) => this.heads(world, y))],
      ["readings", world.readings && ((y) => this.readings(world, y))],
      ["messages", world.traffic && ((y) => this.messages(world, y))],
    ].filter(([, draw]) => draw);
    const height = rows.length * (STORY.row + STORY.gap) + 16;
    const svg = shape("svg", { viewBox: `0 0 ${STORY.width} ${height}`, role: "img", "aria-label": `Over time: ${rows.map(([name]) => name).join(", ")} of mote ${this.node}` });
    rows.forEach(([name, draw], n) => {
      const y = n * (STORY.row + STORY.gap) + 2;
      svg.append(shape("text", { x: 0, y: y + STORY.row / 2 + 4 }, name));
      svg.append(shape("line", { class: "grid", x1: STORY.left, x2: STORY.width - STORY.right, y1: y + STORY.row, y2: y + STORY.row }));
      svg.append(...draw(y));
    });
    svg.append(shape("text", { x: STORY.left, y: height - 2 }, "0 s"), shape("text", { x: STORY.width - STORY.right, y: height - 2, "text-anchor": "end" }, format.seconds(report.duration_s)));
    this.cursor = shape("line", { class: "cursor", y1: 0, y2: height - 14 });
    svg.append(this.cursor);
    return svg;
  }

  battery(world, y) {
    const points = world.energy.timesS.map((atS, n) => `${this.x(atS).toFixed(1)} ${(y + STORY.row * (1 - world.left(this.node, n))).toFixed(1)}`);
    return [shape("path", { d: `M${points.join("L")}`, fill: "none", "stroke-width": 1.8, style: "stroke: var(--s3)" })];
  }

  heads(world, y) {
    return world.rounds.flatMap((round, n) => {
      const head = round.head[this.node];
      if (head < 0) return [];
      const from = this.x(round.frame * world.stepS), until = this.x(Math.min(report.duration_s, world.rounds[n + 1]?.frame * world.stepS || report.duration_s));
      const own = head === this.node;
      const made = [shape("rect", { x: from, y: y + 4, width: Math.max(1, until - from - 1), height: STORY.row - 8, style: own ? "fill: var(--ink)" : "fill: var(--line)" })];
      const name = own ? "itself" : `${head}`;
      if (until - from > 7 * name.length) made.push(shape("text", { x: (from + until) / 2, y: y + STORY.row / 2 + 4, "text-anchor": "middle", style: own ? "fill: var(--card)" : "" }, name));
      return made;
    });
  }

  readings(world, y) {
    const { starts, atS, value, labels } = world.readings;
    const made = [];
    for (let n = starts[this.node]; n < starts[this.node + 1]; n++) {
      const up = labels.length > 1 ? value[n] / (labels.length - 1) : 0.5;
      made.push(shape("circle", { cx: this.x(atS[n]).toFixed(1), cy: (y + STORY.row - 4 - up * (STORY.row - 8)).toFixed(1), r: 2, style: "fill: var(--s2)" }));
    }
    return made;
  }

  messages(world, y) {
    const { sent, received, bins, widthS } = world.traffic;
    const own = (counts) => [...counts.subarray(this.node * bins, (this.node + 1) * bins)];
    const [out, into] = [own(sent), own(received)];
    const most = Math.max(1, ...out, ...into);
    const half = STORY.row / 2;
    return out.flatMap((count, n) => {
      const x = this.x(n * widthS), width = Math.max(0.8, this.x(Math.min(report.duration_s, (n + 1) * widthS)) - x - 0.6);
      const [up, low] = [(count / most) * half, (into[n] / most) * half];
      return [
        shape("rect", { x, y: y + half - up, width, height: up, style: "fill: var(--s1)" }),
        shape("rect", { x, y: y + half, width, height: low, style: "fill: var(--s6)" }),
      ];
    });
  }
}
