// What replay and plots share: the data of the page, its colours, the time shown, and number formats.

const report = JSON.parse(document.getElementById("data").textContent);

function fail(reason) {
  document.documentElement.dataset.report = `failed: ${reason}`;
}
window.addEventListener("error", (event) => fail(event.message));

/** The value of a style variable, as the colour scheme has it now. */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
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
  seconds: (atS) => `${+atS.toFixed(1)} s`,
};
