// What replay and plots share: the data of the page, its colours, the time shown, and number formats.

const report = JSON.parse(document.getElementById("data").textContent);

function fail(reason) {
  document.documentElement.dataset.report = `failed: ${reason}`;
}
window.addEventListener("error", (event) => fail(event.message));

/** Style variables as the colour scheme has them now; looking one up in the document is slow. */
const colours = new Map();

/** The value of a style variable. */
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}

/** A typed array from its base64 form. All arrays are little-endian, as every browser's machine is. */
function unpack(text, Type) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Type(bytes.buffer);
}

function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** The time that replay and plots show, and who wants to know when it changes. */
const shown = {
  atS: 0,
  watchers: [],
  to(atS) {
    this.atS = Math.min(Math.max(atS, 0), report.duration_s);
    for (const watcher of this.watchers) watcher(this.atS);
  },
};

const format = {
  percent: (share) => `${+(share * 100).toFixed(share && Math.abs(share) < 0.1 ? 1 : 0)} %`,
  /** A number as short as a plot wants it: 1.5 M, 20 k, 0.25. */
  short(number) {
    for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
      if (Math.abs(number) >= size) return `${+(number / size).toPrecision(3)} ${unit}`;
    }
    return `${+number.toPrecision(3)}`;
  },
  /** A rate of bytes: 7.73 kB/s, 0 B/s. */
  rate: (number) => `${format.short(number)}B/s`.replace(/(\d)B/, "$1 B"),
  seconds: (atS) => `${+atS.toFixed(1)} s`,
  count: (number) => number.toLocaleString("en"),
};
