"""A turn's events as text of a stream: for staff as they are, for a customer what is meant for them."""

import json
from collections.abc import Mapping
from typing import Final

from refund_agent.journal import Event, EventKind

FOR_CUSTOMERS: Final[Mapping[EventKind, frozenset[str]]] = {
    "queued": frozenset(),
    "begun": frozenset(),
    "thinking": frozenset(),
    "tool_call": frozenset({"tool"}),
    "tool_result": frozenset({"tool", "ok"}),
    "decision": frozenset({"decision", "order_id", "amount_cents"}),
    "claim": frozenset({"answer"}),
    "settle": frozenset({"state", "order_id", "amount_cents"}),
    "hand_off": frozenset(),
}
"""The kinds a customer is shown, and of each the members. The text of a step is no reply yet, and a flag
or a rule's facts are for staff."""


def frame(event: Event, *, shows_all: bool) -> bytes:
    """Return an event's text; empty when it is not for this viewer."""
    if shows_all:
        return write_frame(event.seq, event.kind, {**event.body, "at_ms": event.at_ms})
    members = FOR_CUSTOMERS.get(event.kind)
    if members is None:
        return b""
    shown = {name: value for name, value in event.body.items() if name in members}
    return write_frame(event.seq, event.kind, {**shown, "at_ms": event.at_ms})


def write_frame(number: int, name: str, body: Mapping[str, object]) -> bytes:
    """Write one event of a stream; its body is one line of JSON, so that nothing in it can end the event."""
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(body)}\n\n".encode()
