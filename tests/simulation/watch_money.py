"""What must hold for the ledger and for payments' own list of the money that moved."""

from refund_agent.refunds import SEND_WITHIN_SECONDS
from tests.simulation.lives import OPEN, Gate, Life, Lives
from tests.simulation.watch_turns import TurnWatch

NEXT_STATES = {
    "": {"closed", "claimed"},
    "claimed": {"claimed", "paid", "rejected", "not_sent", "unknown"},
    "unknown": {"unknown"},
    "paid": {"paid"},
    "rejected": {"rejected"},
    "not_sent": {"not_sent"},
    "closed": {"closed"},
}
"""No way from an attempt back to anything that could be sent."""
RESOLVED = frozenset({"paid", "not_sent"})
"""What an unknown one may become, by a person's answer and nothing else."""
MAY_HAVE_MOVED = frozenset({"claimed", "unknown", "paid"})


class MoneyWatch:
    """Checks each committed write of the ledger, each request, and each movement of money."""

    def __init__(
        self, lives: Lives, turns: TurnWatch, *, settle_seconds: float, needed_seconds: float
    ) -> None:
        self._lives = lives
        self._turns = turns
        self._settle_seconds = settle_seconds
        self._needed_seconds = needed_seconds

    def written(self, life: Life, row: tuple[object, ...]) -> None:
        """Compare a ledger row with the one it replaced, then keep it."""
        _, state, epoch, call, order_id, amount_cents, refund_id, status, detail = row
        assert isinstance(epoch, int) and isinstance(amount_cents, int)  # noqa: PT018
        texts = (str(refund_id), str(status), str(detail))
        new = Gate(str(state), epoch, str(call), str(order_id), amount_cents, *texts)
        old, must = life.gate, self._lives.must
        before = old.state if old else ""
        by_person = self._lives.stage.scheduler.me().name == "staff"
        forward = RESOLVED if by_person and before == "unknown" else NEXT_STATES[before]
        must(new.state in forward, "the gate only goes forward", life, f"{before} -> {new.state}")
        if old:
            must(
                (old.epoch, old.call, old.order_id, old.amount_cents)
                == (new.epoch, new.call, new.order_id, new.amount_cents),
                "a claim is never rewritten",
                life,
            )
            new.claimed_at, new.claimant, new.states = old.claimed_at, old.claimant, old.states
        if before != new.state:
            new.states = [*new.states, new.state]
            self._changed(life, before, new)
        life.gate = new
        self._keep_order(life, new)

    def _changed(self, life: Life, before: str, new: Gate) -> None:
        actor, must = self._lives.stage.scheduler.me(), self._lives.must
        if new.state == "claimed":
            new.claimed_at, new.claimant = self._lives.now, actor
            must(
                actor.read_clock_at + self._needed_seconds <= life.deadline + 0.002,
                "a claim leaves time for its answer",
                life,
            )
            must(
                not life.told_no_refund,
                "what was told about the refund stays true",
                life,
                "claimed after 'none'",
            )
        if before == "claimed" and actor.name != "run":
            must(new.state == "unknown", "a sweeper only ever makes a claim unknown", life, new.state)
            self._lapsed(life)
        if new.state == "paid":
            must(
                life.moved == [(new.order_id, new.amount_cents)],
                "paid means moved once, to the cent",
                life,
                str(life.moved),
            )
        if new.state not in MAY_HAVE_MOVED:
            must(
                not life.moved, "moved money is paid or unknown", life, f"{new.state} but moved {life.moved}"
            )

    def _lapsed(self, life: Life) -> None:
        """A sweeper made the claim unknown: its owner must have been silent, or gone for long."""
        assert life.gate is not None
        if life.state == "running" and life.epoch == life.gate.epoch:
            self._turns.must_be_silent(life, "a living worker's claim never lapses")
        else:
            age = self._lives.now - life.gate.claimed_at
            self._lives.must(
                age >= self._settle_seconds or life.state == "queued", "a claim lapses late", life
            )

    def _keep_order(self, life: Life, gate: Gate) -> None:
        if gate.state == "closed":
            return
        holders = self._lives.open_orders.setdefault(gate.order_id, set())
        if gate.state in OPEN:
            holders.add(life.id)
        else:
            holders.discard(life.id)
        self._lives.must(len(holders) <= 1, "an order has one open refund", life, str(sorted(holders)))

    def send_begins(self, life: Life) -> None:
        """A worker is about to send: its claim must be a fresh one."""
        age = self._lives.now - life.gate.claimed_at if life.gate else 0.0
        self._lives.must(age <= SEND_WITHIN_SECONDS, "no old claim is sent", life, f"{age:.1f} s")

    def asked(
        self, life: Life, order_id: str, amount_cents: int, committed: list[tuple[object, ...]]
    ) -> None:
        """A request has reached payments; `committed` is the turn's row, read from the database now."""
        must, actor, gate = self._lives.must, self._lives.stage.scheduler.me(), life.gate
        life.requests.append((order_id, amount_cents))
        must(len(life.requests) == 1, "one request a turn at most", life, str(life.requests))
        must(
            len(committed) == 1
            and committed[0][0] in OPEN
            and committed[0][1:] == (order_id, amount_cents)
            and gate is not None
            and gate.states[0] == "claimed"
            and gate.claimant is actor,
            "a committed claim of its own stands before each request",
            life,
            str(committed),
        )
        if life.key:
            asked_before = self._lives.requests_by_key.setdefault(life.key, [])
            asked_before.append(life.id)
            must(len(asked_before) == 1, "one request an idempotency key at most", life, str(asked_before))
        others = self._lives.open_orders.get(order_id, set()) - {life.id}
        must(not others, "no request for an order that is open elsewhere", life, str(sorted(others)))
        call = self._lives.calls.who_asked(life.id, order_id, amount_cents)
        must(
            call is not None and call.turn_id == life.id and call.order_id == order_id and call.may_run,
            "only a valid, whole call of the model is executed",
            life,
            str(call),
        )
        must(call is not None and call.completion < 5, "the fifth completion's calls are not executed", life)
        must(not life.told_no_refund, "what was told about the refund stays true", life, "asked after 'none'")

    def moved(self, life: Life, order_id: str, amount_cents: int) -> None:
        """Money has left."""
        life.moved.append((order_id, amount_cents))
        must, gate = self._lives.must, life.gate
        must(
            gate is not None
            and gate.state in MAY_HAVE_MOVED
            and life.moved == [(gate.order_id, gate.amount_cents)],
            "moved money is paid or unknown",
            life,
            f"{gate.state if gate else 'no row'}, moved {life.moved}",
        )
        must(
            not life.told_no_refund and not life.told_not_moved,
            "what was told about the refund stays true",
            life,
            "money moved after 'none' or 'not moved'",
        )
