// What the map shows beside motes: leaks, wind, barriers, contours, messages on their way, routes.

const PULSES_DRAWN_MOST = 1500;
const ROUTES_S = 10;
const LOST = 0x80;
const BROADCAST = -2;

const contourWidth = (level) => 1 + 0.7 * level;

/** Whether a leak is open at a time. */
function isOpen({ spans_s: spans }, atS) {
  return spans.some(([from, until]) => from <= atS && atS < until);
}

/** Draws the causes onto a ReplayMap, which knows where metres are on its canvas. */
class Causes {
  constructor(map) {
    this.map = map;
    this.world = map.world;
    this.pen = map.pen;
  }

  /** Under the motes: contours, barriers. */
  drawGround({ contours }) {
    const { scenery } = this.world;
    if (!scenery) return;
    if (contours) this.drawContours();
    const { pen, map } = this;
    pen.strokeStyle = colour("--wall");
    pen.lineWidth = 5;
    pen.lineCap = "round";
    pen.beginPath();
    for (const [x1, y1, x2, y2] of scenery.barriers_m) {
      pen.moveTo(map.px(x1), map.py(y1));
      pen.lineTo(map.px(x2), map.py(y2));
    }
    pen.stroke();
    pen.lineCap = "butt";
    for (const [x1, y1, x2, y2] of scenery.barriers_m) {
      map.write("barrier", map.px((x1 + x2) / 2) + 7, map.py((y1 + y2) / 2), "--ink");
    }
  }

  drawContours() {
    const { pen, map, world } = this;
    const lines = world.scenery.contours.at(world.frame);
    pen.strokeStyle = colour("--contour");
    world.scenery.levels.forEach((_, level) => {
      pen.lineWidth = contourWidth(level);
      pen.beginPath();
      for (const each of lines) {
        if (each.level !== level) continue;
        each.line.forEach(([x, y], n) => (n ? pen.lineTo(map.px(x), map.py(y)) : pen.moveTo(map.px(x), map.py(y))));
      }
      pen.stroke();
    });
  }

  /** Over the motes: leaks and the wind. */
  drawAbove() {
    const { scenery, frame, stepS } = this.world;
    if (!scenery) return;
    this.drawWind();
    const { pen, map } = this;
    const leaks = scenery.leaks.map((leak) => ({ label: leak.label, open: isOpen(leak, frame * stepS), x: map.px(leak.at_m[0]), y: map.py(leak.at_m[1]) }));
    for (const { x, y, open } of leaks) {
      pen.beginPath();
      MARKS.star(pen, x, y, 9);
      pen.strokeStyle = colour("--card");
      pen.lineWidth = 5;
      pen.stroke();
      pen.strokeStyle = colour(open ? "--leak" : "--quiet");
      pen.lineWidth = 2.5;
      pen.stroke();
      map.taken.push([x - 9, y - 9, x + 9, y + 9]);
    }
    // What a closed one is, the legend says: a label would hide what has become of the cloud.
    for (const { x, y, label } of leaks.filter(({ open }) => open)) map.writeBeside(`${label} leak`, x, y, "--leak");
  }

  drawWind() {
    const { pen, map, world } = this;
    const [east, north] = world.scenery.wind.subarray(2 * world.frame, 2 * world.frame + 2);
    const speed = Math.hypot(east, north);
    const [x, y] = [map.width - 40, 40];
    pen.beginPath();
    pen.arc(x, y, 24, 0, 2 * Math.PI);
    pen.fillStyle = colour("--card");
    pen.globalAlpha = 0.85;
    pen.fill();
    pen.globalAlpha = 1;
    if (speed > 0) {
      // The canvas has y downwards, the field upwards.
      const [dx, dy] = [east / speed, -north / speed];
      pen.strokeStyle = pen.fillStyle = colour("--wind");
      pen.lineWidth = 3;
      pen.beginPath();
      pen.moveTo(x - 17 * dx, y - 17 * dy);
      pen.lineTo(x + 10 * dx, y + 10 * dy);
      pen.stroke();
      pen.beginPath();
      pen.moveTo(x + 19 * dx, y + 19 * dy);
      pen.lineTo(x + 7 * dx - 7 * dy, y + 7 * dy + 7 * dx);
      pen.lineTo(x + 7 * dx + 7 * dy, y + 7 * dy - 7 * dx);
      pen.fill();
    }
    map.write(`wind ${speed.toFixed(1)} m/s`, x - 38, y + 40, "--quiet");
  }

  /** The messages of a frame as [first, last) in the arrays of pulses. */
  range(frame) {
    const { starts } = this.world.pulses;
    return [starts[Math.max(0, frame)], starts[Math.min(starts.length - 1, Math.max(0, frame) + 1)]];
  }

  /** Every hop of the last seconds as a line, stronger where more messages went. */
  drawRoutes() {
    const { pen, map, world } = this;
    const { pulses } = world;
    if (!pulses) return;
    const used = new Map();
    const first = Math.max(0, world.frame - Math.ceil(ROUTES_S / world.stepS) + 1);
    for (let n = this.range(first)[0]; n < this.range(world.frame)[1]; n++) {
      if (pulses.target[n] === BROADCAST) continue;
      const hop = `${pulses.source[n]} ${pulses.target[n]}`;
      used.set(hop, (used.get(hop) || 0) + 1);
    }
    pen.strokeStyle = colour("--route");
    for (const [hop, count] of used) {
      const [source, target] = hop.split(" ").map((node) => world.place(+node));
      pen.lineWidth = Math.min(4, 0.8 + 0.4 * Math.log2(count));
      pen.beginPath();
      pen.moveTo(map.px(source[0]), map.py(source[1]));
      pen.lineTo(map.px(target[0]), map.py(target[1]));
      pen.stroke();
    }
  }

  /** Messages of this frame as short pulses on their way; those that nobody received as crosses. */
  drawPulses(share) {
    const { pen, map, world } = this;
    const { pulses } = world;
    if (!pulses) return;
    const [from, until] = this.range(world.frame);
    const every = Math.max(1, Math.ceil((until - from) / PULSES_DRAWN_MOST));
    const paths = pulses.kinds.map(() => ({ line: new Path2D(), dots: new Path2D(), rings: new Path2D() }));
    for (let n = from; n < until; n += every) {
      const { line, dots, rings } = paths[pulses.kind[n] & ~LOST];
      const lost = pulses.kind[n] & LOST;
      // Messages take milliseconds; each is shown for a part of its second, the later ones later.
      const way = Math.min(1, Math.max(0, (share - 0.6 * (pulses.phase[n] / 255)) / 0.4));
      if (way <= 0 || way >= 1) continue;
      const [sx, sy] = world.place(pulses.source[n]);
      const [x1, y1] = [map.px(sx), map.py(sy)];
      if (pulses.target[n] === BROADCAST) {
        const reach = 3 + 7 * way;
        rings.moveTo(x1 + reach, y1);
        rings.arc(x1, y1, reach, 0, 2 * Math.PI);
        continue;
      }
      const [tx, ty] = world.place(pulses.target[n]);
      const [dx, dy] = [map.px(tx) - x1, map.py(ty) - y1];
      const tail = Math.max(0, way - 0.35);
      line.moveTo(x1 + tail * dx, y1 + tail * dy);
      line.lineTo(x1 + way * dx, y1 + way * dy);
      const [x, y] = [x1 + way * dx, y1 + way * dy];
      if (lost) {
        line.moveTo(x - 4, y - 4); line.lineTo(x + 4, y + 4);
        line.moveTo(x + 4, y - 4); line.lineTo(x - 4, y + 4);
      } else {
        dots.moveTo(x + 2, y);
        dots.arc(x, y, 2, 0, 2 * Math.PI);
      }
    }
    pulses.kinds.forEach(({ slot }, n) => {
      pen.strokeStyle = pen.fillStyle = colour(`--s${slot}`);
      pen.lineWidth = 1.4;
      pen.stroke(paths[n].line);
      pen.fill(paths[n].dots);
      pen.lineWidth = 0.7;
      pen.stroke(paths[n].rings);
    });
  }

  /** How many messages of each kind this frame has, estimated where not all are kept. */
  counts() {
    const { pulses, frame } = this.world;
    const found = pulses.kinds.map(() => 0);
    const [from, until] = this.range(frame);
    for (let n = from; n < until; n++) found[pulses.kind[n] & ~LOST] += pulses.every;
    return found;
  }
}
