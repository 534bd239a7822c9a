"""Whether what a caller was told is true. Payments is the witness; the ledger has to agree with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from refund_agent.turn import MAX_COMPLETIONS
from tests.chaos.caller import Told, Word
from tests.chaos.lane import DEADLINE_SECONDS, Row

GRACE_SECONDS = 6.0
"""After its deadline a turn may wait for the sweeper: its grace, a third of a lease, and a busy machine."""
WAKE_UP_SECONDS = 5.0
"""A lost wake-up is made good within a second; the rest is for a busy machine."""

MEANS: Mapping[str, Word] = {
    "": "nothing",
    "closed": "nothing",
    "paid": "paid",
    "rejected": "rejected",
    "not_sent": "not_sent",
    "unknown": "unknown",
}
"""What a ledger row says about the money; an empty word is no row."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is left of a cell when everything is quiet.

    `first` is what the waiting caller was told, `later` what a retry with the same key and questions about
    the turns were told. `gates` and `made` are ledger states and completions made, by turn id.
    """

    first: Told
    later: tuple[Told, ...]
    turns: tuple[Row, ...]
    gates: Mapping[str, str]
    made: Mapping[str, int]
    movements: int
    posts: int
    web_died: bool
    outage_seconds: float
    exit_codes: tuple[int, ...] = ()
    """Of the processes that were told to stop; -9 is one that had to be killed after 30 s."""


def objections(evidence: Evidence) -> list[str]:
    """Return everything that breaks the promise; an empty list is a true cell."""
    return [
        *_money(evidence),
        *(said for told in (evidence.first, *evidence.later) for said in _untrue(told, evidence.gates)),
        *_waiting_caller(evidence),
        *_turns(evidence),
    ]


def _money(evidence: Evidence) -> Iterator[str]:
    states = list(evidence.gates.values())
    if evidence.movements > 1:
        yield f"money moved {evidence.movements} times"
    if evidence.posts > 1:
        yield f"{evidence.posts} refund requests arrived"
    if "claimed" in states:
        yield "a claim is open for ever"
    surely, perhaps = states.count("paid"), states.count("unknown")
    if not surely <= evidence.movements <= surely + perhaps:
        yield f"money moved {evidence.movements} times, the ledger says {surely} paid and {perhaps} unknown"


def _untrue(told: Told, gates: Mapping[str, str]) -> Iterator[str]:
    """`unknown` is always allowed; every other word must be what the ledger, checked above, says at last."""
    if told.word in {"unknown", "not told"}:
        return
    state = gates.get(told.turn_id, "")
    if MEANS.get(state) != told.word:
        yield f"told {told}, but the refund is {state or 'none'}"


def _waiting_caller(evidence: Evidence) -> Iterator[str]:
    first = evidence.first
    if not first.status and not evidence.web_died:
        yield "the waiting caller got no answer"
    if first.status and first.seconds > DEADLINE_SECONDS + GRACE_SECONDS + evidence.outage_seconds:
        yield f"the waiting caller was answered after {first.seconds:.0f} s"
    for turn in evidence.turns:
        if turn["id"] == first.turn_id and turn["state"] == "ended":
            took = (turn["ended_at_ms"] - turn["created_at_ms"]) / 1000
            if first.seconds - took > WAKE_UP_SECONDS + evidence.outage_seconds:
                yield f"the turn took {took:.0f} s, and the caller was told after {first.seconds:.0f} s"
    if first.status and first.word == "not told":
        yield f"the answer does not say what became of the refund: {first.status} {first.title}"


def _turns(evidence: Evidence) -> Iterator[str]:
    for turn in evidence.turns:
        if turn["state"] != "ended":
            yield f"a turn is {turn['state']} for ever"
            continue
        late = (turn["ended_at_ms"] - turn["deadline_at_ms"]) / 1000
        if late > GRACE_SECONDS + evidence.outage_seconds:
            yield f"a turn ended {late:.0f} s after its deadline"
        if turn["outcome"] == "broken":
            yield f"a turn broke: {turn['reason']}"
        made, counted = evidence.made.get(turn["id"], 0), turn["completions_used"]
        if not made <= counted <= MAX_COMPLETIONS:
            yield f"{made} completions were made and {counted} counted"
