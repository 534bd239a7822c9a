"""Two providers behind one completion."""

from collections.abc import Callable

import pytest

from refund_agent.fallback_model import FallbackModel
from refund_agent.outcomes import ProviderFailed, Replied
from refund_agent.ports import CompletionAnswer, CompletionFailed
from refund_agent.turn import UserMessage
from tests.fakes import FakeClock, FakeModel, fails, says, times_out
from tests.unit.desk import Desk

Script = CompletionAnswer | Callable[[], CompletionAnswer]


class Pair:
    """A first and a second provider, over one clock."""

    def __init__(self, first: list[Script], second: list[Script]) -> None:
        self.clock = FakeClock()
        self.first, self.second = FakeModel(*first), FakeModel(*second)
        self.model = FallbackModel(self.first, self.second, clock=self.clock)

    def ask(self, timeout_seconds: float = 20.0) -> CompletionAnswer:
        return self.model.complete(
            [UserMessage("hi")], [], request_id="turn-1-1", timeout_seconds=timeout_seconds
        )

    def fails_after(self, seconds: float) -> Callable[[], CompletionAnswer]:
        def fail() -> CompletionAnswer:
            self.clock.sleep(seconds)
            return fails("HTTP 500")

        return fail


def test_the_second_is_not_asked_while_the_first_answers() -> None:
    pair = Pair([says("one")], [])

    assert pair.ask() == says("one")
    assert pair.second.asked == []


def test_the_second_is_asked_once_when_the_first_fails() -> None:
    pair = Pair([fails("HTTP 500")], [says("two")])

    assert pair.ask() == says("two")
    (asked,) = pair.second.asked
    assert asked.messages == pair.first.asked[0].messages
    assert asked.request_id == "turn-1-1-fallback"


def test_the_second_has_what_the_first_left_of_the_completions_time() -> None:
    pair = Pair([], [says("two")])
    pair.first.script.append(pair.fails_after(12.0))
    pair.ask()

    assert pair.second.asked[0].timeout_seconds == pytest.approx(8.0)


def test_the_second_is_not_asked_when_less_than_a_second_is_left() -> None:
    pair = Pair([], [])
    pair.first.script.append(pair.fails_after(19.5))

    assert pair.ask() == fails("HTTP 500")


def test_a_time_out_is_the_loops_to_retry() -> None:
    pair = Pair([times_out()], [])

    assert pair.ask() == times_out()
    assert pair.second.asked == []


def test_when_both_fail_both_reasons_are_told() -> None:
    pair = Pair([fails("HTTP 500")], [fails("HTTP 401")])

    assert pair.ask() == CompletionFailed("HTTP 500; then, of the fallback: HTTP 401")


def test_a_fallback_is_no_second_completion_of_the_budget(desk: Desk) -> None:
    first = FakeModel(*[fails("HTTP 500")] * 5)
    second = FakeModel(says("done"))
    turn = desk.begin()
    desk.model = FallbackModel(first, second, clock=desk.clock)  # type: ignore[assignment]  # a model like any other
    outcome = desk.loop().run(turn)

    assert outcome == Replied("done")
    assert turn.completions_used == 1


def test_two_failures_end_the_turn_as_one_does(desk: Desk) -> None:
    turn = desk.begin()
    desk.model = FallbackModel(FakeModel(fails("a")), FakeModel(fails("b")), clock=desk.clock)  # type: ignore[assignment]  # same
    outcome = desk.loop().run(turn)

    assert isinstance(outcome, ProviderFailed)
    assert turn.completions_used == 1
