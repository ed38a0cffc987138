// The replay's map: how motes look, what their colours stand for, and the legend.

/** Marks, the same on the map and in its legend. Each adds to the current path, to be filled or stroked. */
const MARKS = {
  dot: (pen, x, y, r) => { pen.moveTo(x + r, y); pen.arc(x, y, r, 0, 2 * Math.PI); },
  diamond: (pen, x, y, r) => { pen.moveTo(x, y - r); pen.lineTo(x + r, y); pen.lineTo(x, y + r); pen.lineTo(x - r, y); pen.closePath(); },
  triangle: (pen, x, y, r) => { pen.moveTo(x, y - r); pen.lineTo(x + r * 0.95, y + r * 0.75); pen.lineTo(x - r * 0.95, y + r * 0.75); pen.closePath(); },
  cross: (pen, x, y, r) => { pen.moveTo(x - r, y - r); pen.lineTo(x + r, y + r); pen.moveTo(x + r, y - r); pen.lineTo(x - r, y + r); },
  square: (pen, x, y, r) => { pen.rect(x - r, y - r, 2 * r, 2 * r); },
};

/** How each kind of mote looks: mark, size relative to a mote, fill, stroke and its width. */
function styles() {
  const ink = colour("--ink"), card = colour("--card");
  return {
    elsewhere: { mark: "dot", size: 0.8, fill: colour("--mote") },
    tracked: { mark: "dot", size: 1.25, fill: colour("--tracked") },
    missed: { mark: "dot", size: 1.25, fill: card, stroke: colour("--missed"), width: 1.8 },
    wrong: { mark: "diamond", size: 1.7, fill: colour("--false"), stroke: card, width: 0.8 },
    head: { mark: "triangle", size: 2.1, fill: card, stroke: ink, width: 1.3 },
    dead: { mark: "cross", size: 1.4, stroke: ink, width: 1.8 },
    down: { mark: "dot", size: 0.9, stroke: colour("--quiet"), width: 1 },
    sink: { mark: "square", size: 2.4, fill: ink, stroke: card, width: 1.5 },
    slot: (n, size = 1.25) => ({ mark: "dot", size, fill: colour(`--s${n}`) }),
  };
}

function paint(pen, style, points, radius) {
  if (!points.length) return;
  pen.beginPath();
  for (const [x, y] of points) MARKS[style.mark](pen, x, y, radius * style.size);
  if (style.fill) {
    pen.fillStyle = style.fill;
    pen.fill();
  }
  if (style.stroke) {
    pen.strokeStyle = style.stroke;
    pen.lineWidth = style.width;
    pen.stroke();
  }
}

/** What the dots can stand for. Each mode groups the live motes by style and explains the groups. */
const MODES = {
  "truth and answer": {
    possible: (world) => world.truth || world.answer,
    groups(world, look) {
      const known = world.truth && world.answer;
      return {
        of: (node) => ["elsewhere", "missed", known ? "wrong" : "tracked", "tracked"][world.state(node)],
        key: [
          ["tracked", world.answer && (known ? "inside and in the answer" : "in the answer")],
          ["missed", world.truth && (known ? "inside, not in the answer" : "inside")],
          ["wrong", known && "in the answer, not inside"],
          ["elsewhere", "elsewhere"],
        ].filter(([, text]) => text).map(([id, text]) => [id, look[id], text]),
      };
    },
  },
  "joined value": {
    possible: (world) => world.answers.length > 1,
    groups(world, look) {
      const { answers } = world;
      // Levels of one thing read as an order: from light to strong.
      const slots = [6, 1, 4, 5, 2, 3];
      return {
        of(node) {
          for (let n = answers.length - 1; n >= 0; n--) if (answers[n].set.has[node]) return `value ${n}`;
          return "elsewhere";
        },
        key: [
          ...answers.map((each, n) => [`value ${n}`, look.slot(slots[n], 1.4), each.label]),
          ["elsewhere", look.elsewhere, "elsewhere"],
        ],
        note: "Sensors in the answer, by value; a mote in several answers shows the last of them.",
      };
    },
  },
  cluster: {
    possible: (world) => world.rounds.length,
    groups(world, look) {
      const slots = world.clusterSlots();
      return {
        of: (node) => {
          const slot = world.round && slots.get(world.round.head[node]);
          return slot ? `cluster ${slot}` : "elsewhere";
        },
        key: [
          ...[1, 2, 3, 4, 5, 6].map((slot) => [`cluster ${slot}`, look.slot(slot, 1.1), null]),
          ["elsewhere", look.elsewhere, "in no cluster"],
        ],
        note: "Colours tell neighbouring clusters apart.",
      };
    },
  },
  "energy left": {
    possible: (world) => world.energy,
    groups(world, look) {
      // From empty to full, readable without telling red from green.
      const slots = [5, 2, 6, 1];
      return {
        of: (node) => `battery ${Math.min(3, Math.floor(world.left(node) * 4))}`,
        key: ["under a quarter", "a quarter to a half", "a half to three quarters", "more than three quarters"]
          .map((text, n) => [`battery ${n}`, look.slot(slots[n], n < 3 ? 1.6 : 1), text]),
        note: "Sampled now and then; see trace.energy_every_s.",
      };
    },
  },
};

class ReplayMap {
  constructor(world) {
    this.world = world;
    this.canvas = document.getElementById("field");
    this.pen = this.canvas.getContext("2d");
    this.legend = document.getElementById("key");
    this.links = document.getElementById("links");
    this.haze = document.getElementById("haze");
    this.mode = document.getElementById("mode");
    for (const [name, { possible }] of Object.entries(MODES)) {
      if (possible(world)) this.mode.append(element("option", {}, name));
    }
    if (!world.rounds.length) this.links.parentElement.hidden = true;
    if (!world.truth) this.haze.parentElement.hidden = true;
    for (const option of [this.links, this.haze, this.mode]) option.addEventListener("change", () => this.draw());
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
  }

  fit() {
    const { world } = this;
    const [left, low, right, high] = world.mapM;
    const pad = 22;
    const width = this.canvas.clientWidth;
    const scale = Math.min((width - 2 * pad) / (right - left), (690 - 2 * pad) / (high - low));
    const height = (high - low) * scale + 2 * pad;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    Object.assign(this, { width, height, scale });
    const edge = (width - (right - left) * scale) / 2;
    this.px = (x) => edge + (x - left) * scale;
    this.py = (y) => height - pad - (y - low) * scale;
    const spacing = Math.sqrt((world.fieldM[0] * world.fieldM[1]) / world.motes) * scale;
    this.spacing = spacing;
    this.radius = Math.min(5, Math.max(1.2, spacing * 0.2));
  }

  draw() {
    if (!this.canvas.clientWidth) return;
    const { pen, world } = this;
    const look = styles();
    pen.clearRect(0, 0, this.width, this.height);
    this.drawField();
    if (this.haze.checked && world.truth) this.drawHaze();
    if (this.links.checked && world.round) this.drawLinks();
    const groups = MODES[this.mode.value]?.groups(world, look) || { of: () => "elsewhere", key: [["elsewhere", look.elsewhere, "motes"]] };
    const points = new Map(groups.key.map(([id]) => [id, []]));
    const heads = [], dead = [], down = [];
    for (let node = 0; node < world.motes; node++) {
      const point = [this.px(world.x[node]), this.py(world.y[node])];
      if (!world.works(node)) {
        (world.isDead(node) ? dead : down).push(point);
        continue;
      }
      points.get(groups.of(node)).push(point);
      if (world.isHead(node)) heads.push([point, groups.of(node)]);
    }
    const styleOf = new Map(groups.key.map(([id, style]) => [id, style]));
    for (const [id, style] of [...groups.key].reverse()) paint(pen, style, points.get(id), this.radius);
    for (const [point, id] of heads) {
      const style = styleOf.get(id);
      const plain = id === "elsewhere";
      paint(pen, { ...look.head, fill: plain ? look.head.fill : style.stroke && style.mark === "dot" ? style.stroke : style.fill }, [point], this.radius);
    }
    paint(pen, look.down, down, this.radius);
    paint(pen, look.dead, dead, this.radius);
    this.drawSinks(look);
    this.explain(groups, points, look, { heads: heads.length, dead: dead.length, down: down.length });
  }

  drawField() {
    const { pen, world } = this;
    pen.strokeStyle = colour("--line");
    pen.lineWidth = 1;
    pen.strokeRect(this.px(0), this.py(world.fieldM[1]), world.fieldM[0] * this.scale, world.fieldM[1] * this.scale);
    const bar = ticks(0, world.fieldM[0] / 3, 3).at(-1);
    const x = this.px(0), y = this.py(0) + 14;
    pen.strokeStyle = pen.fillStyle = colour("--quiet");
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x, y - 4);
    pen.lineTo(x, y);
    pen.lineTo(x + bar * this.scale, y);
    pen.lineTo(x + bar * this.scale, y - 4);
    pen.stroke();
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillText(`${bar} m`, x + bar * this.scale + 6, y + 2);
  }

  /** The truth as a soft cloud: a patch around each mote inside, all laid over each other at one opacity. */
  drawHaze() {
    const { world } = this;
    const ratio = 0.5;
    this.cloud ??= document.createElement("canvas");
    this.cloud.width = Math.ceil(this.width * ratio);
    this.cloud.height = Math.ceil(this.height * ratio);
    const pen = this.cloud.getContext("2d");
    const tint = colour("--haze");
    const reach = Math.max(10, this.spacing * 2) * ratio;
    const patch = document.createElement("canvas");
    patch.width = patch.height = Math.ceil(2 * reach);
    const brush = patch.getContext("2d");
    const gradient = brush.createRadialGradient(reach, reach, 0, reach, reach, reach);
    gradient.addColorStop(0, `rgba(${tint}, 0.55)`);
    gradient.addColorStop(1, `rgba(${tint}, 0)`);
    brush.fillStyle = gradient;
    brush.fillRect(0, 0, 2 * reach, 2 * reach);
    for (let node = 0; node < world.motes; node++) {
      if (world.truth.has[node]) pen.drawImage(patch, this.px(world.x[node]) * ratio - reach, this.py(world.y[node]) * ratio - reach);
    }
    this.pen.globalAlpha = 0.42;
    this.pen.drawImage(this.cloud, 0, 0, this.width, this.height);
    this.pen.globalAlpha = 1;
  }

  drawLinks() {
    const { pen, world } = this;
    const slots = this.mode.value === "cluster" ? world.clusterSlots() : null;
    const paths = new Map();
    for (let node = 0; node < world.motes; node++) {
      const head = world.round.head[node];
      if (head < 0 || head === node || !world.works(node) || !world.works(head)) continue;
      const slot = slots ? slots.get(head) : 0;
      if (!paths.has(slot)) paths.set(slot, new Path2D());
      paths.get(slot).moveTo(this.px(world.x[node]), this.py(world.y[node]));
      paths.get(slot).lineTo(this.px(world.x[head]), this.py(world.y[head]));
    }
    pen.lineWidth = 0.7;
    for (const [slot, path] of paths) {
      pen.strokeStyle = slot ? colour(`--s${slot}`) : colour("--link");
      pen.globalAlpha = slot ? 0.45 : 1;
      pen.stroke(path);
    }
    pen.globalAlpha = 1;
  }

  drawSinks(look) {
    const { pen, world } = this;
    const points = world.sinksM.map(([x, y]) => [this.px(x), this.py(y)]);
    const radius = Math.max(3, this.radius);
    paint(pen, look.sink, points, radius);
    pen.fillStyle = colour("--ink");
    pen.font = "600 13px system-ui, sans-serif";
    for (const [x, y] of points) pen.fillText("sink", x + 2.4 * radius + 6, y + 4);
  }

  /** The legend, with how many motes there are of each kind now. */
  explain(groups, points, look, { heads, dead, down }) {
    const rows = groups.key.filter(([, , text]) => text).map(([id, style, text]) => [style, text, points.get(id).length]);
    if (groups.note) rows.push([null, groups.note]);
    if (this.world.rounds.length) rows.push([look.head, "cluster heads", heads]);
    rows.push([look.dead, "dead", dead]);
    if (this.world.down) rows.push([look.down, "not working: crashed or not in the field", down]);
    rows.push([look.sink, "sink", this.world.sinksM.length]);
    if (this.world.round && this.links.checked && dead + down) rows.push([null, "A mote without a link has lost its head."]);
    // Marks are drawn anew only when they change; from frame to frame it is the counts that do.
    const marks = JSON.stringify([rows.map(([style, text]) => [style, text]), this.radius]);
    if (marks !== this.marks) {
      this.marks = marks;
      this.legend.replaceChildren(...rows.map(([style, text]) => (style ? this.keyRow(style, text) : element("li", { class: "head" }, text))));
    }
    rows.forEach(([style, , count], n) => {
      if (style) this.legend.children[n].querySelector("b").textContent = count.toLocaleString("en");
    });
    this.tellNow();
  }

  /** How well the answer fits, and what it costs, at the time shown. */
  tellNow() {
    const { world } = this;
    const atS = world.frame * world.stepS;
    const rows = [];
    if (world.truth && world.answer) {
      const sizes = [0, 0, 0, 0];
      for (let node = 0; node < world.motes; node++) sizes[world.state(node)]++;
      const [, missed, wrong, both] = sizes;
      if (missed + wrong + both) rows.push(["agreement, motes that do not work included", format.percent(both / (missed + wrong + both))]);
      if (wrong + both) rows.push(["false alarms", format.percent(wrong / (wrong + both))]);
    }
    const sumAt = (spec, n) => spec.series.reduce((sum, each) => sum + each.values[n], 0);
    const traffic = report.charts.find((each) => each.name === "traffic");
    if (traffic) {
      const edges = traffic.edges_s;
      const n = Math.max(0, Math.min(edges.length - 2, edges.findLastIndex((edge) => edge <= atS)));
      rows.push(["on air", `${format.short(sumAt(traffic, n) / (edges[n + 1] - edges[n] || 1))}B/s`]);
    }
    const energy = report.charts.find((each) => each.name === "energy");
    if (energy) {
      const n = Math.max(0, energy.times_s.findLastIndex((time) => time <= atS));
      rows.push(["energy spent so far", `${sumAt(energy, n).toFixed(1)} J`]);
    }
    const cells = rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
    document.getElementById("now").replaceChildren(...cells);
  }

  keyRow(style, text) {
    const ratio = window.devicePixelRatio || 1;
    const sample = element("canvas", { width: 24 * ratio, height: 20 * ratio, "aria-hidden": "true" });
    const pen = sample.getContext("2d");
    pen.scale(ratio, ratio);
    paint(pen, style, [[12, 10]], Math.min(3.4, Math.max(2.8, this.radius)));
    return element("li", {}, sample, text, element("b"));
  }

  /** Say what is known about the mote under the pointer. */
  tell(event) {
    const { world } = this;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = -1, least = 14;
    for (let node = 0; node < world.motes; node++) {
      const far = Math.hypot(this.px(world.x[node]) - x, this.py(world.y[node]) - y);
      if (far < least) [best, least] = [node, far];
    }
    const told = document.getElementById("mote");
    if (best < 0) {
      told.textContent = "Point at a mote to learn about it.";
      return;
    }
    const head = world.round ? world.round.head[best] : -1;
    const inAnswers = world.answers.filter((each) => each.set.has[best]).map((each) => each.label);
    told.textContent = [
      `mote ${best}${world.isDead(best) ? ", dead" : world.isDown(best) ? ", not working" : world.isHead(best) ? ", head" : head >= 0 ? `, member of ${head}` : ""}`,
      world.truth?.has[best] ? "truly inside" : "",
      world.answer?.has[best] ? "in the answer" : "",
      inAnswers.join("; "),
      world.energy ? `battery ${Math.round(world.left(best) * 100)} %` : "",
    ].filter(Boolean).join("\n");
  }
}
