// Keeps a queue as the server shows it while people fill in its forms. What somebody else has decided meanwhile is
// asked for by its id: the server then shows it as decided, and by whom, and it stays for as long as it is in hand.

import { keepLive } from "./live.js";

const STAYS_MS = 60_000; // what nobody has in hand, so that it can be read
const MOST = 20; // the server tells of no more

const region = document.querySelector("[data-live]");
const announcer = document.querySelector("#announcer");
const decided = new Map(); // since when, by id

function cardOf(id) {
  return region.querySelector(`[data-item="${CSS.escape(id)}"]`);
}

function isInHand(card) {
  const fields = [...card.querySelectorAll("input:not([type=hidden]), textarea")];
  return (
    card.contains(document.activeElement) ||
    card.querySelector("details[open]") !== null ||
    fields.some((field) => field.value !== field.defaultValue)
  );
}

function address() {
  for (const [id, since] of decided) {
    const card = cardOf(id);
    if (!card || (performance.now() - since > STAYS_MS && !isInHand(card))) decided.delete(id);
  }
  const asked = new URL(location.href);
  if (decided.size) asked.searchParams.set("held", [...decided.keys()].join(","));
  return asked.href;
}

/** Whether everything is there that was waiting; what is not will be asked for, and is shown as what it has become. */
function isWhole(fresh) {
  const there = new Set([...fresh.querySelectorAll("[data-item]")].map((card) => card.dataset.item));
  const gone = [...region.querySelectorAll("[data-item]:not([data-decided])")]
    .map((card) => card.dataset.item)
    .filter((id) => !there.has(id) && !decided.has(id))
    .slice(0, MOST - decided.size);
  for (const id of gone) decided.set(id, performance.now());
  return gone.length === 0;
}

let told = new Set();

function tellNews() {
  const news = [...region.querySelectorAll("[data-news]")];
  const words = news.filter(({ id }) => !told.has(id)).map((one) => one.textContent);
  told = new Set(news.map(({ id }) => id));
  if (words.length) announcer.textContent = words.join(" ");
}

region.addEventListener("submit", (event) => {
  if (event.target.closest("[data-decided]")) event.preventDefault();
});

keepLive(region, { changed: tellNews, address, isWhole });
