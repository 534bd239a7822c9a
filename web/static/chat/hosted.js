// The chat in an iframe, or in a window that the site opened. The site knows its customer and hands over a token
// for them, each time one is asked for. Both sides name the other's origin, and look at who speaks:
//
//   we   -> site  {type: "refund-chat-token", id}          only to the origin that framed or opened us
//   site -> us    {type: "refund-chat-token", id, token}   only taken from that window and that origin
//   we   -> site  {type: "refund-chat-unread", count}
//
// ?lang= and ?theme= choose language and colours.

const TOKEN_MS = 20_000;
const chat = document.querySelector("refund-chat");
const host = window.parent === window ? window.opener : window.parent;

/** Return the origin of the page around or behind this one; "" if it cannot be told. */
function originOfHost() {
  if (window.parent !== window && location.ancestorOrigins?.length) return location.ancestorOrigins[0];
  return document.referrer ? new URL(document.referrer).origin : "";
}

/** Ask the site for a token; reject when it gives none in time. */
function askForToken(origin) {
  const id = crypto.randomUUID();
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const end = (settle, value) => {
      over.abort();
      clearTimeout(timer);
      settle(value);
    };
    const timer = setTimeout(() => end(reject, new Error("the site gave no token")), TOKEN_MS);
    const hear = ({ source, origin: from, data }) => {
      if (source !== host || from !== origin || data?.type !== "refund-chat-token" || data.id !== id) return;
      end(resolve, String(data.token ?? ""));
    };
    addEventListener("message", hear, { signal: over.signal });
    host.postMessage({ type: "refund-chat-token", id }, origin);
  });
}

const wishes = new URLSearchParams(location.search);
for (const name of ["lang", "theme"]) if (wishes.has(name)) chat.setAttribute(name, wishes.get(name));
if (wishes.has("lang")) document.documentElement.lang = wishes.get("lang");

const origin = originOfHost();
const { origins } = await (await fetch("/chat/host.json")).json();
if (host && [...origins, location.origin].includes(origin)) {
  chat.addEventListener("refund-chat-unread", ({ detail }) =>
    host.postMessage({ type: "refund-chat-unread", count: detail.count }, origin),
  );
  chat.token = () => askForToken(origin);
} else {
  chat.hidden = true;
  document.querySelector("#alone").hidden = false;
}
