// The replay's data: which motes are inside, in the answer, heads, dead or down at the time shown.

/** A set of motes that changes from frame to frame; see Toggles in analysis/report/replay.py. */
class TimedSet {
  constructor(packed, motes) {
    this.starts = unpack(packed.starts, Uint32Array);
    this.nodes = unpack(packed.nodes, Uint32Array);
    this.has = new Uint8Array(motes);
    this.frame = -1;
  }

  /** Walk to a frame, in either direction: a toggle undoes itself. */
  goTo(frame) {
    while (this.frame < frame) this.toggle(++this.frame);
    while (this.frame > frame) this.toggle(this.frame--);
  }

  toggle(frame) {
    for (let n = this.starts[frame]; n < this.starts[frame + 1]; n++) this.has[this.nodes[n]] ^= 1;
  }
}

/** All that is known about the motes at one frame. */
class World {
  constructor(data) {
    const { motes } = data;
    this.motes = motes;
    this.frames = data.frames;
    this.stepS = data.step_s;
    this.fieldM = data.field_m;
    this.mapM = data.map_m;
    this.sinksM = data.sink_m;
    this.x = unpack(data.x_m, Float32Array);
    this.y = unpack(data.y_m, Float32Array);
    this.truth = data.truth && new TimedSet(data.truth, motes);
    this.answer = data.answer && new TimedSet(data.answer, motes);
    this.answers = data.answers.map((each) => ({ label: each.label, set: new TimedSet(each, motes) }));
    this.down = data.down && new TimedSet(data.down, motes);
    this.rounds = (data.rounds || []).map((each) => ({ frame: each.frame, head: unpack(each.head, Int32Array) }));
    this.energy = data.energy && { timesS: data.energy.times_s, share: unpack(data.energy.share, Uint8Array) };
    this.deadFrom = new Float64Array(motes).fill(Infinity);
    if (data.deaths) {
      const frames = unpack(data.deaths.frames, Uint32Array);
      unpack(data.deaths.nodes, Uint32Array).forEach((node, n) => { this.deadFrom[node] = frames[n]; });
    }
    this.frame = 0;
    this.goTo(0);
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

  isDead(node) { return this.deadFrom[node] <= this.frame; }
  isDown(node) { return Boolean(this.down?.has[node]); }
  works(node) { return !this.isDead(node) && !this.isDown(node); }
  isHead(node) { return this.round?.head[node] === node && this.works(node); }
  left(node) { return this.energy.share[this.sample * this.motes + node] / 255; }

  /** 0 elsewhere, 1 inside only, 2 in the answer only, 3 both. */
  state(node) { return (this.truth?.has[node] ? 1 : 0) + (this.answer?.has[node] ? 2 : 0); }

  /** A palette slot per head, unlike those of the heads close by. */
  clusterSlots() {
    const { round } = this;
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
