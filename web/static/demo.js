"use strict";

// Everything shown is set as text: whatever the model says stays words.

const form = document.querySelector("form");
const answers = document.querySelector("#answers");
const suggestions = document.querySelector("#suggestions");

const REFUND_STATES = {
  paid: "The refund was made.",
  rejected: "Payments rejected the refund: no money moved.",
  not_sent: "The refund could not be sent: no money moved.",
  unknown: "Whether money moved is not known. Do not send this again.",
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  const message = form.elements.message.value;
  const item = show(message);
  button.disabled = true;
  try {
    await ask(item, message);
  } catch (error) {
    item.className = "problem";
    say(item, "No answer arrived. The turn may run all the same: whether money moved is not known.");
  } finally {
    button.disabled = false;
  }
});

async function ask(item, message) {
  const headers = { "Content-Type": "application/json" };
  const token = form.elements.token.value;
  if (token) headers.Authorization = `Bearer ${token}`;
  const body = JSON.stringify({ user_id: form.elements.user_id.value, message });
  const response = await fetch("/support/refund-chat", { method: "POST", headers, body });
  const answer = await response.json();
  const turn = response.headers.get("X-Turn-Id");
  if (response.ok) {
    item.className = "reply";
    say(item, answer.reply || "(The reply is empty: the model had no final text.)");
  } else {
    item.className = "problem";
    say(item, `${answer.status}: ${answer.title}`);
    say(item, answer.detail);
    say(item, sayRefund(answer.refund));
  }
  say(item, `turn ${turn}`, "turn");
}

function sayRefund(refund) {
  if (!refund) return "Refund: none was sent, and none will be.";
  const what = refund.order_id ? ` ${refund.amount_cents} cents for order ${refund.order_id}.` : "";
  return `Refund: ${REFUND_STATES[refund.state]}${what}`;
}

function show(message) {
  const item = document.createElement("li");
  say(item, message, "asked");
  answers.prepend(item);
  return item;
}

function say(item, text, className) {
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  if (className) paragraph.className = className;
  item.append(paragraph);
}

async function loadSuggestions() {
  const response = await fetch("/demo/suggestions.json");
  for (const { say: words, expect } of await response.json()) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => {
      form.elements.message.value = words;
      form.elements.message.focus();
    });
    item.append(button);
    say(item, expect);
    suggestions.append(item);
  }
}

loadSuggestions();
