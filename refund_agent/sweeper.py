"""What keeps the promise when processes die: every worker sweeps, and a doubled sweep is harmless.

The sweeper never sends a refund and never makes a claim sendable again. It ends what is overdue, makes
`unknown` what was claimed by a dead worker, and puts turns whose worker went silent back in the queue.
"""

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import takewhile

import structlog

from refund_agent.journal import Journal
from refund_agent.outcomes import Broken, DeadlinePassed, NotAccepted, TurnOutcome
from refund_agent.ports import Audit, Hints, Queue, QueueUnavailable, Sweeps, Turns

log = structlog.stdlib.get_logger(__name__)


class Sweeper:
    """One pass over what other processes may have left behind."""

    def __init__(  # noqa: PLR0913 - the ports of the sweeper, all in sight
        self,
        *,
        sweeps: Sweeps,
        turns: Turns,
        queue: Queue,
        audit: Audit,
        hints: Hints,
        journal: Journal,
    ) -> None:
        self._sweeps = sweeps
        self._turns = turns
        self._queue = queue
        self._audit = audit
        self._hints = hints
        self._journal = journal

    def sweep(self, *, silence_means_death: bool = True) -> None:
        """Mend everything once; raises `StoreUnavailable` and is then simply run again later.

        Unless `silence_means_death`, nobody is taken for dead who merely could not renew a lease.
        """
        self._end(self._sweeps.overdue(), DeadlinePassed())
        self._end(self._sweeps.never_queued(), NotAccepted(), only_stored=True)
        if silence_means_death:
            self._lapse_claims()
            self._end(self._sweeps.hopeless(), Broken("WorkerLost"))
        self._resume_turns(of_the_silent=silence_means_death)
        self._mirror()

    def hand_over(self, turn_ids: Collection[str], *, owner: str) -> None:
        """Let other workers finish these turns of a stopping one, except those with a refund in flight."""
        with _as_far_as_the_broker_answers():
            for turn_id in self._sweeps.release(turn_ids, owner=owner):
                log.info("turn_handed_over", turn_id=turn_id)
                self._queue.put(turn_id)

    def _end(self, turn_ids: Sequence[str], outcome: TurnOutcome, *, only_stored: bool = False) -> None:
        for turn_id in turn_ids:
            if self._turns.give_up(turn_id, outcome, only_stored=only_stored).outcome != outcome:
                continue  # something came first
            self._hints.ended(turn_id)
            log.error("turn_ended_by_sweeper", turn_id=turn_id, outcome=type(outcome).__name__)

    def _lapse_claims(self) -> None:
        for record in self._sweeps.lapse_claims():
            log.error("refund_unknown", turn_id=record.turn_id, why="its worker died before it could settle")
            self._journal.note(record.turn_id, "settle", {"by": "sweeper", **asdict(record)})

    def _resume_turns(self, *, of_the_silent: bool) -> None:
        """Queue lost turns again, and silent workers'; what cannot be published now is found again later."""
        with _as_far_as_the_broker_answers():
            for turn_id in self._sweeps.take_over() if of_the_silent else ():
                log.warning("turn_taken_over", turn_id=turn_id)
                self._queue.put(turn_id)
            if self._queue.is_empty():
                for turn_id in self._sweeps.requeue_lost():
                    log.warning("turn_queued_again", turn_id=turn_id)
                    self._queue.put(turn_id)

    def _mirror(self) -> None:
        """Catch the audit mirror up; while Redis is away one try is enough."""
        mirrored = list(takewhile(self._audit.mirror, self._sweeps.not_mirrored()))
        if mirrored:
            self._sweeps.mark_mirrored(mirrored)


@contextmanager
def _as_far_as_the_broker_answers() -> Generator[None]:
    """End the block, with a line in the log, where the broker cannot be asked: it is asked once a sweep."""
    try:
        yield
    except QueueUnavailable as error:
        log.warning("sweeper_cannot_queue", error=str(error))
