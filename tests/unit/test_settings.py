"""Every variable: what holds when it is unset or empty, what it takes, and that a wrong one is named."""

import dataclasses
import logging
from typing import Any

import pytest
from environs import EnvError

from refund_agent.prices import Price
from refund_agent.providers import PRESETS
from refund_agent.settings import CONTRACT_MODEL, Settings, read_settings

contract = pytest.mark.contract

TIMES = [
    "TURN_DEADLINE_SECONDS",
    "COMPLETION_TIMEOUT_SECONDS",
    "BACKOFF_SECONDS",
    "PAYMENTS_TIMEOUT_SECONDS",
]
COUNTS = ["WORKER_CONCURRENCY", "WEB_THREADS"]
TEXTS = {
    "DATABASE_URL": "sqlite:///.state/refunds.db",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
    "OPENAI_API_KEY": "",
    "OPENAI_BASE_URL": "https://api.openai.com/v1",
    "PAYMENTS_URL": "",
    "PAYMENTS_TOKEN": "",
    "FLOWER_BASIC_AUTH": "",
    "DYNO": "",
    "REMAP_SIGTERM": "",
}
CHOICES = {"APP_ENV": ("development", "production"), "LLM_PROVIDER": tuple(PRESETS)}
ALL = [*TIMES, *COUNTS, *TEXTS, *CHOICES, "PORTAL_TOKENS", "PORT", "LOG_LEVEL", "MODEL_PRICES"]
SECRETS = [
    "DATABASE_URL",
    "REDIS_URL",
    "OPENAI_API_KEY",
    "PAYMENTS_TOKEN",
    "PORTAL_TOKENS",
    "FLOWER_BASIC_AUTH",
]


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ALL:
        monkeypatch.delenv(name, raising=False)


class Environment:
    """Sets variables and reads the settings back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def read(self, name: str, value: str) -> Any:
        self._monkeypatch.setenv(name, value)
        return getattr(read_settings(), name.lower())

    def refuses(self, name: str, value: str) -> str:
        self._monkeypatch.setenv(name, value)
        with pytest.raises(EnvError) as refused:
            read_settings()
        assert f'"{name}"' in str(refused.value)
        return str(refused.value)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Environment:
    return Environment(monkeypatch)


def test_every_setting_is_in_this_table() -> None:
    settings = {field.name for field in dataclasses.fields(Settings)} - {"process_id", "support", "orders"}

    assert settings == {name.lower() for name in ALL}


# --- Unset and empty ------------------------------------------------------------------------------


def test_with_nothing_set_the_defaults_hold() -> None:
    settings, default = read_settings(), Settings()

    for name in ALL:
        assert getattr(settings, name.lower()) == getattr(default, name.lower()), name


@contract("C20", "C49", "C64")
def test_the_times_default_to_the_contracts_numbers() -> None:
    settings = read_settings()

    assert settings.completion_timeout_seconds == 20.0
    assert settings.backoff_seconds == 2.0
    assert settings.payments_timeout_seconds == 10.0
    assert settings.turn_deadline_seconds == 120.0


@contract("C18")
def test_the_model_is_pinned_to_the_contracts_snapshot() -> None:
    assert CONTRACT_MODEL == "gpt-4o-mini-2024-07-18"


@pytest.mark.parametrize("empty", ["", " ", "\t\n"])
@pytest.mark.parametrize("name", ALL)
def test_an_empty_variable_is_an_unset_one(environment: Environment, name: str, empty: str) -> None:
    assert environment.read(name, empty) == getattr(Settings(), name.lower())


def test_each_process_has_an_id_of_its_own() -> None:
    assert read_settings().process_id != read_settings().process_id


# --- Texts and choices ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "default"), TEXTS.items())
def test_a_text_is_taken_without_the_space_around_it(
    environment: Environment, name: str, default: str
) -> None:
    assert getattr(read_settings(), name.lower()) == default
    assert environment.read(name, " http://elsewhere ") == "http://elsewhere"


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in CHOICES.items() for v in values])
def test_a_choice_is_taken(environment: Environment, name: str, value: str) -> None:
    assert environment.read(name, value) == value


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["prod", "PRODUCTION", "none", "0"])
def test_a_choice_that_is_not_offered_is_refused(environment: Environment, name: str, value: str) -> None:
    assert "Must be one of" in environment.refuses(name, value)


@pytest.mark.parametrize(
    ("value", "tokens"),
    [("one", ("one",)), ("one,two", ("one", "two")), (" one , two ,, ", ("one", "two")), (",", ())],
)
def test_portal_tokens_are_a_list_without_empty_ones(
    environment: Environment, value: str, tokens: tuple[str, ...]
) -> None:
    assert environment.read("PORTAL_TOKENS", value) == tokens


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("redis://host:1/0", "redis://host:1/0"),
        ("rediss://:pw@host:1", "rediss://:pw@host:1?ssl_cert_reqs=none"),
        ("rediss://host:1/0?db=2", "rediss://host:1/0?db=2&ssl_cert_reqs=none"),
        ("rediss://host:1?ssl_cert_reqs=required", "rediss://host:1?ssl_cert_reqs=required"),
    ],
)
def test_a_redis_url_with_the_platforms_certificate_works_unless_it_says_otherwise(
    environment: Environment, url: str, taken: str
) -> None:
    assert environment.read("REDIS_URL", url) == taken


# --- Numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize(("value", "seconds"), [("28", 28.0), ("0.05", 0.05), ("3600", 3600.0), (" 7 ", 7.0)])
def test_a_time_is_taken(environment: Environment, name: str, value: str, seconds: float) -> None:
    assert environment.read(name, value) == seconds


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize(
    "value",
    ["nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1", "0", "-0.0", "3600.1", "20s", "two", "1,5"],
)
def test_a_time_that_is_no_time_is_refused(environment: Environment, name: str, value: str) -> None:
    environment.refuses(name, value)


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", ["1", "10000"])
def test_a_count_is_taken(environment: Environment, name: str, value: str) -> None:
    assert environment.read(name, value) == int(value)


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", ["0", "-1", "10001", "1.5", "many", "nan", "9" * 5000])
def test_a_count_that_is_no_count_is_refused(environment: Environment, name: str, value: str) -> None:
    environment.refuses(name, value)


@pytest.mark.parametrize("value", ["0", "8000", "65535"])
def test_a_port_is_taken(environment: Environment, value: str) -> None:
    assert environment.read("PORT", value) == int(value)


@pytest.mark.parametrize("value", ["-1", "65536", "80.5", "http", "inf"])
def test_a_port_that_is_no_port_is_refused(environment: Environment, value: str) -> None:
    environment.refuses("PORT", value)


@pytest.mark.parametrize(
    ("value", "level"), [("DEBUG", logging.DEBUG), ("info", logging.INFO), ("warning", logging.WARNING)]
)
def test_a_log_level_is_taken_by_name(environment: Environment, value: str, level: int) -> None:
    assert environment.read("LOG_LEVEL", value) == level


def test_a_log_level_that_does_not_exist_is_refused(environment: Environment) -> None:
    environment.refuses("LOG_LEVEL", "chatty")


def test_prices_are_taken_by_model(environment: Environment) -> None:
    assert environment.read("MODEL_PRICES", f"{CONTRACT_MODEL}=15/60") == {CONTRACT_MODEL: Price(15, 60)}


@pytest.mark.parametrize("value", ["15/60", "m=15", "m=0.15/0.60", "m=15/60,m=15/60"])
def test_prices_that_are_none_are_refused(environment: Environment, value: str) -> None:
    environment.refuses("MODEL_PRICES", value)


# --- Secrets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_not_in_what_the_settings_print(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "canary-7f3a")

    assert "canary-7f3a" not in repr(read_settings())
    assert "canary-7f3a" not in environment.refuses("PORT", "wrong")


# --- Leases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("deadline", "lease"), [(1, 3.0), (28, 3.5), (120, 15.0), (3600, 15.0)])
def test_a_lease_is_an_eighth_of_the_deadline_within_bounds(deadline: float, lease: float) -> None:
    assert Settings(turn_deadline_seconds=deadline).lease_seconds == lease
