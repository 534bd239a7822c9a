// One message on its way to its ending, however often connection, page or service break in between.
//
// It gets its Idempotency-Key once, and asks with it for the same turn again and again: the service joins the turn
// or replays its answer, so nothing can be sent twice. Once the turn is known it is watched instead.

import { isStream, Pause, readEvents, SignInNeeded } from "./api.js";

const LATE_MS = 20_000;

/** Return the phase that an event tells of; null for one that tells of none. Nothing else makes a phase. */
function phaseOf({ kind, data }) {
  if (kind === "queued" || kind === "thinking") return kind;
  if (kind === "tool_call") return data.tool === "escalate_to_human" ? "person" : "checking";
  if (kind === "claim" && data.answer === "claimed") return "payments";
  return null;
}

export class Message {
  // What is kept through a reload: key, body, at, turn (its id), doubt (an earlier try may have been taken), and
  state = "sending"; // running | late | lost: no connection | refused: because of `why`, until then
  why;
  until = 0;

  #api;
  #changed;
  #phase;
  #heard = 0; // the number of the last event
  #pause = new Pause();
  #dropped = new AbortController();

  /** `known` is what was kept; or key and body of a new one; or turn and body of one that was sent elsewhere. */
  constructor(api, changed, known) {
    this.#api = api;
    this.#changed = changed;
    Object.assign(this, known);
  }

  /** Where it is, as far as events have told; "" when something is in its way. */
  get stage() {
    if (this.trouble) return "";
    const isLate = this.state === "late" || (this.state === "running" && Date.now() - this.at > LATE_MS);
    return isLate ? "late" : (this.#phase ?? this.state);
  }

  /** What is in its way; "" when nothing is. */
  get trouble() {
    return this.state === "refused" ? this.why : this.state === "lost" ? "lost" : "";
  }

  /** Return the turn's ending when there is one; null when the message was refused or dropped before. */
  async run() {
    this.#move({ state: this.turn ? "running" : "sending", until: 0 });
    const { signal } = this.#dropped;
    for (let tries = 0; !signal.aborted; tries++) {
      const heard = this.#heard;
      try {
        const ending = await (this.turn ? this.#follow() : this.#post());
        if (ending || this.state === "refused") return ending;
      } catch (error) {
        this.#move({ state: "lost", doubt: true });
        if (error instanceof SignInNeeded) return this.#refuse("sign-in-required");
      }
      if (heard !== this.#heard) tries = 0;
      await this.#pause.take(tries);
    }
    return null;
  }

  /** Do not wait any longer for the next try. */
  hurry() {
    this.#pause.end();
  }

  /** Go on no longer, and leave the stream. */
  drop() {
    this.#dropped.abort();
    this.hurry();
  }

  /** Return the ending; null: not yet, ask again. */
  async #post() {
    const response = await this.#fetch("/support/chat", {
      body: this.body,
      headers: {
        "Idempotency-Key": `"${this.key}"`,
        Accept: this.plain ? "application/json" : "text/event-stream, application/json;q=0.5",
      },
    });
    if (isStream(response)) {
      this.turn = response.headers.get("X-Turn-Id");
      this.conversation = response.headers.get("X-Conversation-Id");
      return this.#listen(response);
    }
    const answer = await response.json();
    return response.ok ? answer : this.#judge(response, answer);
  }

  #judge({ status, headers }, answer) {
    const why = String(answer.type).split(":").pop();
    if (/streams/.test(why)) {
      this.plain = true; // wait for the answer without watching the turn
      return this.#post();
    }
    if (status < 500 || status === 503) return this.#refuse(why, headers.get("Retry-After"));
    if (why !== "still-running" && why !== "outcome-unreadable" && status > 500) return answer; // it has ended
    this.#move({ state: "late", doubt: true });
    return status === 500 ? this.#refuse("internal-error") : null;
  }

  #refuse(why, seconds = 0) {
    this.#move({ state: "refused", why, until: Date.now() + seconds * 1000 });
    return null;
  }

  /** Ask where the turn stands, then go on listening; where streams fail this is polling. */
  async #follow() {
    const path = `/support/turns/${this.turn}`;
    const found = await this.#fetch(path);
    if (found.status === 404) return {}; // old enough to be forgotten
    if (!found.ok) return null;
    const view = await found.json();
    if (view.state === "done" || view.state === "failed") return view;
    const response = await this.#fetch(`${path}/events`, { headers: { "Last-Event-ID": this.#heard } });
    return isStream(response) ? this.#listen(response) : null;
  }

  async #listen(response) {
    this.#move({ state: "running" });
    let ending = null;
    await readEvents(response, (event) => {
      this.#heard = event.id;
      if (event.kind === "ended") ending = event.data;
      this.#phase = phaseOf(event) ?? this.#phase;
      this.#changed();
    });
    if (!ending) this.#move({ state: "lost" });
    return ending;
  }

  #fetch(path, options) {
    return this.#api.fetch(path, { ...options, signal: this.#dropped.signal });
  }

  #move(change) {
    Object.assign(this, change);
    this.#changed();
  }
}
