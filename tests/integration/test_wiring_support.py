"""The support agent's parts as the settings make them, over real stores."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from refund_agent import wiring, wiring_agents, wiring_support
from refund_agent.adapters.openai_model import OpenAIModel
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_support_tables import customers
from refund_agent.adapters.sql_tables import kept_totals
from refund_agent.fallback_model import FallbackModel
from refund_agent.identity import Customer
from refund_agent.limits import Admitted, Asking, NoRoom
from refund_agent.providers import Endpoint
from refund_agent.settings import Settings
from refund_agent.settings_support import SupportSettings


@pytest.fixture
def settings(database_url: str, redis_url: str, tmp_path: Path) -> Settings:
    support = SupportSettings(auth_dev_secret_file=tmp_path / "dev.key")
    return Settings(database_url=database_url, redis_url=redis_url, support=support)


@pytest.fixture
def stores(settings: Settings) -> Iterator[wiring.Stores]:
    opened = wiring.open_stores(settings)
    yield opened
    opened.close()


def with_support(settings: Settings, **changes: Any) -> Settings:
    return replace(settings, support=replace(settings.support, **changes))


def test_without_a_way_to_sign_in_there_is_no_support_agent(
    settings: Settings, stores: wiring.Stores
) -> None:
    assert wiring_support.build_sign_in(settings, stores) is None


class NoQueue:
    def put(self, turn_id: str) -> None:
        raise AssertionError("nothing is to be queued")

    def is_empty(self) -> bool:
        return True


@pytest.mark.parametrize("auth_mode", ["jwt", "dev"])
def test_every_worker_keeps_totals(settings: Settings, stores: wiring.Stores, auth_mode: str) -> None:
    told = with_support(settings, auth_mode=auth_mode)

    for chore in wiring_agents.build_chores(told, stores, queue=NoQueue()):
        chore()

    with stores.database.transaction(read_only=True) as tx:
        assert tx.execute(select(kept_totals.c.until_ms)).scalar_one() > 0


def test_the_picker_offers_the_customers_of_our_tables(settings: Settings, stores: wiring.Stores) -> None:
    with stores.database.transaction() as tx:
        tx.execute(
            customers.insert(),
            [{"id": "c-2", "name": "Zoe", "email": "z"}, {"id": "c-1", "name": "Al", "email": "a"}],
        )
    dev = wiring_support.build_sign_in(with_support(settings, auth_mode="dev"), stores)
    again = wiring_support.build_sign_in(with_support(settings, auth_mode="dev"), stores)

    assert dev is not None
    assert dev.picker is not None
    names = [person.name for person in dev.picker.people()]
    assert names == ["Al", "Zoe", "Dana (staff)", "Robin (staff)", "Sam (only reads)"]
    assert again is not None
    assert again.identities.verify(dev.picker.mint(Customer("c-1"))) == Customer("c-1")


@pytest.mark.parametrize(
    "changes",
    [
        {"auth_mode": "dev"},
        {"auth_jwt_secrets": (("k1", "x" * 40),), "auth_issuer": "i"},
        {"auth_jwt_secrets": (("k1", "short"),), "auth_issuer": "i", "auth_audience": "a"},
    ],
)
def test_nobody_signs_in_by_what_start_up_refuses(
    settings: Settings, stores: wiring.Stores, changes: dict[str, Any]
) -> None:
    unsafe = replace(with_support(settings, **changes), app_env="production")

    assert wiring_support.build_sign_in(unsafe, stores) is None


def test_a_host_site_has_no_picker(settings: Settings, stores: wiring.Stores) -> None:
    host = with_support(
        settings,
        auth_jwt_secrets=(("k1", "x" * 40),),
        auth_issuer="i",
        auth_audience="a",
        auth_jwks="none.json",
    )
    built = wiring_support.build_sign_in(host, stores)

    assert built is not None
    assert built.picker is None


def test_the_limiter_sees_the_workers_that_are_alive(settings: Settings, stores: wiring.Stores) -> None:
    limiter = wiring_support.build_limiter(settings, stores)
    assert isinstance(limiter.admit(Asking("alice")), NoRoom)
    RedisPresence(stores.redis, kind="worker").beat("w1", 0)

    assert limiter.admit(Asking("alice")) == Admitted()


def test_there_is_a_fallback_only_when_one_is_set(settings: Settings, stores: wiring.Stores) -> None:
    second = Endpoint("gemini", "https://g.example/v1", "m", "k")

    assert isinstance(wiring_support.build_support_model(settings, stores), OpenAIModel)
    assert isinstance(
        wiring_support.build_support_model(with_support(settings, fallback=second), stores), FallbackModel
    )
