"""Plain English, as far as a demo needs it: what a refund message asks for, and what to say at the end."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sandbox.answers import Json, is_object
from sandbox.pages import money

MAX_NUMBER_LENGTH = 20

_CURRENCY = r"(?:USD|EUR|GBP|CHF)"
_ORDER = (
    re.compile(
        r"""\border\b(?:\s+(?:id|no\.?|number))?\s*[:#]?\s*["“'](?P<id>[^"”']{1,200})["”']""", re.IGNORECASE
    ),
    re.compile(
        r"\border\b(?:\s+(?:id|no\.?|number))?\s*[:#]?\s*#?(?P<id>(?![$€£])[^\s,;\"]*[0-9][^\s,;\"]*)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<![\w-])(?P<id>(?!{_CURRENCY}[0-9])[A-Z]{{1,5}}-?[0-9][\w-]*)"),
)
_AMOUNT = re.compile(
    rf"""(?<![\w.,'$€£-])
    (?P<sign>[$€£]\s?|{_CURRENCY}\s?)?
    (?P<number>[0-9]{{1,3}}(?:[.,'][0-9]{{3}})+(?:[.,][0-9]{{1,2}})?|[0-9]+(?:[.,][0-9]{{1,2}})?)
    (?![0-9]|[.,'][0-9])
    (?:\s?(?P<unit>cents?|¢|dollars?|bucks|euros?|pounds?|{_CURRENCY}|[$€£])(?!\w)|(?![\w%]))""",
    re.IGNORECASE | re.VERBOSE,
)
_AFTER_A_BARE_AMOUNT = re.compile(r"\s*(?:$|[.,;!?]|(?:for|from|on|to|of|please|back)\b)", re.IGNORECASE)
_REFUND = re.compile(r"\brefund|\bmoney back\b|\breimburse|\breturn", re.IGNORECASE)
_HELLO = re.compile(r"\s*(?:hello|hi|hey|good (?:morning|day|evening))\b", re.IGNORECASE)

GREETING = "Hello! I can refund an order. Which order is it, and how much should I refund?"
HELP = "I can help with refunds. Please tell me the order and the amount."
NO_TOOL = "I am sorry, I cannot issue refunds here. A colleague will help you."
UNSURE = (
    "I asked for the refund, but no clear answer came back, so we are not sure yet whether it went through. "
    "A colleague will check and get back to you. Please do not ask for it again."
)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the customer asks for, as far as it was understood."""

    order_id: str | None = None
    amount_cents: int | None = None
    wants_refund: bool = False
    greets: bool = False

    def missing(self) -> str:
        """Ask for what is missing."""
        if self.order_id is None and self.amount_cents is None:
            return "I can refund that. Which order is it, and how much should I refund?"
        if self.order_id is None:
            return "Which order is it? Please give me its id, for example ORD-1001."
        return f"How much should I refund for order {self.order_id}?"


def understand(texts: Sequence[str]) -> Wish:
    """Read the customer's messages, newest first; what the newest does not say, an earlier one may."""
    wishes = [_understand(text) for text in texts] or [Wish()]
    return Wish(
        order_id=next((wish.order_id for wish in wishes if wish.order_id is not None), None),
        amount_cents=next((wish.amount_cents for wish in wishes if wish.amount_cents is not None), None),
        wants_refund=any(wish.wants_refund for wish in wishes),
        greets=wishes[0].greets,
    )


def report(results: Sequence[Json]) -> str:
    """Tell the customer what became of the refund, from the tools' results."""
    for result in results:
        match result:
            case {"refund_id": str(reference), "status": str(status), "amount_cents": int(cents)}:
                done = "is on its way" if status in {"pending", "processing"} else "has been sent"
                return (
                    f"Your refund of {money(cents)} {done}. Its reference is {reference} (status: {status})."
                )
            case _:
                pass
    errors = [str(result["error"]) for result in results if is_object(result) and "error" in result]
    if any("unknown" in error for error in errors):
        return UNSURE
    if errors:
        return f"I am sorry, I could not refund this: {errors[-1]}."
    return "I am sorry, I could not make sense of what came back. A colleague will check."


def _understand(text: str) -> Wish:
    found = next((match for pattern in _ORDER if (match := pattern.search(text))), None)
    order_id = found["id"].rstrip(".!?:)") if found else None
    rest = f"{text[: found.start()]} , {text[found.end() :]}" if found else text
    amount_cents = _amount(rest)
    return Wish(
        order_id=order_id or None,
        amount_cents=amount_cents,
        wants_refund=bool(_REFUND.search(text)) or (order_id is not None and amount_cents is not None),
        greets=bool(_HELLO.match(text)),
    )


def _amount(text: str) -> int | None:
    """Return the likeliest amount in cents: one with a currency, else with decimals, else a bare number.

    Among equals the first one after the word "refund" wins: "I paid $100, refund $20".
    """
    asked = _REFUND.search(text)
    start = asked.start() if asked else 0
    found = sorted(_amounts(text), key=lambda amount: (amount[0], amount[1] < start, amount[1]))
    return found[0][2] if found else None


def _amounts(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield rank, position and cents of every amount."""
    for match in _AMOUNT.finditer(text):
        unit = (match["unit"] or "").lower()
        cents = _cents(match["number"], in_cents=unit.startswith("cent") or unit == "¢")
        if not cents:
            continue
        if match["sign"] or unit:
            yield 0, match.start(), cents
        elif re.search(r"[.,'][0-9]", match["number"]):
            yield 1, match.start(), cents
        elif _AFTER_A_BARE_AMOUNT.match(text, match.end()):
            yield 2, match.start(), cents


def _cents(number: str, *, in_cents: bool) -> int | None:
    """Read a number exactly, with a point or a comma; "1.234" could be either, so it is not read."""
    if len(number) > MAX_NUMBER_LENGTH or re.fullmatch(r"[0-9]+[.,'][0-9]{3}", number):
        return None
    parts = re.fullmatch(r"(.+?)(?:[.,]([0-9]{1,2}))?", number)
    if parts is None:
        return None
    whole = int(re.sub(r"[.,']", "", parts[1]))
    if in_cents:
        return None if parts[2] else whole
    return whole * 100 + int((parts[2] or "0").ljust(2, "0"))
