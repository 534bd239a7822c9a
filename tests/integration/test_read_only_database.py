"""A database that has become read-only in a failover is away, like one that does not answer."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import event, insert, select
from sqlalchemy.exc import IntegrityError

from refund_agent.adapters.sql_tables import turns
from refund_agent.outcomes import Paid, Replied
from refund_agent.ports import StoreUnavailable
from refund_agent.turn import NewTurn
from tests.integration.conftest import CALL, Stores

CANARY = "my-secret-words"


@pytest.fixture
def becomes_read_only(stores: Stores) -> Iterator[Callable[[], None]]:
    """Give what makes every connection refuse to write, as a demoted primary does."""
    postgresql = stores.database.is_postgresql
    refuse = "SET default_transaction_read_only = on" if postgresql else "PRAGMA query_only = ON"
    allow = "SET default_transaction_read_only = off" if postgresql else "PRAGMA query_only = OFF"

    def tell(statement: str) -> Callable[..., None]:
        def say(connection: Any, _record: object, _proxy: object) -> None:
            connection.execute(statement)

        return say

    refusing = tell(refuse)
    yield lambda: event.listen(stores.database.engine, "checkout", refusing)
    if event.contains(stores.database.engine, "checkout", refusing):
        event.remove(stores.database.engine, "checkout", refusing)
    event.listen(stores.database.engine, "checkout", tell(allow))


@pytest.mark.fault(100)
def test_no_step_of_a_turn_mistakes_it_for_a_bug(
    stores: Stores, becomes_read_only: Callable[[], None]
) -> None:
    stored, running, (turn, record) = stores.stored(), stores.running(), stores.claimed()
    stores.turns.mark_queued(stored)
    becomes_read_only()

    for step in (
        lambda: stores.turns.create(NewTurn("new", "user-1", CANARY)),
        lambda: stores.turns.begin(stored, owner="w2"),
        lambda: stores.turns.checkpoint(running),
        lambda: stores.ledger.claim(running, call=CALL, order_id="A2", amount_cents=5),
        lambda: stores.ledger.settle(record, epoch=turn.epoch, answer=Paid("r-1", "ok", 500)),
        lambda: stores.turns.end(running, Replied(CANARY)),
        lambda: stores.turns.give_up(stored, Replied("")),
        stores.sweeps.take_over,
    ):
        with pytest.raises(StoreUnavailable):
            step()

    assert stores.turns.find("new") is None


def test_what_a_statement_was_given_is_never_in_the_text_of_its_error(stores: Stores) -> None:
    stored = stores.stored()
    with stores.database.transaction() as tx:
        row = tx.execute(select(turns).where(turns.c.id == stored)).mappings().one()

    with pytest.raises(IntegrityError) as caught, stores.database.transaction() as tx:
        tx.execute(insert(turns), {**row, "transcript": CANARY})

    assert CANARY not in str(caught.value)
