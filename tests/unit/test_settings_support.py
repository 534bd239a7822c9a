"""The support agent's variables: off by default, and what each provider stands for."""

import dataclasses
from pathlib import Path
from typing import get_args

import pytest
from environs import EnvError

from refund_agent.limits import Limits
from refund_agent.providers import PRESETS, Endpoint, Provider
from refund_agent.settings import CONTRACT_MODEL, Settings, read_settings
from refund_agent.settings_support import SupportSettings

ALL = [
    *(
        "AUTH_MODE",
        "AUTH_JWT_SECRETS",
        "AUTH_JWKS",
        "AUTH_ISSUER",
        "AUTH_AUDIENCE",
        "AUTH_MAX_TOKEN_SECONDS",
        "RETENTION_DAYS",
        "CHAT_ORIGINS",
    ),
    *(
        "CUSTOMER_RATE",
        "MAX_OPEN_TURNS",
        "CONVERSATION_TOKENS",
        "CUSTOMER_DAILY_TOKENS",
        "CONVERSATION_TURNS",
    ),
    *(
        "LLM_PROVIDER",
        "LLM_BASE_URL",
        "LLM_MODEL",
        "LLM_API_KEY",
        "LLM_FALLBACK_PROVIDER",
        "LLM_FALLBACK_MODEL",
        "REPLY_MODEL",
    ),
    *("OPENAI_BASE_URL", *(preset.key_variable for preset in PRESETS.values())),
]


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ALL:
        monkeypatch.delenv(name, raising=False)


def read(monkeypatch: pytest.MonkeyPatch, **variables: str) -> SupportSettings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return read_settings().support


def test_with_nothing_set_the_defaults_hold_and_the_agent_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    support = read(monkeypatch)

    assert support == SupportSettings() == Settings().support
    assert not support.enabled


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_variable_is_an_unset_one(monkeypatch: pytest.MonkeyPatch, name: str, empty: str) -> None:
    assert read(monkeypatch, **{name: empty}) == SupportSettings()


@pytest.mark.parametrize(
    "variables", [{"AUTH_MODE": "dev"}, {"AUTH_JWT_SECRETS": "k:s"}, {"AUTH_JWKS": "keys.json"}]
)
def test_a_way_to_sign_in_turns_the_agent_on(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    assert read(monkeypatch, **variables).enabled


@pytest.mark.fault(51)
@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("k1:one", (("k1", "one"),)),
        (" k1:one , k2:t:w:o ,", (("k1", "one"), ("k2", "t:w:o"))),
    ],
)
def test_secrets_are_listed_by_their_key_id(
    monkeypatch: pytest.MonkeyPatch, given: str, taken: tuple[tuple[str, str], ...]
) -> None:
    assert read(monkeypatch, AUTH_JWT_SECRETS=given).auth_jwt_secrets == taken


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[
            ("AUTH_JWT_SECRETS", value)
            for value in ("canary", "k:", ":canary", "k:canary,k:canary", "k1:a,canary")
        ],
        *[
            ("CUSTOMER_RATE", value)
            for value in ("20", "0/minute", "20/fortnight", "-1/minute", "20 per minute")
        ],
        *[("AUTH_MODE", value) for value in ("none", "DEV", "off")],
        *[("LLM_PROVIDER", "chatgpt"), ("LLM_FALLBACK_PROVIDER", "none")],
        *[("MAX_OPEN_TURNS", value) for value in ("0", "-1", "many", "1.5")],
        *[("AUTH_MAX_TOKEN_SECONDS", value) for value in ("0", "86401", "nan")],
        *[("CONVERSATION_TURNS", "0"), ("CONVERSATION_TOKENS", "-5"), ("CUSTOMER_DAILY_TOKENS", "1e9")],
    ],
)
def test_a_wrong_value_is_refused_by_its_name_and_not_quoted(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with pytest.raises(EnvError) as refused:
        read(monkeypatch, **{name: value})

    assert f'"{name}"' in str(refused.value)
    assert "canary" not in str(refused.value)


def test_limits_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    support = read(
        monkeypatch,
        CUSTOMER_RATE="3/second",
        MAX_OPEN_TURNS="7",
        CONVERSATION_TOKENS="1",
        CUSTOMER_DAILY_TOKENS="2",
        CONVERSATION_TURNS="3",
    )

    assert support.limits == Limits("3/second", 7, 1, 2, 3)


@pytest.mark.parametrize(
    "name", ["AUTH_JWT_SECRETS", *sorted({p.key_variable for p in PRESETS.values()}), "LLM_API_KEY"]
)
def test_a_secret_is_not_in_what_the_settings_print(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "gemini")

    assert "canary" not in repr(read(monkeypatch, **{name: "k:canary-7f3a"}))


# --- Providers ------------------------------------------------------------------------------------


def test_every_provider_has_a_preset_with_an_address_and_a_model() -> None:
    assert set(PRESETS) == set(get_args(Provider))
    for name, preset in PRESETS.items():
        assert preset.model
        assert not preset.base_url.endswith("/")
        assert preset.base_url or name in {"openai", "scripted"}


@pytest.mark.parametrize("provider", PRESETS)
def test_a_provider_brings_its_address_its_key_and_its_model(
    monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    preset = PRESETS[provider]
    support = read(monkeypatch, LLM_PROVIDER=provider, **{preset.key_variable: "the-key"})

    assert support.model == Endpoint(
        provider, preset.base_url or "https://api.openai.com/v1", preset.model, "the-key"
    )


def test_address_model_and_key_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    support = read(
        monkeypatch,
        LLM_PROVIDER="gemini",
        LLM_BASE_URL="https://gateway.example/v1",
        LLM_MODEL="another",
        LLM_API_KEY="mine",
        GEMINI_API_KEY="theirs",
    )

    assert support.model == Endpoint("gemini", "https://gateway.example/v1", "another", "mine")


@pytest.mark.parametrize("provider", ["openai", "scripted"])
def test_openai_and_the_scripted_model_are_where_refund_chats_is(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    support = read(monkeypatch, LLM_PROVIDER=provider, OPENAI_BASE_URL="http://127.0.0.1:9/v1")

    assert support.model.base_url == "http://127.0.0.1:9/v1"


def test_the_scripted_model_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not read(monkeypatch, LLM_PROVIDER="scripted").model.lacks_key
    assert read(monkeypatch, LLM_PROVIDER="oxlo").model.lacks_key


def test_the_fallback_gets_nothing_that_was_given_for_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    support = read(
        monkeypatch,
        LLM_FALLBACK_PROVIDER="anthropic",
        LLM_FALLBACK_MODEL="claude-x",
        LLM_BASE_URL="https://gateway.example/v1",
        LLM_API_KEY="the-firsts",
        ANTHROPIC_API_KEY="the-seconds",
    )

    assert support.fallback == Endpoint(
        "anthropic", "https://api.anthropic.com/v1", "claude-x", "the-seconds"
    )


@pytest.mark.contract("C18")
@pytest.mark.parametrize("provider", PRESETS)
def test_refund_chat_keeps_its_address_and_its_key_whatever_the_provider(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    read(monkeypatch, LLM_PROVIDER=provider, LLM_BASE_URL="https://x.example", LLM_MODEL="m", LLM_API_KEY="k")
    settings = read_settings()

    assert (settings.openai_base_url, settings.openai_api_key) == ("https://api.openai.com/v1", "sk-openai")
    assert CONTRACT_MODEL == "gpt-4o-mini-2024-07-18"


def test_the_dev_secret_is_kept_beside_the_other_state() -> None:
    fields = {field.name for field in dataclasses.fields(SupportSettings)}

    assert "auth_dev_secret_file" in fields
    assert SupportSettings().auth_dev_secret_file == Path(".state/dev-identity.key")


@pytest.mark.parametrize("provider", PRESETS)
def test_the_page_for_integrators_says_what_each_provider_stands_for(provider: Provider) -> None:
    page = (Path(__file__).parents[2] / "docs" / "integrate.md").read_text()
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{provider}`")]
    preset = PRESETS[provider]

    assert (preset.base_url or "OPENAI_BASE_URL") in row
    assert provider == "scripted" or (f"`{preset.key_variable}`" in row and f"`{preset.model}`" in row)


def test_the_days_that_conversations_are_kept_are_whole_and_at_least_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert SupportSettings().retention_days == read(monkeypatch).retention_days == 365
    assert read(monkeypatch, RETENTION_DAYS="30").retention_days == 30
    for wrong in ("0", "-1", "a year", "1.5"):
        with pytest.raises(EnvError, match="RETENTION_DAYS"):
            read(monkeypatch, RETENTION_DAYS=wrong)


def test_the_origins_of_the_portals_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = " https://shop.example, https://shop.example:8443 ,"

    assert read(monkeypatch, CHAT_ORIGINS=listed).chat_origins == (
        "https://shop.example",
        "https://shop.example:8443",
    )


def test_the_model_that_rewrites_replies_is_one_of_the_same_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings().support.reply_model is None
    monkeypatch.setenv("LLM_PROVIDER", "gemini")
    monkeypatch.setenv("REPLY_MODEL", "gemini-small")
    support = read_settings().support
    assert support.reply_model == dataclasses.replace(support.model, model="gemini-small")
