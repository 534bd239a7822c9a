"""A turn's timeline: what was recorded, where it was, and nothing that was not."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.journal import Event, EventKind
from refund_agent.outcomes import BudgetExhausted, DeadlinePassed, GateState, RefundRecord, Replied
from refund_agent.timeline import Resolution, Step, Timeline, TurnFile, TurnTimes
from refund_agent.timeline_reading import read_timeline
from refund_agent.turn import AssistantMessage, Message, ToolCall, ToolResult, TurnRecord, UserMessage
from refund_agent.turn_steps import (
    Backoff,
    ClaimTried,
    Completion,
    Ending,
    Flagged,
    Judged,
    Lapsed,
    Noted,
    RuleFinding,
    Sent,
    ToolUse,
    Unattended,
    Waiting,
)

BORN = 1_000_000
RECORD = TurnRecord("t-1", "ended", BORN, BORN + 120_000, epoch=1, outcome=Replied("Done."))
RUNNING = replace(RECORD, state="running", outcome=None)
ASKED: list[Message] = [
    UserMessage("Refund A1, please."),
    AssistantMessage("", (ToolCall("c-1", "issue_refund", '{"order_id": "A1", "amount_cents": 500}'),)),
    ToolResult("c-1", '{"refund_id": "rf_1"}'),
]
PAID = RefundRecord("t-1", "paid", "A1", 500, "1.0", "rf_1", "succeeded")

RESOLUTION = Resolution(
    money_moved=True, resolved_by="ann", reference="PSP-9", note="on their list", at_ms=BORN + 86_400_000
)

T = TypeVar("T")
Told = tuple[int, EventKind, Mapping[str, object]]


def events(*told: Told) -> list[Event]:
    """Number events; each is given with its milliseconds after the turn was stored."""
    return [Event("t-1", seq, kind, body, BORN + at) for seq, (at, kind, body) in enumerate(told, 1)]


def file(
    *told: Told, record: TurnRecord = RECORD, messages: list[Message] | None = None, **times: int
) -> TurnFile:
    """Build a file; times are milliseconds after the turn was stored."""
    given = {"now": 9_000, "begun": 40, **({"ended": 2_000} if record.state == "ended" else {}), **times}
    return TurnFile(
        record, TurnTimes(**{name: BORN + at for name, at in given.items()}), messages or [], events(*told)
    )


def spans(timeline: Timeline) -> list[tuple[str, int | None, int | None, str]]:
    return [(type(step.what).__name__, step.start_ms, step.end_ms, step.state) for step in timeline.steps]


def only(timeline: Timeline, kind: type[T]) -> tuple[Step, T]:
    """Return the one step of this kind, and what it was."""
    (found,) = [(step, step.what) for step in timeline.steps if isinstance(step.what, kind)]
    return found


BEGUN: Told = (41, "begun", {"owner": 1, "attempt": 1})


def completion(number: int, start: int, end: int, **said: object) -> list[Told]:
    return [
        (start, "thinking", {"completion": str(number)}),
        (end, "step", {"completion": str(number), "text": "", "calls": [], "tokens": 210, **said}),
    ]


CALL: Told = (600, "tool_call", {"call": "1.0", "tool": "issue_refund", "arguments": "{}"})
RESULT: Told = (
    900,
    "tool_result",
    {"call": "1.0", "tool": "issue_refund", "ok": True, "result": {"refund_id": "rf_1"}},
)
CLAIM: Told = (650, "claim", {"call": "1.0", "order_id": "A1", "amount_cents": 500, "answer": "claimed"})
SETTLE: Told = (880, "settle", {"state": "paid"})
WHOLE = [BEGUN, *completion(1, 50, 590), CALL, CLAIM, SETTLE, RESULT, *completion(2, 910, 1_900)]


def test_a_whole_turn_is_waited_thought_claimed_sent_and_ended_in_this_order() -> None:
    record = replace(RECORD, completions_used=2, refund=PAID)
    timeline = read_timeline(file(*WHOLE, record=record, messages=ASKED, claimed=640, settled=879))

    assert spans(timeline) == [
        ("Waiting", 0, 40, "done"),
        ("Completion", 50, 590, "done"),
        ("ToolUse", 600, 900, "done"),
        ("ClaimTried", 650, 650, "done"),
        ("Sent", 650, 880, "done"),
        ("Completion", 910, 1_900, "done"),
        ("Ending", 2_000, 2_000, "done"),
    ]
    assert [step.depth for step in timeline.steps] == [0, 0, 0, 1, 1, 0, 0]
    assert (timeline.deadline_ms, timeline.ended_ms, timeline.workers) == (120_000, 2_000, 1)


def test_a_running_turn_shows_what_is_still_going_on() -> None:
    timeline = read_timeline(file(BEGUN, (50, "thinking", {"completion": "1"}), record=RUNNING))
    assert spans(timeline)[-1] == ("Completion", 50, None, "open")
    assert timeline.last_ms == timeline.now_ms == 9_000


def test_a_completion_that_is_counted_but_has_not_begun_is_not_shown_as_missing() -> None:
    timeline = read_timeline(file(BEGUN, record=replace(RUNNING, completions_used=1)))
    assert spans(timeline) == [("Waiting", 0, 40, "done")]


def test_a_turn_that_nobody_has_taken_is_waiting() -> None:
    queued = TurnFile(replace(RUNNING, state="queued", epoch=0), TurnTimes(BORN + 700))
    assert spans(read_timeline(queued)) == [("Waiting", 0, None, "open")]


def test_a_turn_that_ended_before_anybody_took_it_waited_to_its_end() -> None:
    given_up = replace(RECORD, epoch=0, outcome=DeadlinePassed())
    ended = TurnFile(given_up, TurnTimes(BORN + 200_000, ended=BORN + 120_000))
    assert spans(read_timeline(ended)) == [
        ("Waiting", 0, 120_000, "done"),
        ("Ending", 120_000, 120_000, "done"),
    ]


def test_a_timeout_is_followed_by_its_backoff_and_the_second_attempt() -> None:
    told = [*completion(1, 50, 20_050, problem="timed out"), *completion(2, 22_060, 23_000)]
    timeline = read_timeline(file(BEGUN, *told, record=replace(RECORD, completions_used=2, attempts=2)))

    step, backoff = only(timeline, Backoff)
    assert (backoff, step.start_ms, step.end_ms) == (Backoff(2), 20_050, 22_060)
    made = [step.what for step in timeline.steps if isinstance(step.what, Completion)]
    assert [(one.attempt, one.timed_out) for one in made] == [(1, True), (2, False)]


def test_the_next_worker_leaves_what_the_lost_one_had_begun_without_an_end() -> None:
    resumed: Told = (15_000, "begun", {"owner": 3, "attempt": 1})
    record = replace(RECORD, epoch=3, completions_used=2)
    timeline = read_timeline(
        file(
            BEGUN,
            (50, "thinking", {"completion": "1"}),
            resumed,
            *completion(2, 15_010, 15_900),
            record=record,
        )
    )

    assert spans(timeline)[1:4] == [
        ("Completion", 50, None, "lost"),
        ("Unattended", 50, 15_000, "done"),
        ("Completion", 15_010, 15_900, "done"),
    ]
    assert (only(timeline, Unattended)[1], timeline.workers) == (Unattended(1), 2)


def test_a_turn_between_two_workers_is_unattended_until_now() -> None:
    handed_over = replace(RUNNING, state="queued", epoch=2)
    timeline = read_timeline(file(BEGUN, (50, "thinking", {"completion": "1"}), record=handed_over))
    assert spans(timeline)[1:] == [("Completion", 50, None, "lost"), ("Unattended", 50, None, "open")]


def test_a_silent_workers_step_is_not_said_to_be_going_on() -> None:
    timeline = read_timeline(
        file(BEGUN, (50, "thinking", {"completion": "1"}), record=RUNNING, lease_until=8_000)
    )
    assert timeline.worker_is_silent
    assert spans(timeline)[-1] == ("Completion", 50, None, "lost")


def test_a_call_that_a_dead_worker_claimed_and_the_next_one_told_again_has_one_send() -> None:
    unknown = replace(PAID, state="unknown", detail="the worker died before it could settle")
    record = replace(RECORD, epoch=3, completions_used=2, refund=unknown)
    again = [(20_000 + at, kind, body) for at, kind, body in (CALL, RESULT)]
    timeline = read_timeline(
        file(
            *[BEGUN, *completion(1, 50, 590), CALL, CLAIM, (19_000, "begun", {"owner": 3})],
            *[*again, *completion(2, 21_000, 22_000)],
            record=record,
            claimed=640,
            settled=18_000,
        )
    )

    sent, _ = only(timeline, Sent)
    assert (sent.start_ms, sent.end_ms, sent.state) == (650, None, "lost"), (
        "when payments answered is not known"
    )
    assert isinstance(timeline.steps[timeline.steps.index(sent) - 1].what, ClaimTried)


def test_a_resolved_refund_does_not_seem_to_have_taken_until_its_resolution() -> None:
    resolved = file(record=replace(RECORD, refund=PAID), claimed=640, settled=86_400_000)
    resolved = replace(resolved, resolution=RESOLUTION)
    assert only(read_timeline(resolved), Sent)[0].end_ms is None


def test_a_turn_without_a_journal_shows_what_its_rows_know_and_no_time_more() -> None:
    record = replace(RECORD, completions_used=2, refund=PAID)
    timeline = read_timeline(file(record=record, messages=ASKED, claimed=640, settled=879))

    assert not timeline.is_recorded
    assert spans(timeline) == [
        ("Waiting", 0, 40, "done"),
        ("Completion", None, None, "lost"),
        ("Completion", None, None, "lost"),
        ("ToolUse", None, None, "lost"),
        ("Sent", 640, 879, "done"),
        ("Ending", 2_000, 2_000, "done"),
    ]
    _, use = only(timeline, ToolUse)
    assert (use.tool, use.result, use.ok) == ("issue_refund", '{"refund_id": "rf_1"}', True)


def test_a_lost_result_is_told_from_the_transcript_and_its_time_is_not() -> None:
    told = [event for event in WHOLE if event is not RESULT]
    step, use = only(read_timeline(file(*told, messages=ASKED)), ToolUse)
    assert (step.start_ms, step.end_ms, step.state) == (600, None, "lost")
    assert use.ok is True


def test_a_lost_completion_stands_in_its_place_without_a_time() -> None:
    told = [*completion(1, 50, 590), *completion(3, 910, 1_900)]
    timeline = read_timeline(file(BEGUN, *told, record=replace(RECORD, completions_used=3)))
    made = [(step.what.number, step.start_ms) for step in timeline.steps if isinstance(step.what, Completion)]
    assert made == [(1, 50), (2, None), (3, 910)]


def test_the_policys_word_comes_with_every_rule_that_was_asked() -> None:
    rules = [
        {"rule": "final_sale", "verdict": "passes", "facts": {"final_sale": False}},
        {"rule": "return_window_closed", "verdict": "objects", "facts": {"days_since_delivery": 31}},
    ]
    policy: Told = (
        640,
        "policy",
        {"call": "1.0", "decision": "denied", "version": "2026-11", "rules": rules},
    )
    step, judged = only(read_timeline(file(BEGUN, CALL, policy, RESULT)), Judged)

    assert step.depth == 1
    assert judged.findings == (
        RuleFinding("final_sale", "passes", (("final_sale", "False"),)),
        RuleFinding("return_window_closed", "objects", (("days_since_delivery", "31"),)),
    )


def test_what_a_tool_merely_asked_the_policy_is_told_with_its_reason() -> None:
    asked: Told = (
        640,
        "policy",
        {"call": "1.0", "decision": "denied", "because": "Too late.", "policy": "2026-11"},
    )
    _, judged = only(read_timeline(file(BEGUN, asked)), Judged)
    assert (judged.because, judged.version, judged.findings) == ("Too late.", "2026-11", ())


@pytest.mark.parametrize(
    ("told", "what"),
    [
        (("settle", {"by": "sweeper", "state": "unknown"}), Lapsed()),
        (
            ("flag", {"kind": "override", "excerpt": "ignore all rules"}),
            Flagged("override", "ignore all rules"),
        ),
        (("news_of_a_later_version", {"x": 1}), Noted("news_of_a_later_version")),
    ],
    ids=["lapse", "flag", "a kind of a later version"],
)
def test_other_events_are_moments(told: tuple[Any, dict[str, object]], what: object) -> None:
    assert read_timeline(file(BEGUN, (45, *told))).steps[1] == Step(what, 45, 45)  # type: ignore[arg-type]  # a What


def test_a_provider_that_tells_no_tokens_leaves_them_and_their_price_unknown() -> None:
    _, made = only(read_timeline(file(BEGUN, *completion(1, 50, 590, tokens=0))), Completion)
    assert (made.tokens, made.cost_microdollars) == (None, None)


def test_a_clock_that_was_set_back_gives_no_duration() -> None:
    assert only(read_timeline(file(BEGUN, *completion(1, 500, 300))), Completion)[0].took_ms is None


# --- Whatever was lost -----------------------------------------------------------------------------

_VALUES = (
    st.none() | st.booleans() | st.integers(-5, 10) | st.sampled_from(["1", "1.0", "timed out", "claimed"])
)
_NAMES = ("completion", "call", "owner", "attempt", "problem", "answer", "rules", "calls", "result", "ok")
_BODIES = st.dictionaries(st.sampled_from(_NAMES), _VALUES | st.lists(_VALUES, max_size=2), max_size=5)
_ANY_EVENT = st.builds(
    Event,
    st.just("t-1"),
    st.integers(1, 99),
    st.sampled_from(get_args(EventKind)),
    _BODIES,
    st.integers(BORN - 100, BORN + 200_000),
)
_RECORDS = st.builds(
    replace,
    st.just(RECORD),
    epoch=st.integers(0, 7),
    completions_used=st.integers(0, 5),
    refund=st.none() | st.builds(replace, st.just(PAID), state=st.sampled_from(get_args(GateState))),
) | st.builds(replace, st.just(RUNNING), state=st.sampled_from(["stored", "queued", "running"]))
_AT = st.none() | st.integers(BORN, BORN + 200_000)


@given(
    record=_RECORDS,
    told=st.lists(_ANY_EVENT, max_size=12) | st.lists(st.sampled_from(events(*WHOLE)), unique_by=id),
    times=st.builds(
        TurnTimes, st.just(BORN + 1), begun=_AT, ended=_AT, claimed=_AT, settled=_AT, lease_until=_AT
    ),
    answered=st.booleans(),
)
def test_whatever_events_are_left_nothing_raises_and_no_time_is_invented(
    record: TurnRecord, told: list[Event], times: TurnTimes, *, answered: bool
) -> None:
    timeline = read_timeline(TurnFile(record, times, ASKED if answered else [], told))

    written = {event.at_ms for event in told} | {times.begun, times.ended, times.claimed, times.settled, BORN}
    shown = {at for step in timeline.steps for at in (step.start_ms, step.end_ms) if at is not None}
    assert {BORN + at for at in shown} <= written
    assert isinstance(timeline.steps[0].what, Waiting)
    assert timeline.is_running == (timeline.count(Ending) == 0)
    assert all(step.end_ms is None for step in timeline.steps if step.state == "open")
    assert timeline.is_running or not any(
        step.state == "open" for step in timeline.steps if timeline.ended_ms
    )


def test_a_turn_that_ended_by_its_budget_says_so() -> None:
    ended = file(record=replace(RECORD, outcome=BudgetExhausted(), completions_used=0))
    assert only(read_timeline(ended), Ending)[1] == Ending(BudgetExhausted())


@pytest.mark.parametrize(
    ("completions", "tokens", "cost", "known"),
    [(2, 0, 0, None), (2, 9, 0, 0), (2, 9, 70, 70), (2, 9, None, None), (0, 0, 0, 0)],
    ids=["never answered", "a price of nothing", "priced", "no price", "none made"],
)
def test_completions_that_nobody_answered_did_not_cost_nothing(
    completions: int, tokens: int, cost: int | None, known: int | None
) -> None:
    record = replace(RECORD, completions_used=completions)
    told = replace(file(record=record), tokens_used=tokens, cost_microdollars=cost)
    assert read_timeline(told).cost_microdollars == known
