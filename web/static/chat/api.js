// The service over HTTP: each request with a token that is still good, and event streams read from `fetch`.
// The token is in a header only: never in a URL, never stored.

const SPARE_MS = 30_000; // a token this near its end is asked for anew
const MOST_PAUSE_MS = 15_000;
const SILENCE_MS = 25_000; // the service sends a comment every 15 s
const MAX_EVENT_CHARACTERS = 1_000_000;

/** There is no token that the service takes. */
export class SignInNeeded extends Error {}

export class Api {
  #origin;
  #ask;
  #language;
  #token = null; // a promise

  /** `ask` returns a promise of a token, `language` the one that the service should speak. */
  constructor(origin, ask, language) {
    this.#origin = origin;
    this.#language = language;
    this.#ask = async () => ask();
  }

  /** Return whom the token names, to keep the customers of one browser apart. Who they are is the service's to judge. */
  async customer() {
    return String(claims(await this.#bearer()).sub ?? "");
  }

  /** Return the response, whatever its status but 401; reject with `SignInNeeded`, or as `fetch` does. */
  async fetch(path, { body, headers, signal } = {}) {
    let refused;
    for (let tries = 0; tries < 2; tries++) {
      const token = await this.#bearer(refused);
      const response = await fetch(this.#origin + path, {
        method: body ? "POST" : "GET",
        body: body && JSON.stringify(body),
        headers: {
          ...headers,
          ...(body && { "Content-Type": "application/json" }),
          "Accept-Language": this.#language(),
          Authorization: `Bearer ${token}`,
        },
        signal,
        cache: "no-store",
        credentials: "omit",
      });
      if (response.status !== 401) return response;
      refused = token;
    }
    throw new SignInNeeded();
  }

  /** Return a token other than the one that was refused; who asks at the same time shares it. */
  async #bearer(refused) {
    const asked = this.#token;
    const held = await asked;
    const isGood = held && held !== refused && !(claims(held).exp * 1000 < Date.now() + SPARE_MS);
    if (!isGood && asked === this.#token) this.#token = this.#ask().catch(() => null);
    const token = await this.#token;
    if (!token) throw new SignInNeeded();
    return token;
  }
}

/** A wait that grows with the tries, and that somebody may end. */
export class Pause {
  end = () => {};

  take(tries) {
    return new Promise((resolve) => {
      this.end = resolve;
      setTimeout(resolve, Math.min(1000 * 2 ** tries, MOST_PAUSE_MS));
    });
  }
}

/** Read what a JWT says of itself; of a token that is none, nothing. */
function claims(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return {};
  }
}

export function isStream(response) {
  return response.ok && /^text.event-stream/.test(response.headers.get("Content-Type"));
}

/** Call `heard({id, kind, data})` for each event; resolve when the stream ends or falls silent, reject when it breaks. */
export async function readEvents(response, heard) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (rest.length < MAX_EVENT_CHARACTERS) {
    const silence = setTimeout(() => reader.cancel(), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const { id, event, data } = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/)));
      if (event) heard({ id: Number(id), kind: event, data: JSON.parse(data) });
    }
  }
  throw new Error("an event without an end");
}
