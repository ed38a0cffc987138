// Draws the plots as SVG, to the width there is, and again when the width changes.

const HEIGHT = 230;
const MARGIN = { left: 58, right: 14, top: 14, bottom: 40 };

/** Round numbers that cover [low, high], about `wanted` of them. */
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) found.push(n * step);
  return found;
}

/** Seconds as people count them: 10, 30, 60, 120, … */
function timeTicks(high, wanted) {
  const rough = high / wanted;
  const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 43200, 86400];
  const step = rough < 1 ? 0 : steps.find((n) => n >= rough) || 86400 * Math.ceil(rough / 86400);
  if (!step) return ticks(0, high, wanted);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, n) => n * step);
}

function decades(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
    for (const n of [1, 2, 5]) {
      const tick = n * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) found.push(tick);
    }
  }
  return found;
}

/** One plot: frame, axes, content, and a tip that follows the pointer. */
class Plot {
  constructor(box, spec) {
    this.box = box;
    this.spec = spec;
    this.tip = element("div", { class: "tip", hidden: "" });
    box.append(this.tip);
    this.overTime = spec.type !== "bars";
    if (this.overTime) {
      box.classList.add("seekable");
      shown.watchers.push(() => this.moveCursor());
    }
    box.addEventListener("pointermove", (event) => this.point(event));
    box.addEventListener("pointerleave", () => this.unpoint());
    box.addEventListener("click", (event) => {
      const at = this.under(event);
      if (this.overTime && at !== null) shown.to(at);
    });
  }

  draw() {
    // Paper is narrower than the window, and its width is not known before it is laid out.
    const printed = this.box.closest("figure").classList.contains("wide") ? 720 : 350;
    const width = document.documentElement.classList.contains("printing") ? printed : this.box.clientWidth;
    if (!width) return;
    this.width = width;
    this.svg?.remove();
    this.svg = shape("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" });
    this.box.prepend(this.svg);
    const content = CONTENT[this.spec.type](this.spec);
    this.content = content;
    this.scale(content);
    this.axes();
    content.draw(this);
    this.hair = this.add("line", { class: "hair", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom, visibility: "hidden" });
    if (this.overTime) {
      this.cursor = this.add("line", { class: "cursor", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
      this.moveCursor();
    }
  }

  scale({ xLow, xHigh, yHigh }) {
    const { x = {}, y } = this.spec;
    const left = MARGIN.left, right = this.width - MARGIN.right;
    const bottom = HEIGHT - MARGIN.bottom, top = MARGIN.top;
    const [fx, gx] = x.log ? [Math.log10, (v) => 10 ** v] : [(v) => v, (v) => v];
    const [a, b] = [fx(xLow), fx(xHigh)];
    this.x = (v) => left + ((fx(v) - a) / (b - a || 1)) * (right - left);
    this.xInverse = (px) => gx(a + ((px - left) / (right - left)) * (b - a));
    this.xRange = [xLow, xHigh];
    if (y.log) {
      // Counts on a logarithmic scale: one still shows as a bar, none does not.
      const high = Math.log10(Math.max(yHigh, 1) * 1.6) + 0.3;
      this.y = (v) => (v <= 0 ? bottom : bottom - ((Math.log10(v) + 0.3) / high) * (bottom - top));
      this.yTicks = decades(1, yHigh * 1.6).filter((v) => Math.log10(v) % 1 === 0);
    } else {
      const most = y.most || y.cut;
      this.yTicks = ticks(0, most || yHigh || 1, 4);
      const last = this.yTicks.at(-1), step = this.yTicks[1] - this.yTicks[0];
      if (!most && last < yHigh) this.yTicks.push(last + step);
      const high = most || this.yTicks.at(-1) || 1;
      this.y = (v) => bottom - (Math.min(v, high) / high) * (bottom - top);
    }
    this.baseline = bottom;
  }

  add(name, attributes, text) {
    const made = shape(name, attributes, text);
    this.svg.append(made);
    return made;
  }

  axes() {
    const { x = {}, y } = this.spec;
    const right = this.width - MARGIN.right;
    const showY = y.format ? format[y.format] : format.short;
    for (const tick of this.yTicks) {
      const py = this.y(tick);
      this.add("line", { class: "grid", x1: MARGIN.left, x2: right, y1: py, y2: py });
      this.add("text", { x: MARGIN.left - 8, y: py + 4, "text-anchor": "end" }, showY(tick));
    }
    const [low, high] = this.xRange;
    const wanted = Math.max(3, Math.floor((right - MARGIN.left) / 75));
    let marks = ticks(low, high, wanted);
    if (this.overTime) marks = timeTicks(high, wanted);
    else if (x.log) marks = decades(low, high);
    const showX = x.format ? format[x.format] : format.short;
    for (const tick of marks) {
      const px = this.x(tick);
      this.add("line", { class: "axis", x1: px, x2: px, y1: this.baseline, y2: this.baseline + 4 });
      this.add("text", { x: px, y: this.baseline + 17, "text-anchor": "middle" }, this.overTime ? `${+tick.toPrecision(6)}` : showX(tick));
    }
    this.add("line", { class: "axis", x1: MARGIN.left, x2: right, y1: this.baseline, y2: this.baseline });
    const label = this.overTime ? "time (s)" : x.label;
    this.add("text", { x: (MARGIN.left + right) / 2, y: HEIGHT - 5, "text-anchor": "middle" }, label);
    const middle = (MARGIN.top + this.baseline) / 2;
    this.add("text", { transform: `translate(13 ${middle}) rotate(-90)`, "text-anchor": "middle" }, y.label);
  }

  moveCursor() {
    if (!this.cursor) return;
    const px = this.x(Math.min(shown.atS, this.xRange[1]));
    this.cursor.setAttribute("x1", px);
    this.cursor.setAttribute("x2", px);
  }

  under(event) {
    const px = event.clientX - this.box.getBoundingClientRect().left;
    if (px < MARGIN.left || px > this.width - MARGIN.right) return null;
    return this.xInverse(px);
  }

  point(event) {
    const at = this.under(event);
    const found = at === null ? null : this.content.at(at);
    if (!found) {
      this.unpoint();
      return;
    }
    const px = this.x(found.at);
    this.hair.setAttribute("x1", px);
    this.hair.setAttribute("x2", px);
    this.hair.setAttribute("visibility", "visible");
    const rows = found.rows.map(([name, value, slot]) => {
      const row = element("div", {}, name, element("b", {}, value));
      if (slot) row.prepend(element("i", { class: `swatch s${slot}` }));
      return row;
    });
    this.tip.replaceChildren(element("div", {}, found.title), ...rows);
    this.tip.hidden = false;
    const beside = px + 14 + this.tip.offsetWidth > this.width ? px - 14 - this.tip.offsetWidth : px + 14;
    this.tip.style.left = `${Math.max(0, beside)}px`;
  }

  unpoint() {
    this.tip.hidden = true;
    this.hair?.setAttribute("visibility", "hidden");
  }
}

/** A path through points, broken where a value is missing; a point on its own becomes a dot. */
function trail(plot, times, values) {
  let path = "", open = false;
  values.forEach((value, n) => {
    if (value === null) {
      open = false;
      return;
    }
    path += `${open ? "L" : "M"}${plot.x(times[n]).toFixed(1)} ${plot.y(value).toFixed(1)}${open ? "" : "h0"}`;
    open = true;
  });
  return path;
}

/** The area between two rows of values without gaps. */
function between(plot, times, lower, upper) {
  const there = times.map((at, n) => `${plot.x(at).toFixed(1)} ${plot.y(upper[n]).toFixed(1)}`);
  const back = times.map((at, n) => `${plot.x(at).toFixed(1)} ${plot.y(lower[n]).toFixed(1)}`).reverse();
  return `M${there.join("L")}L${back.join("L")}Z`;
}

function nearest(times, at) {
  let best = 0;
  times.forEach((time, n) => {
    if (Math.abs(time - at) < Math.abs(times[best] - at)) best = n;
  });
  return best;
}

/** What each type of plot draws, how far its axes reach, and what it says under the pointer. */
const CONTENT = {
  lines(spec) {
    const { times_s: times, series, y } = spec;
    const show = y.format ? format[y.format] : format.short;
    return {
      xLow: 0,
      xHigh: report.duration_s,
      yHigh: Math.max(...series.flatMap((s) => s.values.map((v) => v ?? 0))),
      draw(plot) {
        for (const s of series.filter((each) => each.area)) {
          const filled = s.values.map((v) => v ?? 0);
          plot.add("path", { d: between(plot, times, filled.map(() => 0), filled), style: `fill: var(--s${s.slot}); opacity: 0.22` });
        }
        for (const s of series) {
          plot.add("path", { d: trail(plot, times, s.values), fill: "none", "stroke-width": 1.8, "stroke-linejoin": "round", "stroke-linecap": "round", style: `stroke: var(--s${s.slot})` });
        }
      },
      at(atS) {
        const n = nearest(times, atS);
        const rows = series.map((s) => [s.name, s.values[n] === null ? "–" : show(s.values[n]), s.slot]);
        return { at: times[n], title: format.seconds(times[n]), rows };
      },
    };
  },

  stack(spec) {
    const { edges_s: edges, series } = spec;
    // Sums per span of time become rates; what is sampled stays as it is.
    const times = edges ? edges.slice(1).map((end, n) => (edges[n] + end) / 2) : spec.times_s;
    const width = edges ? edges.slice(1).map((end, n) => end - edges[n] || 1) : times.map(() => 1);
    const rates = series.map((s) => s.values.map((v, n) => v / width[n]));
    const tops = [];
    rates.forEach((values, k) => tops.push(values.map((v, n) => v + (k ? tops[k - 1][n] : 0))));
    const unit = edges ? " /s" : "";
    return {
      xLow: 0,
      xHigh: report.duration_s,
      yHigh: Math.max(...tops.at(-1)),
      draw(plot) {
        series.forEach((s, k) => {
          const lower = k ? tops[k - 1] : times.map(() => 0);
          plot.add("path", { d: between(plot, times, lower, tops[k]), style: `fill: var(--s${s.slot})` });
        });
        for (const { at_s: atS } of spec.peaks || []) plot.add("text", { class: "marked", x: plot.x(atS), y: MARGIN.top - 2, "text-anchor": "middle" }, "↑");
      },
      at(atS) {
        const n = nearest(times, atS);
        const rows = series.map((s, k) => [s.name, format.short(rates[k][n]) + unit, s.slot]).reverse();
        const title = edges ? `${format.seconds(edges[n])} – ${format.seconds(edges[n + 1])}` : format.seconds(times[n]);
        return { at: times[n], title, rows };
      },
    };
  },

  bars(spec) {
    const { edges, counts, x, y, marks = [] } = spec;
    const show = x.format ? format[x.format] : format.short;
    return {
      xLow: edges[0],
      xHigh: edges.at(-1),
      yHigh: Math.max(...counts) * (marks.length ? 1.3 : 1),
      draw(plot) {
        counts.forEach((count, n) => {
          const left = plot.x(edges[n]), right = plot.x(edges[n + 1]), top = plot.y(count);
          plot.add("rect", { x: left + 0.5, y: top, width: Math.max(0.5, right - left - 1), height: plot.baseline - top, style: "fill: var(--s1)" });
        });
        marks.forEach(({ at, label }, n) => {
          const px = plot.x(at), py = MARGIN.top + 10 + 15 * (n % 3);
          const left = px + 7 * label.length > plot.width;
          plot.add("line", { class: "mark", x1: px, x2: px, y1: py - 8, y2: plot.baseline });
          plot.add("text", { class: "marked", x: px + (left ? -5 : 5), y: py + 2, "text-anchor": left ? "end" : "start" }, label);
        });
      },
      at(value) {
        const n = edges.findIndex((edge, k) => k < counts.length && value >= edge && value <= edges[k + 1]);
        if (n < 0) return null;
        const middle = x.log ? Math.sqrt(edges[n] * edges[n + 1]) : (edges[n] + edges[n + 1]) / 2;
        return { at: middle, title: `${show(edges[n])} – ${show(edges[n + 1])}`, rows: [[y.label, counts[n].toLocaleString("en")]] };
      },
    };
  },

  spans(spec) {
    const { spans, y } = spec;
    return {
      xLow: 0,
      xHigh: report.duration_s,
      yHigh: Math.max(...spans.map((s) => (s.box ? s.box[4] : s.value))),
      draw(plot) {
        for (const s of spans) {
          const left = plot.x(s.from_s), right = plot.x(Math.max(s.to_s, s.from_s));
          const gap = Math.min(3, (right - left) / 6);
          if (!s.box) {
            const top = plot.y(s.value);
            plot.add("rect", { x: left + gap / 2, y: top, width: Math.max(1, right - left - gap), height: plot.baseline - top, rx: 2, style: "fill: var(--s1)" });
            if (right - left > 26) plot.add("text", { class: "marked", x: (left + right) / 2, y: top - 4, "text-anchor": "middle" }, `${s.value}`);
            continue;
          }
          const [low, q1, median, q3, high] = s.box.map(plot.y);
          const middle = (left + right) / 2, half = Math.max(1, Math.min(22, (right - left) / 2 - gap));
          plot.add("line", { class: "axis", x1: middle, x2: middle, y1: low, y2: high });
          for (const end of [low, high]) plot.add("line", { class: "axis", x1: middle - half / 2, x2: middle + half / 2, y1: end, y2: end });
          plot.add("rect", { x: middle - half, y: q3, width: 2 * half, height: Math.max(1, q1 - q3), rx: 2, style: "fill: var(--s6)" });
          plot.add("line", { class: "mark", x1: middle - half, x2: middle + half, y1: median, y2: median });
        }
      },
      at(atS) {
        const n = spans.findIndex((s) => atS >= s.from_s && atS <= s.to_s);
        if (n < 0) return null;
        const s = spans[n];
        const names = ["smallest", "lower quartile", "median", "upper quartile", "largest"];
        const rows = s.box ? names.map((name, k) => [name, `${s.box[k]}`]).reverse() : [[y.label, `${s.value}`]];
        return { at: (s.from_s + s.to_s) / 2, title: `round ${n + 1}, from ${format.seconds(s.from_s)}`, rows };
      },
    };
  },
};

const plots = [];
for (const spec of report.charts) {
  plots.push(new Plot(document.querySelector(`[data-chart="${spec.name}"]`), spec));
}
function drawPlots() {
  for (const plot of plots) plot.draw();
}
drawPlots();
window.addEventListener("resize", drawPlots);
