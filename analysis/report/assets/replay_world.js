// The replay's data: which motes are inside, in the answer, heads, dead or down at the time shown.

/** A set of motes that changes from frame to frame; see Toggles in analysis/report/replay.py. */
class TimedSet {
  constructor(packed, motes) {
    this.starts = unpack(packed.starts, Uint32Array);
    this.nodes = unpack(packed.nodes, Uint32Array);
    this.has = new Uint8Array(motes);
    this.frame = -1;
    this.changes = 0;
  }

  /** Walk to a frame, in either direction: a toggle undoes itself. */
  goTo(frame) {
    while (this.frame < frame) this.toggle(++this.frame);
    while (this.frame > frame) this.toggle(this.frame--);
  }

  toggle(frame) {
    for (let n = this.starts[frame]; n < this.starts[frame + 1]; n++) {
      this.has[this.nodes[n]] ^= 1;
      this.changes++;
    }
  }
}

/** The contours of the cloud: see scenery_payload in analysis/report/scenery.py. */
class Contours {
  constructor(packed, snapshots, mapM) {
    const [left, low, right, high] = mapM;
    const frames = unpack(packed.frames, Uint32Array), levels = unpack(packed.levels, Uint8Array);
    const lengths = unpack(packed.lengths, Uint32Array), points = unpack(packed.points, Uint16Array);
    this.snapshots = snapshots;
    this.lines = new Map();
    let at = 0;
    lengths.forEach((length, n) => {
      const line = [];
      for (let k = 0; k < length; k++, at += 2) {
        line.push([left + (points[at] / 65535) * (right - left), low + (points[at + 1] / 65535) * (high - low)]);
      }
      if (!this.lines.has(frames[n])) this.lines.set(frames[n], []);
      this.lines.get(frames[n]).push({ level: levels[n], line });
    });
  }

  /** The lines of the last snapshot up to a frame. */
  at(frame) {
    return this.lines.get(this.snapshots.findLast((each) => each <= frame)) || [];
  }
}

/** All that is known about the motes of one run at one frame. */
class World {
  constructor(data, name) {
    const { motes } = data;
    this.name = name;
    this.chartPrefix = data.chart_prefix || "";
    this.motes = motes;
    this.frames = data.frames;
    this.stepS = data.step_s;
    this.fieldM = data.field_m;
    this.mapM = data.map_m;
    this.sinksM = data.sink_m;
    this.relayed = data.relayed;
    this.x = unpack(data.x_m, Float32Array);
    this.y = unpack(data.y_m, Float32Array);
    this.truth = data.truth && new TimedSet(data.truth, motes);
    this.answer = data.answer && new TimedSet(data.answer, motes);
    this.answers = data.answers.map((each) => ({ label: each.label, set: new TimedSet(each, motes) }));
    this.down = data.down && new TimedSet(data.down, motes);
    this.rounds = (data.rounds || []).map((each) => this.readRound(each));
    this.energy = data.energy && { timesS: data.energy.times_s, share: unpack(data.energy.share, Uint8Array) };
    this.deadFrom = new Float64Array(motes).fill(Infinity);
    if (data.deaths) {
      const frames = unpack(data.deaths.frames, Uint32Array);
      unpack(data.deaths.nodes, Uint32Array).forEach((node, n) => { this.deadFrom[node] = frames[n]; });
    }
    this.deathFrames = [...this.deadFrom].filter(Number.isFinite).sort((a, b) => a - b);
    this.events = data.events;
    this.readActivity(data);
    const { scenery } = data;
    this.scenery = scenery && {
      ...scenery,
      wind: unpack(scenery.wind, Float32Array),
      contours: new Contours(scenery.contours, scenery.snapshots, data.map_m),
    };
    this.frame = 0;
    this.goTo(0);
  }

  readRound(each) {
    const head = unpack(each.head, Int32Array);
    const via = each.via ? unpack(each.via, Int32Array) : head;
    return { frame: each.frame, head, via, up: each.up && unpack(each.up, Int32Array) };
  }

  readActivity({ pulses, readings, traffic }) {
    this.pulses = pulses && {
      ...pulses,
      starts: unpack(pulses.starts, Uint32Array),
      phase: unpack(pulses.phase, Uint8Array),
      kind: unpack(pulses.kind, Uint8Array),
      source: unpack(pulses.source, pulses.wide ? Int32Array : Int16Array),
      target: unpack(pulses.target, pulses.wide ? Int32Array : Int16Array),
    };
    this.readings = readings && {
      ...readings,
      starts: unpack(readings.starts, Uint32Array),
      atS: unpack(readings.at_s, Float32Array),
      value: unpack(readings.value, Uint32Array),
    };
    this.traffic = traffic && {
      widthS: traffic.width_s,
      bins: traffic.bins,
      sent: unpack(traffic.sent, Uint16Array),
      received: unpack(traffic.received, Uint16Array),
    };
  }

  goTo(frame) {
    this.frame = frame;
    this.truth?.goTo(frame);
    this.answer?.goTo(frame);
    this.down?.goTo(frame);
    for (const each of this.answers) each.set.goTo(frame);
    this.round = this.rounds.findLast((each) => each.frame <= frame);
    if (this.energy) {
      const atS = frame * this.stepS;
      this.sample = Math.max(0, this.energy.timesS.findLastIndex((time) => time <= atS));
    }
  }

  /** Changes whenever links between motes may: at an election, a death, a crash or a recovery. */
  get linksVersion() {
    const dead = this.deathFrames.findLastIndex((frame) => frame <= this.frame);
    return `${this.rounds.indexOf(this.round)}/${dead}/${this.down?.changes ?? 0}`;
  }

  isDead(node) { return this.deadFrom[node] <= this.frame; }
  isDown(node) { return Boolean(this.down?.has[node]); }
  works(node) { return !this.isDead(node) && !this.isDown(node); }
  allWork() { return !(this.deathFrames[0] <= this.frame) && !this.down?.has.includes(1); }
  isHead(node) { return this.round?.head[node] === node && this.works(node); }
  left(node, sample = this.sample) { return this.energy.share[sample * this.motes + node] / 255; }

  /** 0 elsewhere, 1 inside only, 2 in the answer only, 3 both. */
  state(node) { return (this.truth?.has[node] ? 1 : 0) + (this.answer?.has[node] ? 2 : 0); }

  /** Where a node is; the sink is -1. */
  place(node) { return node < 0 ? this.sinksM[0] : [this.x[node], this.y[node]]; }

  /** From a mote over its head to the sink, as clusters are now. */
  route(node) {
    const path = [node];
    const { round } = this;
    while (round && path.length < 20) {
      const last = path.at(-1);
      if (last < 0 || round.head[last] < 0) break;
      const next = round.head[last] === last ? (round.up ? round.up[last] : -1) : round.via[last];
      if (path.includes(next)) break;
      path.push(next);
    }
    return path;
  }

  /** A palette slot per head, unlike those of the heads close by. */
  clusterSlots(round = this.round) {
    if (!round) return new Map();
    if (!round.slots) {
      const slots = new Map();
      const heads = [...new Set(round.head)].filter((head) => head >= 0);
      for (const head of heads) {
        const near = [...slots.keys()]
          .map((other) => [Math.hypot(this.x[head] - this.x[other], this.y[head] - this.y[other]), other])
          .sort((a, b) => a[0] - b[0]).slice(0, 5).map(([, other]) => slots.get(other));
        slots.set(head, [1, 2, 3, 4, 5, 6].find((slot) => !near.includes(slot)));
      }
      round.slots = slots;
    }
    return round.slots;
  }
}
