// The replay's map: motes, zoom and pan, and which mote is pointed at.

const ZOOM_MOST = 24;
const PAD = 22;
const LABEL_FONT = "12px system-ui, sans-serif";

/** The page's controls that say what a map shows. */
const controls = Object.fromEntries(
  ["mode", "links", "haze", "contours", "messages", "routes"].map((id) => [id, document.getElementById(id)]),
);

class ReplayMap {
  constructor(world, canvas) {
    this.world = world;
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.layer = document.createElement("canvas");
    this.causes = new Causes(this);
    this.view = { zoom: 1, x: 0, y: 0 };
  }

  /** Take the size that the page has room for: with the controls, the map fits on the first screen. */
  fit(share = 1) {
    const { world } = this;
    const [left, low, right, high] = world.mapM;
    const width = this.canvas.clientWidth;
    const top = this.canvas.getBoundingClientRect().top + window.scrollY;
    const room = Math.min(690, Math.max(300, window.innerHeight - top - 118));
    const scale = Math.min((width - 2 * PAD) / (right - left), (room * share - 2 * PAD) / (high - low));
    const height = Math.max(160, (high - low) * scale + 2 * PAD);
    const ratio = window.devicePixelRatio || 1;
    for (const each of [this.canvas, this.layer]) {
      each.width = Math.round(width * ratio);
      each.height = Math.round(height * ratio);
    }
    // A canvas is as high as it is drawn; its style would keep an old height.
    this.canvas.style.aspectRatio = `${width} / ${height}`;
    Object.assign(this, { width, height, ratio, fitted: scale, edge: (width - (right - left) * scale) / 2 });
    this.place();
  }

  /** Set where metres are on the canvas, by zoom and shift. */
  place() {
    const { world, view, edge, height } = this;
    const [left, low] = world.mapM;
    view.x = Math.min(0, Math.max(view.x, this.width * (1 - view.zoom)));
    view.y = Math.min(0, Math.max(view.y, height * (1 - view.zoom)));
    this.scale = this.fitted * view.zoom;
    this.px = (x) => (edge + (x - left) * this.fitted) * view.zoom + view.x;
    this.py = (y) => (height - PAD - (y - low) * this.fitted) * view.zoom + view.y;
    this.spacing = Math.sqrt((world.fieldM[0] * world.fieldM[1]) / world.motes) * this.scale;
    this.radius = Math.min(7, Math.max(1.2, this.spacing * 0.2));
    this.stale = true;
    this.canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
  }

  /** Zoom by a factor about a point of the canvas. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const { view } = this;
    const zoom = Math.min(ZOOM_MOST, Math.max(1, view.zoom * factor));
    view.x = x - ((x - view.x) * zoom) / view.zoom;
    view.y = y - ((y - view.y) * zoom) / view.zoom;
    view.zoom = zoom;
    this.place();
  }

  /** The mote at a point of the canvas, or -1. */
  moteAt(x, y, reach = 14) {
    const { world } = this;
    let best = -1, least = reach;
    for (let node = 0; node < world.motes; node++) {
      const far = Math.hypot(this.px(world.x[node]) - x, this.py(world.y[node]) - y);
      if (far < least) [best, least] = [node, far];
    }
    return best;
  }

  /** Draw the frame; `share` is how much of it has passed. Returns what the legend counts. */
  draw(share, chosen) {
    const { pen, world } = this;
    const look = styles();
    const groups = MODES[controls.mode.value]?.groups(world, look) || { of: () => "elsewhere", key: [["elsewhere", look.elsewhere, "motes"]] };
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    this.taken = [];
    this.drawField();
    if (controls.haze.checked && world.truth) this.drawHaze();
    this.causes.drawGround({ contours: controls.contours.checked });
    this.drawStill(look);
    if (controls.routes.checked) this.causes.drawRoutes();
    const counts = this.drawMotes(groups, look);
    if (controls.messages.checked) this.causes.drawPulses(share);
    this.drawSinks(look);
    this.causes.drawAbove();
    if (chosen >= 0) this.drawChosen(chosen);
    return { groups, look, counts };
  }

  /** Motes that are not plain, heads, and those that do not work; returns how many there are of each kind. */
  drawMotes(groups, look) {
    const { pen, world } = this;
    const points = new Map(groups.key.map(([id]) => [id, []]));
    const sizes = new Map(groups.key.map(([id]) => [id, 0]));
    const styleOf = new Map(groups.key.map(([id, style]) => [id, style]));
    const heads = [], dead = [], down = [];
    for (let node = 0; node < world.motes; node++) {
      if (!world.works(node)) {
        (world.isDead(node) ? dead : down).push([this.px(world.x[node]), this.py(world.y[node])]);
        continue;
      }
      const id = groups.of(node);
      sizes.set(id, sizes.get(id) + 1);
      const head = world.round?.head[node] === node;
      if (id === "elsewhere" && !head) continue;
      const point = [this.px(world.x[node]), this.py(world.y[node])];
      points.get(id).push(point);
      if (head) heads.push([point, id]);
    }
    for (const [id, style] of [...groups.key].reverse()) if (id !== "elsewhere") this.stamp(style, points.get(id));
    for (const [point, id] of heads) {
      const style = styleOf.get(id);
      const fill = id === "elsewhere" ? look.head.fill : style.stroke && style.mark === "dot" ? style.stroke : style.fill;
      this.stamp({ ...look.head, fill }, [point]);
    }
    paint(pen, look.down, down, this.radius);
    paint(pen, look.dead, dead, this.radius);
    return { sizes, heads: heads.length, dead: dead.length, down: down.length };
  }

  /** Draw many equal marks: copying a small picture is several times faster than drawing a circle. */
  stamp(style, points) {
    this.stamps ??= new Map();
    const id = `${style.mark} ${style.size} ${style.fill} ${style.stroke} ${style.width} ${this.radius} ${this.ratio}`;
    let picture = this.stamps.get(id);
    const half = Math.ceil(this.radius * style.size + (style.width || 0) + 1);
    if (!picture) {
      picture = document.createElement("canvas");
      picture.width = picture.height = Math.ceil(2 * half * this.ratio);
      const brush = picture.getContext("2d");
      brush.scale(this.ratio, this.ratio);
      paint(brush, style, [[half, half]], this.radius);
      this.stamps.set(id, picture);
    }
    for (const [x, y] of points) this.pen.drawImage(picture, x - half, y - half, 2 * half, 2 * half);
  }

  /** What changes only with the view, elections and deaths: links and plain motes. */
  drawStill(look) {
    const { world } = this;
    const version = [world.linksVersion, controls.links.checked, controls.mode.value].join();
    if (this.stale || version !== this.version) {
      this.stale = false;
      this.version = version;
      const pen = this.layer.getContext("2d");
      const own = this.pen;
      this.pen = pen;
      pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      pen.clearRect(0, 0, this.width, this.height);
      if (controls.links.checked && world.round) this.drawLinks();
      const points = [];
      for (let node = 0; node < world.motes; node++) if (world.works(node)) points.push([this.px(world.x[node]), this.py(world.y[node])]);
      this.stamp(look.elsewhere, points);
      this.pen = own;
    }
    this.pen.drawImage(this.layer, 0, 0, this.width, this.height);
  }

  drawField() {
    const { pen, world } = this;
    pen.strokeStyle = colour("--line");
    pen.lineWidth = 1;
    pen.strokeRect(this.px(0), this.py(world.fieldM[1]), world.fieldM[0] * this.scale, world.fieldM[1] * this.scale);
    const bar = ticks(0, ((this.width - 2 * PAD) / this.scale) / 3, 3).at(-1);
    const x = PAD, y = this.height - 7;
    pen.strokeStyle = colour("--quiet");
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x, y - 4);
    pen.lineTo(x, y);
    pen.lineTo(x + bar * this.scale, y);
    pen.lineTo(x + bar * this.scale, y - 4);
    pen.stroke();
    this.write(`${+bar.toPrecision(3)} m`, x + bar * this.scale + 6, y + 2, "--quiet");
  }

  write(text, x, y, tint, font = LABEL_FONT) {
    const { pen } = this;
    pen.font = font;
    pen.textAlign = "left";
    const width = pen.measureText(text).width;
    const at = Math.max(2, Math.min(x, this.width - width - 2));
    pen.strokeStyle = colour("--card");
    pen.lineWidth = 3;
    pen.strokeText(text, at, y);
    pen.fillStyle = colour(tint);
    pen.fillText(text, at, y);
    this.taken.push([at, y - 12, at + width, y + 4]);
  }

  /** Write a label beside a mark, where no other text or mark is; unwritten if there is no room. */
  writeBeside(text, x, y, tint) {
    this.pen.font = LABEL_FONT;
    const width = this.pen.measureText(text).width;
    const corners = [[13, -6], [13, 16], [-13 - width, -6], [-13 - width, 16], [-width / 2, -16], [-width / 2, 26]];
    const free = corners.map(([dx, dy]) => [x + dx, y + dy]).find(([left, base]) => {
      const [right, top, low] = [left + width, base - 12, base + 4];
      if (left < 2 || top < 2 || right > this.width - 2 || low > this.height) return false;
      return this.taken.every(([l, t, r, b]) => right <= l || left >= r || low <= t || top >= b);
    });
    if (free) this.write(text, ...free, tint);
  }

  /** The truth as a soft cloud: a patch around each mote inside, all laid over each other at one opacity. */
  drawHaze() {
    const { world } = this;
    const share = 0.5;
    this.cloud ??= document.createElement("canvas");
    this.cloud.width = Math.ceil(this.width * share);
    this.cloud.height = Math.ceil(this.height * share);
    const pen = this.cloud.getContext("2d");
    const reach = Math.min(60, Math.max(10, this.spacing * 2)) * share;
    const patch = this.hazePatch(reach);
    for (let node = 0; node < world.motes; node++) {
      if (world.truth.has[node]) pen.drawImage(patch, this.px(world.x[node]) * share - reach, this.py(world.y[node]) * share - reach);
    }
    this.pen.globalAlpha = 0.42;
    this.pen.drawImage(this.cloud, 0, 0, this.width, this.height);
    this.pen.globalAlpha = 1;
  }

  hazePatch(reach) {
    const tint = colour("--haze");
    if (this.patch?.id === `${reach} ${tint}`) return this.patch.picture;
    const picture = document.createElement("canvas");
    picture.width = picture.height = Math.ceil(2 * reach);
    const brush = picture.getContext("2d");
    const gradient = brush.createRadialGradient(reach, reach, 0, reach, reach, reach);
    gradient.addColorStop(0, `rgba(${tint}, 0.55)`);
    gradient.addColorStop(1, `rgba(${tint}, 0)`);
    brush.fillStyle = gradient;
    brush.fillRect(0, 0, 2 * reach, 2 * reach);
    this.patch = { id: `${reach} ${tint}`, picture };
    return picture;
  }

  /** Each mote's way to its head, hop by hop, and heads' ways to heads above them. */
  drawLinks() {
    const { pen, world } = this;
    const slots = controls.mode.value === "cluster" ? world.clusterSlots() : null;
    const paths = new Map();
    for (let node = 0; node < world.motes; node++) {
      const head = world.round.head[node];
      const next = head === node ? world.round.up?.[node] ?? -1 : world.round.via[node];
      if (head < 0 || next < 0 || !world.works(node) || !world.works(next) || !world.works(head)) continue;
      const slot = slots ? slots.get(head) : 0;
      if (!paths.has(slot)) paths.set(slot, new Path2D());
      paths.get(slot).moveTo(this.px(world.x[node]), this.py(world.y[node]));
      paths.get(slot).lineTo(this.px(world.x[next]), this.py(world.y[next]));
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
    const { world } = this;
    const points = world.sinksM.map(([x, y]) => [this.px(x), this.py(y)]);
    const radius = Math.max(3, this.radius);
    paint(this.pen, look.sink, points, radius);
    for (const [x, y] of points) this.write("sink", x + 2.4 * radius + 6, y + 4, "--ink", "600 13px system-ui, sans-serif");
  }

  /** A ring around the mote pinned or pointed at, and its route to the sink. */
  drawChosen(node) {
    const { pen, world } = this;
    const path = world.route(node).map((each) => world.place(each));
    pen.strokeStyle = colour("--accent");
    pen.lineWidth = 2;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    path.forEach(([x, y], n) => (n ? pen.lineTo(this.px(x), this.py(y)) : pen.moveTo(this.px(x), this.py(y))));
    pen.stroke();
    pen.setLineDash([]);
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.arc(this.px(world.x[node]), this.py(world.y[node]), this.radius * 2 + 5, 0, 2 * Math.PI);
    pen.stroke();
  }
}
