// How motes look on the map and in its legend, and what their colours stand for.

/** Marks, the same on the map and in its legend. Each adds to the current path, to be filled or stroked. */
const MARKS = {
  dot: (pen, x, y, r) => { pen.moveTo(x + r, y); pen.arc(x, y, r, 0, 2 * Math.PI); },
  diamond: (pen, x, y, r) => { pen.moveTo(x, y - r); pen.lineTo(x + r, y); pen.lineTo(x, y + r); pen.lineTo(x - r, y); pen.closePath(); },
  triangle: (pen, x, y, r) => { pen.moveTo(x, y - r); pen.lineTo(x + r * 0.95, y + r * 0.75); pen.lineTo(x - r * 0.95, y + r * 0.75); pen.closePath(); },
  cross: (pen, x, y, r) => { pen.moveTo(x - r, y - r); pen.lineTo(x + r, y + r); pen.moveTo(x + r, y - r); pen.lineTo(x - r, y + r); },
  dash: (pen, x, y, r) => { pen.moveTo(x - r, y); pen.lineTo(x + r, y); },
  star(pen, x, y, r) {
    for (let n = 0; n < 8; n++) {
      pen.moveTo(x, y);
      pen.lineTo(x + r * Math.cos((n * Math.PI) / 4), y + r * Math.sin((n * Math.PI) / 4));
    }
  },
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
