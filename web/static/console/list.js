// Keeps the list up to date: asks for its rows every few seconds, and says so when it cannot.
// XMLHttpRequest makes a document of the answer without running anything, which Trusted Types allow.

const SECONDS = 4;
const MAX_SECONDS = 60;
const list = document.getElementById("cases");
const state = document.querySelector("[data-live-state]");

let tag = "";
let failures = 0;
let timer = 0;
let updatedAt = new Date();

function clock(time) {
  return time.toISOString().slice(11, 16) + " UTC";
}

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

function ask() {
  const request = new XMLHttpRequest();
  request.open("GET", location.href);
  request.responseType = "document";
  request.timeout = 10_000;
  request.setRequestHeader("X-Fragment", "cases");
  if (tag) request.setRequestHeader("If-None-Match", tag);
  request.onload = () => take(request);
  request.onerror = request.ontimeout = () => fail("Offline");
  request.send();
}

function take(request) {
  if (request.status === 401) {
    say("You are signed out. Reload the page to sign in.");
    return;
  }
  if (request.status === 200 && request.response) {
    tag = request.getResponseHeader("ETag") ?? "";
    show(request.response.body.childNodes);
  } else if (request.status !== 304) {
    fail("Not answering");
    return;
  }
  failures = 0;
  updatedAt = new Date();
  say("Live");
  plan();
}

// The row a person is on stays theirs: the focus goes to the same link of the new rows.
function show(nodes) {
  const open = document.activeElement?.closest?.("#cases a")?.getAttribute("href");
  list.replaceChildren(...[...nodes].map((node) => document.importNode(node, true)));
  const selected = open && [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === open);
  selected?.focus({ preventScroll: true });
  list.dispatchEvent(new CustomEvent("list:renewed", { bubbles: true }));
}

function fail(why) {
  failures += 1;
  say(`${why}, last updated ${clock(updatedAt)}`);
  plan();
}

function plan() {
  clearTimeout(timer);
  const seconds = Math.min(SECONDS * 2 ** failures, MAX_SECONDS);
  if (!document.hidden) timer = setTimeout(ask, seconds * 1000);
}

if (list?.dataset.live === "on") {
  say("Live");
  plan();
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : ask()));
  addEventListener("online", ask);
  addEventListener("offline", () => fail("Offline"));
}
