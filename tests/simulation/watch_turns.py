"""What must hold for the rows of `turns`: one owner at a time, counts that only grow, ends that stay."""

from tests.simulation.lives import Life, Lives
from tests.simulation.scheduler import Actor

NEXT_STATES = {
    "": {"stored"},
    "stored": {"stored", "queued", "running", "ended"},
    "queued": {"queued", "running", "ended"},
    "running": {"running", "queued", "ended"},
    "ended": set[str](),
}
MAX_OWNERS = 4
LEASES_UNTROUBLED = 2


class TurnWatch:
    """Checks each committed write of a turn against the row that it replaced."""

    def __init__(self, lives: Lives, *, lease_seconds: float) -> None:
        self._lives = lives
        self._lease_seconds = lease_seconds

    def written(self, life: Life, row: tuple[object, ...]) -> None:
        """Compare, then keep the new row."""
        _, state, epoch, owner, used, attempts, flag, transcript, outcome, reply, key, deadline, lease, _ = (
            row
        )
        must, actor = self._lives.must, self._lives.stage.scheduler.current
        assert isinstance(epoch, int) and isinstance(used, int) and isinstance(attempts, int)  # noqa: PT018
        assert isinstance(transcript, str) and isinstance(deadline, int)  # noqa: PT018
        must(
            state in NEXT_STATES[life.state], "turn states only go forward", life, f"{life.state} -> {state}"
        )
        must(
            epoch >= life.epoch
            and used >= life.used
            and attempts >= life.attempts
            and (flag or not life.flag),
            "counts and flag never go back",
            life,
        )
        must(used <= 5 and attempts <= 2, "five completions and two attempts at most", life)
        must(
            transcript.startswith(life.transcript[:-1]),
            "the stored transcript only grows",
            life,
            f"{life.transcript} -> {transcript}",
        )
        must(not (flag and life.key and key is None), "a key stays with an attempted refund", life)
        before = life.state
        if actor is not None and actor.name == "run":
            self._written_by_a_run(life, actor, before=before, state=str(state), epoch=epoch)
        if before == "running" and state == "queued":
            self._handed_on(life)
            # A worker that was told to stop and hands its turn over is not one that the turn has cost.
            if actor is not None and actor.process.is_stopping and actor.process.name == life.owner:
                life.handed_over += 1
        life.state, life.epoch, life.owner = str(state), epoch, str(owner)
        life.used, life.attempts, life.flag, life.transcript = used, attempts, bool(flag), transcript
        life.outcome = None if outcome is None else str(outcome)
        life.reply = None if reply is None else str(reply)
        life.deadline = deadline / 1000
        life.lease_until = lease / 1000 if isinstance(lease, int) else 0.0
        life.was_queued = life.was_queued or state == "queued"

    def _written_by_a_run(self, life: Life, actor: Actor, *, before: str, state: str, epoch: int) -> None:
        must = self._lives.must
        if before != "running" and state == "running":
            life.owners += 1
            is_cheap = life.owners - life.put_off - life.handed_over <= MAX_OWNERS
            must(is_cheap, "a turn costs four workers at most", life)
            must(not life.told_never_runs, "a turn told 503 never runs", life)
            must(self._lives.now <= life.deadline + 0.001, "no turn begins after its deadline", life)
            return
        mine = actor.turn is not None and actor.turn.id == life.id and actor.turn.epoch == epoch
        must(
            mine and before == "running", "a stale owner writes nothing", life, f"epoch {epoch}, was {before}"
        )
        life.put_off += state == "queued"

    def _handed_on(self, life: Life) -> None:
        """A sweeper took the turn from its owner."""
        must = self._lives.must
        must(
            life.gate is None or life.gate.state != "claimed",
            "an open claim is decided before a hand-over",
            life,
        )
        self.must_be_silent(life, "a healthy worker keeps its turns")

    def must_be_silent(self, life: Life, invariant: str) -> None:
        """The owner of a running turn must have given cause to be taken for dead."""
        for process in self._lives.stage.workers:
            in_hand = any(
                a.turn is not None and (a.turn.id, a.turn.epoch) == (life.id, life.epoch)
                for a in process.actors
            )
            if process.is_alive and process.name == life.owner and in_hand:
                quiet_since = self._lives.now - LEASES_UNTROUBLED * self._lease_seconds
                self._lives.must(process.troubled_at > quiet_since, invariant, life, f"owner {life.owner}")
