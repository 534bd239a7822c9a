"""Where orders are kept, as the environment says."""

from pathlib import Path

import pytest
from environs import Env, EnvError

from refund_agent.settings_orders import OrderSettings, read_orders

NAMES = ("ORDERS_URL", "ORDERS_TOKEN", "ORDERS_TIMEOUT_SECONDS", "POLICY_FILE")


def read(monkeypatch: pytest.MonkeyPatch, **variables: str) -> OrderSettings:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return read_orders(Env())


def test_without_a_word_orders_are_in_our_own_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch) == OrderSettings("", "", 3.0, None)


def test_what_is_said_is_taken_and_the_token_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    given = read(
        monkeypatch,
        ORDERS_URL="https://shop.example/api",
        ORDERS_TOKEN="hush-hush",
        ORDERS_TIMEOUT_SECONDS="1.5",
        POLICY_FILE="policies/2026-12.toml",
    )
    assert given == OrderSettings("https://shop.example/api", "hush-hush", 1.5, Path("policies/2026-12.toml"))
    assert "hush-hush" not in repr(given)


@pytest.mark.parametrize("seconds", ["0", "-1", "61", "nan", "inf", "soon"])
def test_a_time_that_is_not_one_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    with pytest.raises(EnvError, match="ORDERS_TIMEOUT_SECONDS"):
        read(monkeypatch, ORDERS_TIMEOUT_SECONDS=seconds)


@pytest.mark.parametrize("url", ["shop.example", "ftp://shop.example", "http://", "https://s.example/?a=b"])
def test_an_address_that_is_not_one_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    with pytest.raises(EnvError, match="ORDERS_URL"):
        read(monkeypatch, ORDERS_URL=url)
