// One customer's conversation, as it stands: what was said, and the one message that is on its way.
//
// A message gets its Idempotency-Key once. Key and body are kept until its ending has been shown, so whatever
// happens in between (a reload, a lost connection, the retry button) asks for the same turn again: the service
// joins it or replays its answer, and nothing can be sent twice.

import { isStream, readEvents, SignInNeeded } from "./api.js";

const POLL_MS = { first: 3_000, most: 30_000, person: 6_000 };
const LATE_MS = 20_000;

/** Return the phase that an event tells of; null for one that tells of none. Nothing else makes a phase. */
function phaseOf({ kind, data }) {
  if (kind === "queued" || kind === "thinking") return kind;
  if (kind === "tool_call") return data.tool === "escalate_to_human" ? "person" : "checking";
  if (kind === "claim" && data.answer === "claimed") return "payments";
  return null;
}

export class Conversation {
  id = null;
  owner = "agent";
  lines = [];
  orders = [];
  state = "loading"; // ready | offline | sign-in-required
  isLoaded = false; // then a message knows which conversation it belongs to
  // {key, body, at, turn, phase, state, why, until}; state: sending | running | late | lost | refused
  pending = null;

  #api;
  #changed;
  #shelf = "";
  #wake = () => {};
  #closed = new AbortController();
  #pollMs = POLL_MS.first;
  #pollTimer;

  /** `changed` is called whenever something is different. */
  constructor(api, changed) {
    this.#api = api;
    this.#changed = changed;
    const { signal } = this.#closed;
    addEventListener("online", () => this.retry(), { signal });
    document.addEventListener("visibilitychange", () => this.lookSoon(), { signal });
  }

  close() {
    this.#closed.abort();
    clearTimeout(this.#pollTimer);
    this.#wake();
  }

  /** Load what was said; go on with what was on its way. */
  async start() {
    for (let tries = 0; !this.#isClosed; tries++) {
      try {
        this.#shelf = `refund-chat ${await this.#api.customer()}`;
        await Promise.all([this.#loadOrders(), this.#findNewest()]);
        break;
      } catch (error) {
        this.#fail(error);
        await this.#pause(tries);
      }
    }
    this.isLoaded = true;
    this.#show("ready");
    if (this.pending?.key && this.pending.state !== "refused") this.#deliver(this.pending);
    this.lookSoon();
  }

  /** Where the message on its way is, as far as events have told; "" when there is none, or something in its way. */
  get stage() {
    const { phase, state = "", at } = this.pending ?? {};
    if (state === "refused" || state === "lost") return "";
    const isLate = state === "late" || (state === "running" && Date.now() - at > LATE_MS);
    return isLate ? "late" : (phase ?? state);
  }

  /** What stands in the way of the message, or of the whole chat; "" when nothing does. */
  get trouble() {
    const { pending, state } = this;
    if (pending?.state === "refused") return pending.why;
    if (pending?.state === "lost") return "lost";
    return state === "ready" || state === "loading" ? "" : state;
  }

  /** The message may be taken back for editing: it was surely not taken, in this try or an earlier one. */
  get mayTakeBack() {
    return this.pending?.state === "refused" && !this.pending.doubt;
  }

  /** Send a message, unless another is on its way. */
  send(message) {
    if (this.pending || !this.isLoaded) return false;
    const body = this.id ? { message, conversation_id: this.id } : { message };
    this.pending = { key: crypto.randomUUID(), body, at: Date.now(), state: "sending" };
    this.#deliver(this.pending);
    return true;
  }

  /** Ask for the pending turn again, with the same key and body; or load again what could not be loaded. */
  retry() {
    this.#wake();
    if (this.state !== "ready") this.lookSoon();
    if (this.pending?.state === "refused" && !(this.pending.until > Date.now())) this.#deliver(this.pending);
  }

  /** Drop a message that was not taken and return its text. */
  takeBack() {
    const { why, body } = this.pending;
    this.pending = this.#kept = null;
    if (why === "conversation-full" || why === "no-such-conversation") this.begin();
    this.#changed();
    return body.message;
  }

  /** Begin a new conversation; it exists once something is said in it. */
  begin() {
    Object.assign(this, { id: null, owner: "agent", lines: [] });
    this.#changed();
  }

  /** Look for news now, and more often for a while. */
  lookSoon() {
    this.#pollMs = POLL_MS.first;
    this.#poll();
  }

  // --- A message on its way -----------------------------------------------------------------------

  async #deliver(pending) {
    this.#move(pending, { state: pending.turn ? "running" : "sending", why: null, until: 0 });
    for (let tries = 0; pending === this.pending && !this.#isClosed; tries++) {
      try {
        const heard = pending.last;
        const ending = await (pending.turn ? this.#follow(pending) : this.#post(pending));
        if (pending !== this.pending || this.#isClosed || pending.state === "refused") return;
        if (ending) return await this.#end(pending, ending);
        if (pending.last !== heard) tries = 0;
      } catch (error) {
        if (pending !== this.pending || this.#isClosed) return;
        pending.doubt = true;
        if (error instanceof SignInNeeded) return this.#move(pending, { state: "refused", why: "sign-in-required" });
        this.#move(pending, { state: "lost" });
      }
      if (!pending.hurry) await this.#pause(tries);
      pending.hurry = false;
    }
  }

  /** Return the ending; null: not yet, ask again. */
  async #post(pending) {
    const response = await this.#api.fetch("/support/chat", {
      body: pending.body,
      headers: {
        "Idempotency-Key": `"${pending.key}"`,
        Accept: pending.plain ? "application/json" : "text/event-stream, application/json;q=0.5",
      },
    });
    if (isStream(response)) {
      this.id = response.headers.get("X-Conversation-Id");
      return this.#listen(this.#move(pending, { turn: response.headers.get("X-Turn-Id") }), response);
    }
    const answer = await response.json();
    if (!response.ok) return this.#judge(pending, response, answer);
    this.id = answer.conversation_id;
    this.owner = answer.owner;
    return answer;
  }

  #judge(pending, { status, headers }, answer) {
    const why = String(answer.type).split(":").pop();
    if (/streams/.test(why)) {
      pending.plain = pending.hurry = true; // wait for the answer without watching the turn
    } else if (why === "still-running" || why === "outcome-unreadable") {
      pending.doubt = true;
      this.#move(pending, { state: "late" });
    } else if (status < 500 || status === 503) { // nothing was stored
      const seconds = Number(headers.get("Retry-After")) || 0;
      this.#move(pending, { state: "refused", why, until: Date.now() + seconds * 1000 });
    } else if (status === 502 || status === 504) {
      return answer; // the turn has ended, without a reply
    } else {
      this.#move(pending, { state: "refused", why: "internal-error", doubt: true });
    }
    return null;
  }

  /** Ask where the turn stands, then go on listening; where streams fail this is polling. */
  async #follow(pending) {
    const path = `/support/turns/${pending.turn}`;
    const found = await this.#api.fetch(path);
    if (found.status === 404) return {}; // old enough to be forgotten
    if (!found.ok) return null;
    const view = await found.json();
    if (view.state === "done" || view.state === "failed") return view;
    const response = await this.#api.fetch(`${path}/events`, { headers: { "Last-Event-ID": pending.last ?? 0 } });
    return isStream(response) ? this.#listen(pending, response) : null;
  }

  async #listen(pending, response) {
    this.#move(pending, { state: "running" });
    let ending = null;
    await readEvents(response, (event) => {
      pending.last = event.id;
      if (event.kind === "ended") ending = event.data;
      else this.#move(pending, { phase: phaseOf(event) ?? pending.phase });
    });
    if (!ending) this.#move(pending, { state: "lost" });
    return ending;
  }

  async #end(pending, { turn_id, reply, refund = null }) {
    const turn = { turn_id: turn_id ?? null, at_ms: Date.now() };
    if (!this.lines.some((line) => line.turn_id === turn.turn_id && turn_id)) {
      this.lines.push({ ...turn, speaker: "customer", kind: "customer", text: pending.body.message, refund: null });
    }
    if (reply) this.lines.push({ ...turn, speaker: "agent", kind: "reply", text: reply, refund });
    else if (turn_id && reply !== "") this.lines.push({ ...turn, speaker: "system", kind: "unanswered", text: "", refund });
    this.pending = null;
    this.#changed();
    this.#kept = null; // not before it was shown
    await Promise.all([this.#loadOrders(), this.#load()]).catch(() => {});
    this.lookSoon();
  }

  // --- What was said --------------------------------------------------------------------------------

  async #findNewest() {
    this.pending = this.#kept;
    if (this.pending) this.id = this.pending.body.conversation_id ?? null;
    else {
      const listed = await this.#read(await this.#api.fetch("/support/conversations"));
      this.id = listed.conversations[0]?.conversation_id ?? null;
    }
    await this.#load();
  }

  async #load() {
    const { id } = this;
    if (!id) return;
    const response = await this.#api.fetch(`/support/conversations/${id}`);
    if (response.status === 404 && id === this.id) return this.begin(); // forgotten, or never this customer's
    const found = await this.#read(response);
    if (id !== this.id) return;
    if (JSON.stringify([this.owner, this.lines]) !== JSON.stringify([found.owner, found.messages])) {
      this.owner = found.owner;
      this.lines = found.messages;
      this.#pollMs = POLL_MS.first;
    }
    const last = this.lines.findLast((line) => line.turn_id);
    if (!this.pending && last?.kind === "customer") {
      // Sent from another tab or device: it is watched here too.
      this.pending = { turn: last.turn_id, body: { message: last.text }, at: last.at_ms };
      this.#deliver(this.pending);
    }
    this.#show("ready");
  }

  async #loadOrders() {
    const response = await this.#api.fetch("/support/orders");
    if (response.ok) this.orders = (await response.json()).orders; // without them there is a chat all the same
    this.#changed();
  }

  #read(response) {
    if (!response.ok) throw new Error(`answered ${response.status}`);
    return response.json();
  }

  /** Look whether there is news, now and then, while somebody can see it. */
  async #poll() {
    clearTimeout(this.#pollTimer);
    if (this.#isClosed || document.hidden || this.state === "loading") return;
    const ms = this.owner === "person" ? Math.min(this.#pollMs, POLL_MS.person) : this.#pollMs;
    this.#pollTimer = setTimeout(() => this.#poll(), ms);
    this.#pollMs = Math.min(this.#pollMs * 1.4, POLL_MS.most);
    if (this.pending) return;
    await this.#load().catch((error) => this.#fail(error));
  }

  // --- Small things -----------------------------------------------------------------------------------

  get #isClosed() {
    return this.#closed.signal.aborted;
  }

  #fail(error) {
    this.#show(error instanceof SignInNeeded ? "sign-in-required" : "offline");
  }

  #show(state) {
    this.state = state;
    if (!this.#isClosed) this.#changed();
  }

  #move(pending, change) {
    Object.assign(pending, change);
    if (pending === this.pending) {
      if (pending.key) this.#kept = pending;
      this.#changed();
    }
    return pending;
  }

  /** Wait, each time longer, until the connection is back or somebody presses the button. */
  #pause(tries) {
    return new Promise((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, Math.min(1000 * 2 ** tries, 15_000));
    });
  }

  get #kept() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.#shelf));
      return kept && { ...kept, last: 0, phase: null };
    } catch {
      return null;
    }
  }

  set #kept(pending) {
    try {
      if (pending) sessionStorage.setItem(this.#shelf, JSON.stringify(pending));
      else sessionStorage.removeItem(this.#shelf);
    } catch {
      // A page without storage: then a reload finds the message in the history.
    }
  }
}
