// What the chat looks like: built once, then kept up to date from the conversation. Everything is set as text.

import { money, refundOf, textOf, time } from "./formats.js";

const FEW_ORDERS = 4;
const MAX_MESSAGE = 4000;
const NEAR_END_PX = 24;

/** Make an element; `on…` properties are listeners, the others attributes. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(Boolean));
  return element;
}

const part = (name, tag = "div", properties = {}, ...children) =>
  make(tag, { part: name, class: name, ...properties }, ...children);

const button = (name, onclick, text, ...more) => part(name, "button", { type: "button", onclick }, text, ...more);

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text; // a live region says it once
}

/** The chat's element tree in `root`. `context` says words, money and times; `act` is what the buttons do. */
export class View {
  #context;
  #act;
  #lines = new Map(); // name -> {element, was}
  #orders;

  constructor(root, context, act) {
    const { say } = context;
    this.#context = context;
    this.#act = act;
    this.who = part("who", "p");
    this.begin = button("begin", act.begin, say("begin"));
    this.download = button("download", act.download, say("download"));
    this.orders = part("orders");
    this.welcome = part("welcome", "div", {}, make("h3", {}, say("welcome")), this.orders);
    this.log = part("log", "div", { role: "log", "aria-label": say("heading") });
    this.status = part("status", "p", { role: "status" });
    this.alert = part("alert", "p", { role: "alert" });
    this.retry = button("retry", act.retry);
    this.edit = button("edit", act.edit, say("edit"));
    this.scroll = part(
      "scroll", "div", { tabindex: 0, role: "group", "aria-label": say("heading") },
      this.welcome, this.log, this.status, this.alert, part("choices", "div", {}, this.retry, this.edit),
    );
    this.input = part("input", "textarea", {
      rows: 1, maxlength: MAX_MESSAGE, placeholder: say("message"), "aria-label": say("message"),
      oninput: act.typed,
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        act.send();
      },
    });
    this.agreed = make("input", { type: "checkbox", onchange: act.typed });
    this.consent = part("consent", "label", {}, this.agreed, make("slot", { name: "consent" }, context.consent));
    this.send = button("send", act.send, say("send"));
    this.panel = part(
      "panel", "section", { "aria-label": say("heading") },
      part("header", "header", {},
        make("div", {}, part("heading", "h2", {}, context.heading), this.who),
        part("tools", "div", {}, this.begin, this.download, context.launcher && button("minimise", act.minimise, say("minimise"))),
      ),
      this.scroll,
      part("composer", "div", {}, this.consent, this.input, this.send),
    );
    this.badge = part("badge", "span");
    this.launcher = button("launcher", act.open, say("open"), this.badge);
    root.replaceChildren(this.panel, this.launcher);
  }

  get message() {
    return this.input.value.trim();
  }

  /** Show the conversation as it stands. */
  render(chat, { open, unread, asksConsent }) {
    const { say, launcher } = this.#context;
    const focused = this.panel.getRootNode().activeElement;
    const { scrollTop, clientHeight, scrollHeight } = this.scroll;
    const wasAtEnd = scrollTop + clientHeight > scrollHeight - NEAR_END_PX;
    this.panel.hidden = !open;
    this.launcher.hidden = open || !launcher;
    setText(this.badge, unread ? say("unread", unread) : "");
    setText(this.who, chat.owner === "person" ? say("withPerson") : "");
    this.begin.hidden = this.download.hidden = !chat.lines.length;
    this.begin.disabled = chat.pending;
    this.welcome.hidden = chat.lines.length || chat.pending || chat.state === "loading";
    if (!this.welcome.hidden) this.#renderOrders(chat.orders);
    const grew = this.#renderLines(chat);
    this.#renderPending(chat);
    this.consent.hidden = !asksConsent;
    this.maySend = this.message && (!asksConsent || this.agreed.checked) && !chat.pending && chat.isLoaded;
    this.send.setAttribute("aria-disabled", !this.maySend); // stays focusable
    if (focused?.hidden) this.input.focus(); // the button that was pressed has gone
    if (!this.welcome.hidden) return;
    if (wasAtEnd || (grew && chat.pending)) this.scroll.scrollTop = this.scroll.scrollHeight;
  }

  #renderLines(chat) {
    const all = [...chat.lines];
    const { at, turn, body } = chat.pending ?? {};
    if (body && !(turn && all.some(({ turn_id }) => turn_id === turn))) {
      all.push({ at_ms: at, turn_id: turn, speaker: "customer", text: body.message });
    }
    const shown = new Map();
    for (const line of all) {
      // The same line under the same name, whether we had it first or the service: it is announced once.
      let name = `${line.speaker} ${line.turn_id ?? line.text}`;
      while (shown.has(name)) name += "+";
      if (line.text || line.refund || line.kind === "unanswered") shown.set(name, line);
    }
    let grew = false;
    for (const [name, { element }] of this.#lines) {
      if (!shown.has(name)) {
        element.remove();
        this.#lines.delete(name);
      }
    }
    let place = this.log.firstChild;
    for (const [name, line] of shown) {
      const is = JSON.stringify([textOf(line, this.#context.say), line.refund && refundOf(line.refund, this.#context)]);
      const known = this.#lines.get(name);
      const element = known?.was === is ? known.element : this.#line(line);
      if (known && element !== known.element) {
        if (place === known.element) place = element;
        known.element.replaceWith(element);
      }
      if (element !== place) this.log.insertBefore(element, place); // what stays where it is, is not said again
      place = element.nextSibling;
      grew ||= known?.was !== is;
      this.#lines.set(name, { element, was: is });
    }
    return grew;
  }

  #line(line) {
    const { say, lang } = this.#context;
    const text = textOf(line, say);
    const isOurs = line.speaker === "agent" || line.speaker === "staff";
    const copy = isOurs && button("copy", () => this.#act.copy(line.text, copy), say("copy"));
    const asks = line.kind === "unanswered" && !line.refund;
    return part(`line ${line.speaker}`, "div", {},
      part("meta", "p", {},
        part("speaker", "span", {}, say(line.speaker === "agent" ? "assistant" : line.speaker)),
        make("time", { datetime: new Date(line.at_ms).toISOString() }, time(line.at_ms, lang)),
        copy,
      ),
      text && part("text", "p", { dir: "auto" }, text),
      line.refund && this.#card(line.refund),
      asks && button("again", () => this.#act.askAgain(line.turn_id), say("askAgain")),
    );
  }

  #card(refund) {
    const { state, title, amount, note, facts } = refundOf(refund, this.#context);
    return part(`card ${state}`, "div", { role: "group", "aria-label": title },
      part("card-title", "p", {}, title),
      part("card-amount", "p", {}, amount),
      make("dl", {}, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
      note && part("card-note", "p", {}, note),
    );
  }

  #renderOrders(orders) {
    const is = JSON.stringify(orders);
    if (this.#orders === is) return;
    this.#orders = is;
    const { say } = this.#context;
    const list = (some) => make("ul", { role: "list" }, ...some.map((order) => make("li", {}, this.#order(order))));
    const rest = orders.slice(FEW_ORDERS);
    this.orders.hidden = !orders.length;
    this.orders.replaceChildren(
      make("h4", {}, say("orders")),
      list(orders.slice(0, FEW_ORDERS)),
      make("details", { hidden: !rest.length }, make("summary", {}, say("more", rest.length)), list(rest)),
    );
  }

  #order({ title, order_id, currency, paid_cents, refundable_cents, decision: { rule, because } }) {
    const { say, lang } = this.#context;
    const amount = money(refundable_cents || paid_cents, currency, lang);
    const asked = refundable_cents ? say("askRefund", amount, order_id) : say("askOrder", order_id);
    return button("suggestion", () => this.#act.compose(asked),
      part("title", "span", { dir: "auto" }, title),
      make("span", {}, amount),
      part("id", "span", {}, order_id),
      part(rule ? "because" : "refundable", "span", {}, say(rule ?? "refundable") || because),
    );
  }

  #renderPending(chat) {
    const { say } = this.#context;
    const { trouble = "", pending } = chat;
    const stage = pending?.stage ?? "";
    setText(this.status, say(stage));
    this.status.classList.toggle("works", stage !== "");
    setText(this.alert, trouble && (say(trouble) || say("notTaken")));
    const seconds = Math.ceil((pending?.until - Date.now()) / 1000);
    this.retry.hidden = !trouble;
    this.retry.setAttribute("aria-disabled", seconds > 0);
    setText(this.retry, seconds > 0 ? say("retryIn", seconds) : say("retry"));
    this.edit.hidden = pending?.state !== "refused" || pending.doubt; // it was surely not taken
  }
}
