"""AUTH_MODE=dev: who is picked is signed in, until the hour is over."""

import stat
import threading
from pathlib import Path

import pytest
import time_machine

from refund_agent.adapters.dev_identity import STAFF, DevIdentities, kept_secret
from refund_agent.identity import Customer, Identity, Person
from tests.unit.adapters.signing import sign

SECRET = "0123456789-0123456789-0123456789-dev"
ALICE = Person(Customer("customer-1"), "Alice")


def dev(secret: str = SECRET) -> DevIdentities:
    return DevIdentities(secret=secret, customers=lambda: [ALICE])


def test_the_picker_offers_the_customers_two_who_may_write_and_one_who_only_reads() -> None:
    assert dev().people() == [ALICE, *(Person(staff, staff.name) for staff in STAFF)]
    assert [staff.may_write for staff in STAFF] == [True, True, False]


@pytest.mark.parametrize("identity", [Customer("customer-1"), *STAFF])
def test_a_minted_token_names_who_was_picked_in_every_process(identity: Identity) -> None:
    assert dev().verify(dev().mint(identity)) == identity


def test_a_token_lasts_an_hour() -> None:
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False) as clock:
        token = dev().mint(ALICE.identity)
        clock.shift(3600)
        assert dev().verify(token) == ALICE.identity
        clock.shift(60)
        assert dev().verify(token) is None


def test_a_token_of_a_host_site_or_of_another_machine_names_nobody() -> None:
    assert dev().verify(sign(SECRET)) is None
    assert dev().verify(dev(SECRET.upper()).mint(ALICE.identity)) is None


def test_the_secret_is_made_once_and_kept_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "state" / "dev.key"
    first = kept_secret(file)

    assert len(first) == 64
    assert kept_secret(file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_processes_that_start_together_agree_on_it(tmp_path: Path) -> None:
    gate, found = threading.Barrier(8), []

    def start() -> None:
        gate.wait(timeout=5)
        found.append(kept_secret(tmp_path / "dev.key"))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)

    assert len(found) == 8
    assert len(set(found)) == 1
