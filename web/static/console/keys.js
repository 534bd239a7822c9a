// The keyboard: j and k move through what is listed, o opens, / searches, ? helps, g and a letter goes somewhere.
// Nothing of it while somebody types.

const PLACES = { c: "conversations", a: "approvals", u: "unknown", s: "stuck", o: "overview" };
const CHORD_MS = 1500;
const ITEMS = "main tbody tr, main .steps > li, main .moment, main .queue > li";

const help = document.querySelector("#keys");
let chordUntil = 0;

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function items() {
  return [...document.querySelectorAll(ITEMS)].filter((item) => item.checkVisibility());
}

function focusOf(item) {
  const inside = item.querySelector("[data-open]") ?? item.querySelector("a[href], summary, button");
  if (inside) return inside;
  item.tabIndex = -1;
  return item;
}

function move(by) {
  const listed = items();
  const at = listed.findLastIndex((item) => item.contains(document.activeElement));
  const next = at < 0 ? (by > 0 ? 0 : listed.length - 1) : at + by;
  const item = listed[next];
  if (!item) return;
  focusOf(item).focus();
  item.scrollIntoView({ block: "nearest" });
}

function open() {
  const focused = document.activeElement;
  if (focused && focused !== document.body) focused.click();
}

function search() {
  const field = document.querySelector("main input[type=search]");
  if (field) field.select();
  else location.assign("/console/conversations#search");
}

const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  o: open,
  "/": search,
  "?": () => (help.open ? help.close() : help.showModal()),
  g: () => (chordUntil = performance.now() + CHORD_MS),
};

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || isTyping(event.target)) return;
  if (help.open && event.key !== "?") return;
  const place = performance.now() < chordUntil ? PLACES[event.key] : undefined;
  const isChord = performance.now() < chordUntil;
  chordUntil = 0;
  if (place) location.assign(`/console/${place}`);
  else if (!isChord && ACTIONS[event.key]) ACTIONS[event.key]();
  else return;
  event.preventDefault();
});

const hint = document.querySelector("[data-help]");
hint.hidden = false;
hint.addEventListener("click", () => help.showModal());
help.querySelector("[data-close]").addEventListener("click", () => help.close());
