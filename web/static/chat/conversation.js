// One customer's conversation: what was said, by whom it is answered, and the one message that is on its way.

import { Pause, SignInNeeded } from "./api.js";
import { Message } from "./message.js";

const POLL_MS = { first: 3_000, most: 30_000, person: 6_000 };

export class Conversation {
  id = null;
  owner = "agent";
  lines = [];
  orders = [];
  pending = null;
  state = "loading"; // ready | offline | sign-in-required
  isLoaded = false; // only then a message knows which conversation it belongs to

  #api;
  #changed;
  #shelf;
  #pause = new Pause();
  #closed = new AbortController();
  #pollMs;
  #pollTimer;

  /** `changed` is called whenever something is different. */
  constructor(api, changed) {
    this.#api = api;
    this.#changed = () => this.#isClosed || changed();
    const { signal } = this.#closed;
    addEventListener("online", () => this.retry(), { signal });
    document.addEventListener("visibilitychange", () => this.lookSoon(), { signal });
  }

  close() {
    this.#closed.abort();
    clearTimeout(this.#pollTimer);
    this.#pause.end();
    this.pending?.drop();
  }

  /** Load what was said; go on with what was on its way. */
  async start() {
    for (let tries = 0; !this.#isClosed && !this.isLoaded; tries++) {
      try {
        this.#shelf = `refund-chat ${await this.#api.customer()}`;
        await Promise.all([this.#loadOrders(), this.#findNewest()]);
        this.isLoaded = true;
      } catch (error) {
        this.#fail(error);
        await this.#pause.take(tries);
      }
    }
    this.#show("ready");
    if (this.pending?.key && this.pending.state !== "refused") this.#deliver();
    this.lookSoon();
  }

  /** What stands in the way of the message, or of the whole chat; "" when nothing does. */
  get trouble() {
    const { pending, state } = this;
    return pending?.trouble || (state === "ready" || state === "loading" ? "" : state);
  }

  /** Send a message, unless another is on its way. */
  send(message) {
    if (this.pending || !this.isLoaded) return false;
    const body = this.id ? { message, conversation_id: this.id } : { message };
    this.#deliver({ key: crypto.randomUUID(), body, at: Date.now() });
    return true;
  }

  /** Ask for the pending turn again, with the same key and body; or load again what could not be loaded. */
  retry() {
    this.#pause.end();
    this.pending?.hurry();
    if (this.state !== "ready") this.lookSoon();
    if (this.pending?.state === "refused" && this.pending.until <= Date.now()) this.#deliver();
  }

  /** Drop a message that was not taken and return its text. */
  takeBack() {
    const { why, body } = this.pending;
    this.pending = null;
    this.#keep();
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

  // --- The message on its way -----------------------------------------------------------------------

  /** Bring the pending message, or the one that is `known`, to its ending. */
  async #deliver(known) {
    if (known) this.pending = this.#message(known);
    const { pending } = this;
    const ending = await pending.run();
    if (!ending || pending !== this.pending || this.#isClosed) return;
    this.id = pending.conversation ?? ending.conversation_id ?? this.id;
    this.#say(pending, ending);
    this.pending = null;
    this.#changed();
    this.#keep(); // that there is nothing on its way: not before its ending was shown
    await Promise.all([this.#loadOrders(), this.#load()]).catch(() => {});
    this.lookSoon();
  }

  #message(known) {
    const message = new Message(
      this.#api,
      () => {
        if (message !== this.pending) return;
        this.#keep();
        this.#changed();
      },
      known,
    );
    return message;
  }

  /** Add what the ending says, until it is read from the service. */
  #say({ body }, { turn_id = null, reply, words, refund = null, owner = this.owner }) {
    this.owner = owner;
    const add = (speaker, kind, text, beside) =>
      this.lines.push({ turn_id, at_ms: Date.now(), speaker, kind, text, ...beside });
    if (!turn_id || !this.lines.some((line) => line.turn_id === turn_id)) add("customer", "customer", body.message);
    if (reply) add("agent", "reply", reply, { words, refund });
    else if (turn_id && reply !== "") add("system", "unanswered", "", { refund });
  }

  // --- What was said --------------------------------------------------------------------------------

  async #findNewest() {
    const kept = this.#kept();
    if (kept) {
      this.pending = this.#message(kept);
      this.id = kept.conversation ?? kept.body.conversation_id;
    } else {
      const listed = await this.#read("/support/conversations");
      this.id = listed.conversations[0]?.conversation_id;
    }
    await this.#load();
  }

  async #load() {
    const { id } = this;
    const found = id && (await this.#read(`/support/conversations/${id}`));
    if (id !== this.id) return;
    if (found === null) this.begin();
    if (found) {
      if (found.messages.length !== this.lines.length) this.#pollMs = POLL_MS.first; // something happens here
      this.owner = found.owner;
      this.lines = found.messages;
    }
    const last = this.lines.findLast((line) => line.turn_id);
    if (!this.pending && last?.kind === "customer") {
      // Sent from another tab or device: it is watched here too.
      this.#deliver({ turn: last.turn_id, body: { message: last.text }, at: last.at_ms });
    }
    this.#show("ready");
  }

  async #loadOrders() {
    // Without them there is a chat all the same.
    this.orders = (await this.#read("/support/orders").catch(() => null))?.orders ?? this.orders;
    this.#changed();
  }

  /** Return the document; null where there is none, or none of this customer's. */
  async #read(path) {
    const response = await this.#api.fetch(path);
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`answered ${response.status}`);
    return response.json();
  }

  /** Look whether there is news, now and then, while somebody can see it. */
  async #poll() {
    clearTimeout(this.#pollTimer);
    if (this.#isClosed || document.hidden || !this.isLoaded) return;
    const ms = this.owner === "person" ? Math.min(this.#pollMs, POLL_MS.person) : this.#pollMs;
    this.#pollTimer = setTimeout(() => this.#poll(), ms);
    this.#pollMs = Math.min(this.#pollMs * 1.4, POLL_MS.most);
    if (!this.pending) await this.#load().catch((error) => this.#fail(error));
  }

  get #isClosed() {
    return this.#closed.signal.aborted;
  }

  #fail(error) {
    this.#show(error instanceof SignInNeeded ? "sign-in-required" : "offline");
  }

  #show(state) {
    this.state = state;
    this.#changed();
  }

  // --- What is kept through a reload: our own message, under its customer ------------------------------

  #kept() {
    try {
      return JSON.parse(sessionStorage.getItem(this.#shelf));
    } catch {
      return null;
    }
  }

  #keep() {
    try {
      if (this.pending?.key) sessionStorage.setItem(this.#shelf, JSON.stringify(this.pending));
      else sessionStorage.removeItem(this.#shelf);
    } catch {
      // A page without storage: then a reload finds the message in the history.
    }
  }
}
