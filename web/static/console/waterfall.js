// A turn's waterfall: bars that are still going on grow, news are announced, and an ended turn can be stepped through.

import { keepLive } from "./live.js";

const region = document.querySelector("#live");
const announcer = document.querySelector("#announcer");
let drawnAt = performance.now();
let announced = null; // what the page shows as it opens is read like any page

// --- While it runs

function grow() {
  const since = performance.now() - drawnAt;
  for (const clock of region.querySelectorAll("[data-running]")) {
    clock.textContent = `${Math.floor((Number(clock.dataset.running) + since) / 1000)} s`;
  }
  for (const bar of region.querySelectorAll("rect[data-start]")) {
    const { total, now } = bar.closest("[data-total]").dataset;
    const length = Number(now) + since - Number(bar.dataset.start);
    const room = 1000 - Number(bar.getAttribute("x"));
    bar.setAttribute("width", String(Math.min(room, Math.max(3, Math.round((1000 * length) / Number(total))))));
  }
}

function announce() {
  const running = region.querySelector(".step.open .step-name")?.textContent;
  const ended = region.querySelector(".step.of-end .step-name")?.textContent;
  const news = running ?? ended ?? announced; // between two steps there is none
  if (announced !== null && news !== announced) announcer.textContent = news;
  announced = news ?? "";
}

function changed() {
  drawnAt = performance.now();
  for (const stepper of region.querySelectorAll("[data-stepper]")) stepper.hidden = false;
  announce();
}

// --- Afterwards: one step at a time

function stepBy(waterfall, by) {
  const steps = [...waterfall.querySelectorAll(".step")];
  const before = steps.findIndex((step) => step.classList.contains("current"));
  const at = before < 0 ? (by > 0 ? 0 : steps.length - 1) : Math.min(Math.max(before + by, 0), steps.length - 1);
  steps[before]?.querySelector("details")?.removeAttribute("open");
  steps.forEach((step, place) => {
    step.classList.toggle("current", place === at);
    step.classList.toggle("later", place > at);
  });
  steps[at].querySelector("details")?.setAttribute("open", "");
  steps[at].scrollIntoView({ block: "nearest" });
  const name = steps[at].querySelector(".step-name").textContent;
  waterfall.querySelector("[data-step-place]").textContent = `Step ${at + 1} of ${steps.length}: ${name}`;
}

region.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-step]");
  if (button) stepBy(button.closest(".waterfall"), Number(button.dataset.step));
});

document.addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select, pre")) return;
  const waterfall = event.target.closest(".waterfall") ?? region.querySelector(".waterfall:has([data-stepper])");
  if (!waterfall?.querySelector("[data-stepper]") || !waterfall.checkVisibility()) return;
  event.preventDefault();
  stepBy(waterfall, by);
});

changed();
setInterval(grow, 250);
if (region.dataset.turn || "poll" in region.dataset) keepLive(region, { changed });
