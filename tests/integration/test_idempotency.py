"""One idempotency key, one turn, whatever arrives at the same instant."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from refund_agent.outcomes import Created, Joined, KeyReused, NotAccepted, Replied
from refund_agent.turn import NewTurn
from tests.integration.conftest import CALL, Stores


def new_turn(key: str = "k", fingerprint: str = "f") -> NewTurn:
    return NewTurn(str(uuid.uuid4()), "user-1", "refund", "", key, fingerprint)


@pytest.mark.fault(26, 34)
def test_of_many_requests_with_one_key_one_is_stored_and_the_others_join_it(stores: Stores) -> None:
    asked = [new_turn() for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(stores.turns.create, asked))
    first = asked[answers.index(Created())].id
    assert answers.count(Created()) == 1
    assert answers.count(Joined(first)) == 9


@pytest.mark.fault(28)
def test_a_key_of_another_body_stores_nothing(stores: Stores) -> None:
    stores.turns.create(new_turn(fingerprint="one"))
    other = new_turn(fingerprint="two")
    assert stores.turns.create(other) == KeyReused()
    assert stores.turns.find(other.id) is None


@pytest.mark.fault(32)
def test_turns_without_a_key_never_join(stores: Stores) -> None:
    assert [stores.turns.create(new_turn(key="")) for _ in range(2)] == [Created(), Created()]


def test_an_ended_turn_keeps_its_key(stores: Stores) -> None:
    first = new_turn()
    stores.turns.create(first)
    turn = stores.turns.begin(first.id, owner="w")
    assert turn is not None
    stores.turns.end(turn, Replied("done"))
    assert stores.turns.create(new_turn()) == Joined(first.id)


def test_a_turn_that_can_never_run_frees_its_key(stores: Stores) -> None:
    first = new_turn()
    stores.turns.create(first)
    stores.turns.give_up(first.id, NotAccepted())
    assert stores.turns.create(new_turn()) == Created()


def test_a_turn_whose_refund_was_attempted_keeps_its_key_for_good(stores: Stores) -> None:
    first = new_turn()
    stores.turns.create(first)
    turn = stores.turns.begin(first.id, owner="w")
    assert turn is not None
    stores.ledger.claim(turn, call=CALL, order_id="A1", amount_cents=5)
    stores.turns.give_up(first.id, NotAccepted())
    assert stores.turns.create(new_turn()) == Joined(first.id)
