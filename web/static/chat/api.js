// The service over HTTP: each request with a token that is still good, and event streams read from `fetch`.
// The token is in a header only: never in a URL, never stored.

const SPARE_MS = 30_000; // a token this near its end is asked for anew
const SILENCE_MS = 25_000; // the service sends a comment every 15 s
const MAX_EVENT_CHARACTERS = 1_000_000;

/** There is no token that the service takes. */
export class SignInNeeded extends Error {}

export class Api {
  #origin;
  #askForToken;
  #token = null; // a promise: who asks at the same time shares it

  constructor(origin, askForToken) {
    this.#origin = origin;
    this.#askForToken = askForToken;
  }

  /** Return whom the token names, to keep the customers of one browser apart. Who they are is the service's to judge. */
  async customer() {
    return String(claims(await this.#bearer()).sub ?? "");
  }

  /** Return the response, whatever its status but 401; reject with `SignInNeeded`, or as `fetch` does. */
  async fetch(path, { body, headers } = {}) {
    for (const renew of [false, true]) {
      const response = await fetch(this.#origin + path, {
        method: body ? "POST" : "GET",
        body: body && JSON.stringify(body),
        headers: {
          ...headers,
          ...(body && { "Content-Type": "application/json" }),
          Authorization: `Bearer ${await this.#bearer(renew)}`,
        },
        cache: "no-store",
        credentials: "omit",
      });
      if (response.status !== 401) return response;
    }
    throw new SignInNeeded();
  }

  async #bearer(renew = false) {
    const held = await this.#token?.catch(() => null);
    if (renew || !held || claims(held).exp * 1000 < Date.now() + SPARE_MS) {
      this.#token = Promise.resolve(this.#askForToken?.());
    }
    const token = await this.#token.catch(() => null);
    if (!token) throw new SignInNeeded();
    return token;
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
  return response.ok && (response.headers.get("Content-Type") ?? "").startsWith("text/event-stream");
}

/** Call `heard({id, kind, data})` for each event; resolve when the stream ends, reject when it falls silent. */
export async function readEvents(response, heard) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (rest.length < MAX_EVENT_CHARACTERS) {
    let timer;
    const silence = new Promise((_, reject) => (timer = setTimeout(reject, SILENCE_MS, new Error("silence"))));
    const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
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
