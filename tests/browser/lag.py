"""How late the console shows what has happened, while many turns run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Page

from tests.browser.pages import Console
from tests.browser.shop import CHEN, Shop
from tests.functional.stand import Row

PROBES: Final = 8
MOST_MS: Final = 60_000
WATCH: Final = """
([selector, name]) => {
  const seen = (window.firstSeen = {});
  const look = () => {
    for (const one of document.querySelectorAll(selector)) seen[one.getAttribute(name)] ??= Date.now();
    setTimeout(look, 20);
  };
  look();
}
"""
"""Notes when each value of an attribute was first seen, by the clock that is the database's as well."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How many milliseconds after something had happened a page showed it: every sample."""

    what: str
    samples_ms: Sequence[int]


def lags(page: Page, shop: Shop) -> list[Lag]:
    """Watch the console while one more customer asks, who is answered quickly, and while others are."""
    console = Console.open(page)
    probes: dict[str, Callable[[Console, Shop], int]] = {
        "a new conversation in the list of its customer": new_conversation,
        "a new message in an open conversation": new_message,
        "the end of a turn on its page": end_of_turn,
    }
    return [Lag(what, [probe(console, shop) for _ in range(PROBES)]) for what, probe in probes.items()]


def new_conversation(console: Console, shop: Shop) -> int:
    console.go(f"conversations?customer={CHEN}")
    console.page.evaluate(WATCH, ["main a", "href"])
    conversation_id = shop.say("Hello", by=CHEN)["conversation_id"]
    turn = newest(shop, lambda turn: turn["conversation_id"] == conversation_id)
    return seen_at_ms(console, f"/console/conversations/{conversation_id}") - int(turn["created_at_ms"])


def new_message(console: Console, shop: Shop) -> int:
    conversation_id = shop.say("Hello", by=CHEN)["conversation_id"]
    console.go(f"conversations/{conversation_id}")
    console.page.evaluate(WATCH, ["details.turn", "id"])
    turn_id = shop.say("Hello again", by=CHEN, conversation_id=conversation_id)["turn_id"]
    turn = newest(shop, lambda turn: turn["id"] == turn_id)
    return seen_at_ms(console, f"what-{turn_id}") - int(turn["created_at_ms"])


def end_of_turn(console: Console, shop: Shop) -> int:
    turn_id = newest(shop, lambda turn: turn["state"] == "running")["id"]
    console.go(f"turns/{turn_id}")
    console.page.evaluate(WATCH, ["#live", "data-turn"])
    shown = seen_at_ms(console, "null")  # it is there for as long as the turn runs
    return shown - int(newest(shop, lambda turn: turn["id"] == turn_id)["ended_at_ms"])


def newest(shop: Shop, wanted: Callable[[Row], bool]) -> Row:
    return next(filter(wanted, reversed(shop.turns())))


def seen_at_ms(console: Console, value: str) -> int:
    """Wait until the value has been seen, and return when that was."""
    seen = console.page.wait_for_function("value => window.firstSeen[value]", arg=value, timeout=MOST_MS)
    return int(seen.json_value())
