// Money, times and the transcript as the reader's language has them. Cents are integers, never a float.

/** Write `4999` and `EUR` as `€49.99`; where the currency is not known, `49.99`. */
export function money(cents, currency, lang) {
  const style = currency ? { style: "currency", currency } : {};
  const format = new Intl.NumberFormat(lang, { ...style, minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const fraction = String(cents % 100).padStart(2, "0");
  const parts = format.formatToParts((cents - (cents % 100)) / 100);
  return parts.map(({ type, value }) => (type === "fraction" ? fraction : value)).join("");
}

/** Write the time of day; of another day, the date too. */
export function time(ms, lang) {
  const at = new Date(ms);
  const date = at.toDateString() === new Date().toDateString() ? {} : { day: "numeric", month: "short" };
  return at.toLocaleString(lang, { ...date, hour: "numeric", minute: "2-digit" });
}

/** Return what a line says beside the card of its refund. */
export function textOf({ kind, text, words, refund }, say) {
  if (kind === "hand_off") return say(kind);
  if (kind === "unanswered") return refund ? say(kind) : `${say(kind)} ${say("noRefund")}`;
  return words ?? text;
}

/** Return a refund's parts as the ledger has them: its state, what it means, and name and value of each fact. */
export function refundOf(refund, { say, lang, currencyOf }) {
  const state = refund.state === "rejected" ? "not_sent" : refund.state;
  const { order_id, amount_cents, refund_id } = refund;
  const facts = [
    order_id && [say("order"), order_id],
    refund_id && [say("reference"), refund_id],
  ].filter(Boolean);
  return {
    state,
    title: say(state),
    amount: amount_cents === undefined ? "" : money(amount_cents, currencyOf(order_id), lang),
    note: say(`${state}Note`),
    facts,
  };
}

/** Write the conversation as plain text. */
export function transcript(lines, context) {
  const { say, lang } = context;
  return lines
    .map((line) => {
      const { title, amount, note, facts } = line.refund ? refundOf(line.refund, context) : {};
      const about = line.refund && `${title}: ${amount} ${facts.map((fact) => fact.join(": ")).join(", ")}. ${note}`;
      const when = new Date(line.at_ms).toLocaleString(lang);
      const who = say(line.speaker === "agent" ? "assistant" : line.speaker);
      return [`${when} · ${who}`, textOf(line, say), about].filter(Boolean).join("\n");
    })
    .join("\n\n");
}
