"""One delivery of one turn's message: begin, let its agent run it, end, wake whoever waits."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import structlog
from structlog.contextvars import bound_contextvars

from refund_agent.outcomes import Broken, ProviderFailed, Superseded, TurnOutcome
from refund_agent.ports import Hints, StoreUnavailable, Turns
from refund_agent.turn import Agent, RunsTurns, Turn

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """No such turn, or it is taken, ended or too late: a duplicate or stray message is harmless."""


@dataclass(frozen=True, slots=True)
class LeftForAnother:
    """The database went away, or a bug of ours; the lease will lapse and another worker resumes the turn."""


DeliveryEnding: TypeAlias = TurnOutcome | Superseded | NothingToDo | LeftForAnother


class Runner:
    """Runs turns for one worker process, named `owner`."""

    def __init__(
        self,
        *,
        turns: Turns,
        agents: Mapping[Agent, RunsTurns],
        hints: Hints,
        owner: str,
    ) -> None:
        self._turns = turns
        self._agents = agents
        self._hints = hints
        self._owner = owner
        self._running: set[tuple[str, object]] = set()

    def running(self) -> frozenset[str]:
        """Return the turns this process is running now: those whose leases it keeps."""
        return frozenset(turn_id for turn_id, _ in self._running.copy())

    def run(self, turn_id: str) -> DeliveryEnding:
        """Run the turn stored under `turn_id`, if it is there to be taken; never raises."""
        try:
            with self._in_hand(turn_id):
                turn = self._turns.begin(turn_id, owner=self._owner)
                if turn is None:
                    return NothingToDo()
                with bound_contextvars(request_id=turn.request_id):
                    return self._run(turn)
        except StoreUnavailable as error:
            log.warning("turn_left_for_another", turn_id=turn_id, error=str(error))
            return LeftForAnother()
        except Exception:
            log.exception("turn_left_for_another", turn_id=turn_id)
            return LeftForAnother()

    @contextmanager
    def _in_hand(self, turn_id: str) -> Generator[None]:
        # From before it is taken: its lease runs from that very moment, and this thread may be held up then.
        # By run too: a process may take over its own turn, and the old run's end is not the new one's.
        held = (turn_id, object())
        self._running.add(held)
        try:
            yield
        finally:
            self._running.discard(held)

    def _run(self, turn: Turn) -> DeliveryEnding:
        outcome = self._outcome(turn)
        if isinstance(outcome, Superseded):
            return outcome
        if not self._turns.end(turn, outcome):
            return Superseded()
        self._hints.ended(turn.id)
        why = {"reason": outcome.reason} if isinstance(outcome, ProviderFailed | Broken) else {}
        log.info("turn_ended", turn_id=turn.id, outcome=type(outcome).__name__, epoch=turn.epoch, **why)
        return outcome

    def _outcome(self, turn: Turn) -> TurnOutcome | Superseded:
        try:
            return self._agents[turn.agent].run(turn)
        except StoreUnavailable:
            raise
        except Exception as bug:
            log.exception("turn_broken", turn_id=turn.id)
            return Broken(type(bug).__name__)
