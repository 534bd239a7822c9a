"""One episode of the support agent: the same world, with a shop, talks of several messages, and staff."""

import uuid
from datetime import UTC, datetime
from typing import cast
from unittest.mock import patch

from tests.simulation.hostile_calls import Calls
from tests.simulation.scheduler import Process
from tests.simulation.stage import Breach
from tests.simulation.support_calls import SupportCalls
from tests.simulation.support_core import SupportCore
from tests.simulation.support_people import SupportWeb, Talks
from tests.simulation.support_shop import MIDNIGHT, Shop
from tests.simulation.support_witness import SupportWitness
from tests.simulation.webs import WebProcess
from tests.simulation.world import World

LOST_HOURS = 0.25


class SupportWorld(World):
    """The world of refund chat, with other people in it."""

    CORE = SupportCore
    witness: SupportWitness
    _core: SupportCore
    _portal: Talks

    def _make_calls(self, turns: int) -> Calls:
        del turns
        self.stage.scheduler.now = MIDNIGHT - self.rng.random() * 200.0
        today = datetime.fromtimestamp(self.stage.scheduler.now, UTC).date()
        self._shop = Shop(self._database, self.rng, today=today)
        return SupportCalls(self.rng, self._shop)

    def _make_witness(self, calls: Calls) -> SupportWitness:
        assert isinstance(calls, SupportCalls)
        return SupportWitness(self.stage, self._database, calls, self._timing, self._shop)

    def _make_portal(self) -> Talks:
        webs = cast("list[SupportWeb]", self._webs)
        talks = Talks(self.stage, self.witness.lives, self._webs)
        talks.webs, talks.witness, talks.owes = webs, self.witness, self._payments.owes
        talks.customer_ids = [customer.id for customer in self._shop.customers]
        return talks

    def _make_web(self, process: Process) -> WebProcess:
        return SupportWeb(self.stage, process, self._core, self.witness)

    def _people(self, turns: int) -> None:
        self._core.shop, self._core.stage = self._shop, self.stage
        self.witness.when_approved = self._may_lose_its_hour
        self._shop.open()
        super()._people(turns)
        rng, scheduler = self.rng, self.stage.scheduler
        span = self.last_arrival - scheduler.now
        for act, most in (
            (self._portal.staff_act, 60),
            (self._portal.look_up_an_unknown, 20),
            (self._change_an_order, 12),
            (self._let_an_approval_expire, 4),
            (self._tamper_with_an_approval, 4),
        ):
            for _ in range(rng.randrange(most + 1)):
                scheduler.at(scheduler.now + rng.random() * span * 1.5, act)

    # --- what happens to the shop meanwhile -------------------------------------------------------

    def _change_an_order(self) -> None:
        """Take an order's refund away, mostly of one whose approval waits."""
        waiting = [one.arguments[1] for one in self.witness.approvals.values() if one.state == "pending"]
        orders = waiting or [order.id for order in self._shop.orders]
        self.stage.note_for("", self._shop.change(self.rng.choice(orders)))

    def _let_an_approval_expire(self) -> None:
        """Let the days of one that waits be over."""
        waiting = [one for one in self.witness.approvals.values() if one.state == "pending"]
        if waiting:
            approval = self.rng.choice(waiting)
            approval.expires_at_ms = int(self.stage.scheduler.now * 1000)
            self._database.by_the_world(
                "UPDATE approvals SET expires_at_ms = ? WHERE id = ?", approval.expires_at_ms, approval.id
            )
            self._portal.press(approval.id)

    def _may_lose_its_hour(self, approval_id: str) -> None:
        """Let the time in which an approved refund must have been sent be over, soon after the decision."""
        if self.rng.random() < LOST_HOURS:
            scheduler = self.stage.scheduler
            scheduler.at(
                scheduler.now + self.stage.faults.seconds(0.01, 20.0),
                lambda: self._lose_its_hour(approval_id),
            )

    def _lose_its_hour(self, approval_id: str) -> None:
        life = self.witness.lives.of[approval_id]
        # A worker that has begun keeps the deadline that it was given, so it must have claimed by then.
        if life.state == "queued" or (life.state == "running" and life.gate is not None):
            now = self.stage.scheduler.now
            self.stage.note_for(approval_id, "its hour is over")
            life.asked_at = now - self._timing.deadline_seconds
            self._database.by_the_world(
                "UPDATE turns SET deadline_at_ms = ? WHERE id = ?", int(now * 1000), approval_id
            )

    def _tamper_with_an_approval(self) -> None:
        """Change what one is for, past the service."""
        waiting = [one for one in self.witness.approvals.values() if one.state == "pending"]
        if waiting:
            approval = self.rng.choice(waiting)
            approval.is_tampered = True
            self.stage.note_for(approval.id, "somebody writes into the approval's row")
            self._database.by_the_world(
                "UPDATE approvals SET amount_cents = amount_cents - 1 WHERE id = ?", approval.id
            )
            self._portal.press(approval.id)

    def run(self) -> list[Breach]:
        """Run as any episode, with ids that are the same each time."""

        def drawn() -> uuid.UUID:
            return uuid.UUID(int=self.rng.getrandbits(128), version=4)

        with patch.object(uuid, "uuid4", drawn):
            return super().run()
