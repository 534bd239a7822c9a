"""Whether what a caller was told is true. Payments is the witness; the ledger has to agree with it."""

import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
NOT_TAKEN = 503
"""The one status whose turn need not be stored."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is left of a cell when everything is quiet.

    `first` is what the waiting caller was told, `later` what a retry with the same key was told, and then,
    when all was quiet, what questions about each turn were told. `gates` and `made` are ledger states and
    completions made, by turn id.
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
    """Of the processes that were told to stop by SIGTERM; -9 is one that had to be killed after 30 s."""
    is_at_work: bool = False
    """A worker was still at a turn of this cell when one stopped waiting for it."""


def objections(evidence: Evidence) -> list[str]:
    """Return everything that breaks the promise; an empty list is a true cell."""
    return [
        *_money(evidence),
        *(said for told in (evidence.first, *evidence.later) for said in _untrue(told, evidence)),
        *_waiting_caller(evidence),
        *_afterwards(evidence),
        *_turns(evidence),
        *_processes(evidence),
    ]


def unaccounted(moved: Sequence[tuple[str, int]], ledger: Iterable[Row]) -> list[str]:
    """Hold all the money that ever moved (order id, cents) against the whole ledger."""
    paid, perhaps, movements = Counter[tuple[str, int]](), Counter[tuple[str, int]](), Counter(moved)
    for row in ledger:
        refund = (row["order_id"], row["amount_cents"])
        paid[refund] += row["state"] == "paid"
        perhaps[refund] += row["state"] == "unknown"
    return [
        f"in the end {cents} cents moved {movements[order_id, cents]} times for {order_id}, the ledger says "
        f"{paid[order_id, cents]} paid and {perhaps[order_id, cents]} unknown"
        for order_id, cents in sorted({*movements, *paid})
        if not 0 <= movements[order_id, cents] - paid[order_id, cents] <= perhaps[order_id, cents]
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
    posts, answered = evidence.posts, surely + states.count("rejected")
    if not answered <= posts <= answered + perhaps:
        yield f"{posts} refund requests arrived, for {answered} answered and {perhaps} unknown refunds"


def _untrue(told: Told, evidence: Evidence) -> Iterator[str]:
    """`unknown` is always allowed; every other word must be what the ledger, checked above, says at last."""
    if told.status not in {0, NOT_TAKEN} and told.turn_id not in evidence.gates:
        yield f"told {told} of a turn that is not stored"
    if told.word in {"unknown", "not told"}:
        return
    state = evidence.gates.get(told.turn_id, "")
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


def _afterwards(evidence: Evidence) -> Iterator[str]:
    """A retry is told of its key, whose earlier turn may not be the one that its answer names."""
    retried, *asked = evidence.later
    tried = [state for state in evidence.gates.values() if MEANS.get(state) != "nothing"]
    if retried.word == "nothing" and tried:
        yield f"the retry was told {retried}, but its key's refund is {' and '.join(tried)}"
    if retried.word == "not told":
        yield f"the retry was not told what became of the refund: {retried}"
    yield from (f"the turn's own page does not tell: {told}" for told in asked if told.word == "not told")


def _processes(evidence: Evidence) -> Iterator[str]:
    for code in evidence.exit_codes:
        if code not in {0, -signal.SIGKILL}:
            yield f"a process that was told to stop ended with {code}"
    if evidence.is_at_work:
        yield "a worker is at the turn for ever"


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
