"""What is found in the support agent's settings."""

from dataclasses import replace
from typing import Any

import pytest

from refund_agent.doctor_support import check_support
from refund_agent.providers import Endpoint
from refund_agent.settings import Settings
from refund_agent.settings_support import SupportSettings

SECRET = "SECRET-0123456789-0123456789-012345"
SAFE = SupportSettings(
    auth_jwt_secrets=(("k1", SECRET),),
    auth_issuer="https://shop.example",
    auth_audience="refund-agent",
    model=Endpoint("openai", "https://api.openai.com/v1", "m", "SECRET"),
)


def found(app_env: Any = "production", **changes: Any) -> list[tuple[str, str]]:
    """Severity and subject of what is found in the safe settings with these changes."""
    settings = Settings(app_env=app_env, support=replace(SAFE, **changes))
    return [(finding.severity, finding.what.split()[0]) for finding in check_support(settings)]


def test_safe_settings_have_no_finding() -> None:
    assert found() == []


def test_nothing_is_found_while_the_agent_is_off() -> None:
    assert found(auth_jwt_secrets=(), auth_issuer="", auth_audience="") == []


@pytest.mark.parametrize("app_env", ["production", "development"])
@pytest.mark.parametrize("missing", ["auth_issuer", "auth_audience"])
def test_issuer_and_audience_are_always_required(app_env: str, missing: str) -> None:
    assert found(app_env, **{missing: ""}) == [("refuse", missing.upper())]


def test_production_refuses_the_picker() -> None:
    assert found(auth_mode="dev") == [("refuse", "AUTH_MODE")]
    assert found("development", auth_mode="dev", auth_jwt_secrets=(), auth_issuer="") == []


@pytest.mark.parametrize("app_env", ["production", "development"])
@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "null",
        "shop.example",
        "https://*.example",
        "https://shop.example/",
        "https://shop.example/chat",
        "https://shop.example:443",
        "https://SHOP.example",
        "https://ann@shop.example",
        "https://shop.example:port",
        "https://shop.example;",
        "https://",
        "ftp://shop.example",
    ],
)
def test_what_is_no_exact_origin_is_never_let_in(app_env: str, origin: str) -> None:
    assert found(app_env, chat_origins=("https://shop.example", origin)) == [("refuse", "CHAT_ORIGINS")]


def test_production_takes_origins_with_https_only() -> None:
    assert found(chat_origins=("https://shop.example", "https://[::1]:8443", "https://a-b.example:444")) == []
    assert found(chat_origins=("http://shop.example",)) == [("refuse", "CHAT_ORIGINS")]
    assert found("development", chat_origins=("http://127.0.0.1:3000",)) == []


@pytest.mark.parametrize(
    ("subject", "changes"),
    [
        ("AUTH_JWT_SECRETS", {"auth_jwt_secrets": (("k1", SECRET), ("k2", "x" * 31))}),
        ("AUTH_JWKS", {"auth_jwks": "http://shop.example/jwks.json"}),
        ("ANTHROPIC_API_KEY", {"model": Endpoint("anthropic", "https://a.example", "m")}),
        ("GEMINI_API_KEY", {"fallback": Endpoint("gemini", "https://g.example", "m")}),
        ("the", {"model": Endpoint("oxlo", "http://o.example", "m", "k")}),
    ],
)
def test_production_refuses_and_development_warns(subject: str, changes: dict[str, Any]) -> None:
    assert found(**changes) == [("refuse", subject)]
    assert found("development", **changes) == [("warn", subject)]


def test_production_refuses_a_scripted_fallback() -> None:
    assert ("refuse", "LLM_FALLBACK_PROVIDER") in found(
        fallback=Endpoint("scripted", "https://s.example", "m", "k")
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"auth_jwks": "http://127.0.0.1:9/jwks.json"},
        {"auth_jwks": "/etc/keys.json"},
        {"fallback": Endpoint("omniroute", "http://localhost:20128/v1", "auto")},
    ],
)
def test_what_stays_on_this_machine_is_safe(changes: dict[str, Any]) -> None:
    assert found(**changes) == []


def test_no_finding_quotes_a_secret() -> None:
    settings = Settings(
        app_env="production",
        support=replace(
            SAFE, auth_mode="dev", auth_jwt_secrets=(("k1", "SECRET"),), auth_jwks="http://SECRET/"
        ),
    )

    findings = check_support(settings)
    assert len(findings) >= 3
    assert not any("SECRET" in str(finding).replace("AUTH_JWT_SECRETS", "") for finding in findings)
