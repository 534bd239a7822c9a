// <refund-chat>: the chat with the refund agent, for any page of a site whose customer is signed in.
//
//   <script type="module" src="https://refunds.example/chat/refund-chat.js"></script>
//   <refund-chat></refund-chat>
//   document.querySelector("refund-chat").token = async () => (await fetch("/my/support-token")).text();
//
// Attributes: lang, dir, theme (light, dark), heading, consent (a text to agree to first), launcher (a button in the
// corner that opens it), open, api (the service's origin; else the module's own).
// Methods: open(), minimise(), compose(text), send(text). Events: refund-chat-unread {count}, refund-chat-consent.

import { Api } from "./api.js";
import { Conversation } from "./conversation.js";
import { transcript } from "./formats.js";
import { spoken, wordsOf } from "./strings.js";
import { View } from "./view.js";

/* global STYLES: styles.css, put in by the join */
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLES);

class RefundChat extends HTMLElement {
  static observedAttributes = ["lang", "open", "heading", "consent", "launcher"];

  #root = this.attachShadow({ mode: "open" });
  #askForToken;
  #chat;
  #view;
  #context;
  #heard = null; // how many lines of others were there when somebody last looked
  #unread = 0;
  #clock;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sheet];
  }

  connectedCallback() {
    if (Object.hasOwn(this, "token")) {
      // The site set it before this module was there.
      this.#askForToken = this.token;
      delete this.token;
    }
    this.#build();
    this.#begin();
    this.#clock = setInterval(() => this.#chat?.pending && this.#render(), 1000);
  }

  disconnectedCallback() {
    clearInterval(this.#clock);
    this.#chat?.close();
  }

  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name !== "open") this.#build();
    this.#render();
    this.#chat?.lookSoon(); // what the service says, in another language
  }

  /** Set an async function that returns a fresh token for the signed-in customer; set it anew for another one. */
  set token(askForToken) {
    this.#askForToken = askForToken;
    if (this.isConnected) this.#begin();
  }

  get #isOpen() {
    return this.hasAttribute("open") || !this.hasAttribute("launcher");
  }

  open() {
    this.setAttribute("open", "");
    this.#view.input.focus();
  }

  minimise() {
    this.removeAttribute("open");
    this.#view.launcher.focus();
  }

  /** Put a text before the customer, to send or to change. */
  compose(text) {
    this.#view.input.value = text;
    this.#view.input.focus();
    this.#render();
  }

  /** Send a text as the customer; false when that is not possible now. */
  send(text) {
    const asksConsent = this.#asksConsent;
    if (!text.trim() || (asksConsent && !this.#view.agreed.checked) || !this.#chat?.send(text.trim())) return false;
    if (asksConsent) this.#tell("consent");
    return true;
  }

  get #asksConsent() {
    return this.hasAttribute("consent") && !this.#chat?.lines.length && !this.#chat?.pending;
  }

  #begin() {
    this.#chat?.close();
    this.#chat = null;
    this.#heard = null;
    this.#render(); // what the customer before this one saw is gone at once
    if (!this.#askForToken) return;
    const origin = this.getAttribute("api") ?? new URL(import.meta.url).origin;
    const api = new Api(origin, this.#askForToken, () => this.#context.language);
    this.#chat = new Conversation(api, () => this.#render());
    this.#chat.start();
  }

  #build() {
    const wanted = this.lang || this.closest("[lang]")?.lang || navigator.language;
    const language = spoken(wanted);
    const say = wordsOf(wanted);
    const before = this.#view;
    this.#context = {
      say,
      language,
      // Dates as the reader's country writes them, where that speaks the same language.
      lang: [...navigator.languages, wanted].find((tag) => tag.split("-")[0] === language) ?? language,
      heading: this.getAttribute("heading") ?? say("heading"),
      consent: this.getAttribute("consent") ?? "",
      launcher: this.hasAttribute("launcher"),
      currencyOf: (id) => this.#chat?.orders.find((order) => order.order_id === id)?.currency,
    };
    this.#view = new View(this.#root, this.#context, {
      send: () => this.#view.maySend && this.send(this.#view.message) && this.compose(""),
      typed: () => this.#render(),
      compose: (text) => this.compose(text),
      begin: () => this.#chat.begin(),
      retry: () => this.#chat.retry(),
      edit: () => this.compose(this.#chat.takeBack()),
      askAgain: (id) => this.compose(this.#chat.lines.find(({ turn_id }) => turn_id === id).text),
      open: () => this.open(),
      minimise: () => this.minimise(),
      copy: (text, button) => this.#copy(text, button),
      download: () => this.#download(),
    });
    if (before) {
      this.#view.input.value = before.input.value;
      this.#view.agreed.checked = before.agreed.checked;
    }
    this.#render();
  }

  #render() {
    const chat = this.#chat ?? { state: "loading", lines: [], orders: [], owner: "agent" };
    const others = chat.lines.filter((line) => line.speaker !== "customer").length;
    const isSeen = this.#isOpen && !document.hidden;
    if (chat.state === "ready" && (isSeen || this.#heard === null)) this.#heard = others;
    const unread = Math.max(0, others - (this.#heard ?? others));
    this.#view.render(chat, { open: this.#isOpen, unread, asksConsent: this.#asksConsent });
    if (unread !== this.#unread) this.#tell("unread", { count: unread });
    this.#unread = unread;
  }

  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(`refund-chat-${what}`, { bubbles: true, detail }));
  }

  async #copy(text, button) {
    const { say } = this.#context;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = say("copied");
    } catch {
      button.textContent = say("notCopied"); // a frame or a browser that may not
    }
    setTimeout(() => (button.textContent = say("copy")), 2000);
  }

  #download() {
    const text = transcript(this.#chat.lines, this.#context);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = "conversation.txt";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
}

customElements.define("refund-chat", RefundChat);
