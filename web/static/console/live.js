// Keeps a page's live region as the server shows it. All HTML is made by the server: what is new is fetched as a
// document, which runs nothing and needs no sink, and only the nodes that differ are changed.

const POLL_MS = 2500;
const LEAST_MS = 250; // between two looks, however fast events come
const SLOW_MS = 1000; // a look that takes longer is shown to be going on
const AGAIN_MS = [1000, 2000, 5000, 10000];
const KINDS = [
  "queued", "begun", "thinking", "step", "tool_call", "tool_result", "policy", "decision", "claim", "settle",
  "flag", "correction", "usage", "hand_off",
];

/** Fetches a page; resolves with {status, page, etag}, status 0 when there is no connection. */
function fetchPage(address, etag) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.timeout = 10_000;
    if (etag) request.setRequestHeader("If-None-Match", etag);
    request.onload = () => {
      const { status } = request;
      // Of a 304 there is no document: asking for it would make a page that says so, with styles in line.
      resolve({ status, page: status === 200 ? request.response : null, etag: request.getResponseHeader("ETag") });
    };
    request.onerror = request.ontimeout = () => resolve({ status: 0 });
    request.send();
  });
}

/** Makes `old` what `fresh` is, keeping nodes that stay: focus, and what somebody has opened, are theirs. */
export function patch(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(document.importNode(fresh, true));
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  patchChildren(old, fresh);
}

function patchChildren(old, fresh) {
  const known = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  const wantedIds = new Set([...fresh.children].map((child) => child.id).filter(Boolean));
  let next = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const same = wanted.id && known.get(wanted.id);
    known.delete(wanted.id);
    if (same && same !== next) next = bring(same, old, next, wantedIds);
    const here = same || next;
    if (!here || (here.id && here.id !== wanted.id)) {
      old.insertBefore(document.importNode(wanted, true), here ?? null);
      continue;
    }
    next = here.nextSibling;
    patch(here, wanted);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

/** Brings `same` to where `next` is. A node that is moved loses focus, so what is not wanted goes first. */
function bring(same, old, next, wantedIds) {
  const keepsPlace = same.parentNode === old && same.contains(document.activeElement);
  while (same.parentNode === old && next !== same && (keepsPlace || !wantedIds.has(next.id))) {
    const gone = next; // if it is wanted later, it comes back then
    next = next.nextSibling;
    gone.remove();
  }
  if (next !== same) old.insertBefore(same, next);
  return same;
}

class Live {
  constructor(region, { changed = () => {}, address = () => location.href, isWhole = () => true }) {
    this.region = region;
    Object.assign(this, { changed, address, isWhole });
    this.asked = "";
    this.etag = "";
    this.seen = 0;
    this.failures = 0;
    this.looking = null;
    this.source = null;
    this.banner = document.querySelector("#connection");
    this.listen();
    document.addEventListener("visibilitychange", () => document.hidden || this.lookSoon());
    window.addEventListener("offline", () => this.lost("There is no network"));
    window.addEventListener("online", () => this.lookSoon());
  }

  // --- What the server shows

  lookSoon(afterMs = LEAST_MS) {
    this.looking ??= setTimeout(() => this.look(), afterMs);
  }

  /** Looks again in a while, if the page asks for that: `data-poll` may say in how many milliseconds. */
  poll() {
    const { poll } = this.region.dataset;
    if (poll !== undefined) this.lookSoon(Number(poll) || POLL_MS);
  }

  async look() {
    const slow = setTimeout(() => this.isAtWork() || this.region.setAttribute("aria-busy", "true"), SLOW_MS);
    const address = this.address();
    if (address !== this.asked) [this.asked, this.etag] = [address, ""];
    const { status, page, etag } = await fetchPage(address, this.etag);
    clearTimeout(slow);
    this.region.removeAttribute("aria-busy");
    this.looking = null;
    const fresh = page?.getElementById(this.region.id);
    if (status === 200 && fresh && !this.isWhole(fresh)) {
      this.lookSoon();
      return;
    }
    if (status === 200 && fresh) {
      this.etag = etag;
      patch(this.region, fresh);
      this.count(page);
      this.changed(this.region);
    } else if (status === 401 || status === 403) {
      this.lost("You are signed out. Reload the page to sign in", true);
      return;
    } else if (status !== 304) {
      this.lostForNow("The service cannot be reached");
      return;
    }
    this.found();
    this.listen();
    if (!document.hidden) this.poll();
  }

  /** Whether somebody works in the region, who would rather not see it fade. */
  isAtWork() {
    return this.region.contains(document.activeElement);
  }

  /** What waits in the queues is counted beside their links, on every page. */
  count(page) {
    const [mine, fresh] = [document, page].map((one) => one.getElementById("places"));
    if (mine && fresh) patch(mine, fresh);
  }

  // --- What happens in the running turn

  async listen() {
    const turn = this.region.dataset.turn;
    if (this.source || !turn) {
      if (!turn) this.poll();
      return;
    }
    this.source = "asked for";
    const path = `/support/turns/${turn}/events`;
    const ticket = await askForTicket(path);
    if (!ticket) {
      this.source = null;
      this.lostForNow("Live updates cannot be had");
      return;
    }
    const source = new EventSource(`${path}?ticket=${encodeURIComponent(ticket)}&last_event_id=${this.seen}`);
    this.source = source;
    source.onopen = () => this.found();
    for (const kind of KINDS) source.addEventListener(kind, (event) => this.heard(event));
    source.addEventListener("ended", (event) => {
      this.stop();
      this.heard(event);
    });
    // It would come back by itself with the same ticket, which has been used up: a new one is needed.
    source.onerror = () => {
      this.stop();
      this.lostForNow("The live connection was lost");
    };
  }

  heard(event) {
    this.seen = Math.max(this.seen, Number(event.lastEventId) || 0);
    this.lookSoon();
  }

  stop() {
    this.source?.close?.();
    this.source = null;
  }

  // --- What is said about the connection

  lost(why, isFinal = false) {
    if (!this.banner) return;
    this.since ??= new Date();
    const since = this.since.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
    this.banner.textContent = isFinal ? `${why}.` : `${why} since ${since}. What you see is as of then; trying again.`;
    this.banner.hidden = false;
  }

  /** Says so, and looks again: the more often it failed, the later. */
  lostForNow(why) {
    this.lost(why);
    this.lookSoon(AGAIN_MS[Math.min(this.failures++, AGAIN_MS.length - 1)]);
  }

  found() {
    this.failures = 0;
    this.since = undefined;
    if (this.banner && !this.banner.hidden) {
      this.banner.textContent = "";
      this.banner.hidden = true;
    }
  }
}

async function askForTicket(path) {
  try {
    const answer = await fetch("/console/tickets", {
      method: "POST",
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Accept: "application/json",
        "X-CSRF-Token": document.querySelector("input[name=csrf]")?.value ?? "",
      },
      body: new URLSearchParams({ path }),
    });
    return answer.ok ? (await answer.json()).ticket : "";
  } catch {
    return "";
  }
}

/**
 * Keeps `region` live. `changed` is called after each change of it, `address` says what to look at, and `isWhole`
 * whether what was found there is to be shown; if not, it is looked at again at once.
 */
export function keepLive(region, options = {}) {
  return new Live(region, options);
}
