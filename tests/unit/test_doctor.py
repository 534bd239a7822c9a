"""What start-up refuses, and what it only says."""

from dataclasses import replace
from typing import Any

import pytest

from refund_agent.doctor import (
    Finding,
    UnsafeConfiguration,
    check,
    check_live,
    judge_maxmemory_policy,
    judge_migration,
    refuse_unsafe,
)
from refund_agent.settings import Settings

SAFE = Settings(
    app_env="production",
    database_url="postgres://u:SECRET@db.internal/refunds",
    redis_url="rediss://:SECRET@redis.internal:6380?ssl_cert_reqs=none",
    openai_api_key="sk-SECRET",
    payments_url="https://payments.internal/v1",
    payments_token="SECRET",
    portal_tokens=("SECRET-0123456789abcdef",),
)


def found(**changes: Any) -> list[tuple[str, str]]:
    """Severity and subject of what is found in the safe settings with these changes."""
    return [(finding.severity, finding.what.split()[0]) for finding in check(replace(SAFE, **changes))]


def test_a_safe_production_has_no_finding() -> None:
    assert found() == []


@pytest.mark.parametrize("url", ["postgres://h/d", "postgresql://h/d", "postgresql+psycopg://h/d"])
def test_every_form_of_a_postgres_url_is_safe(url: str) -> None:
    assert found(database_url=url) == []


@pytest.mark.parametrize("url", ["redis://h:6379/0", "rediss://h:6380/0?ssl_cert_reqs=none"])
def test_both_forms_of_a_redis_url_are_safe(url: str) -> None:
    assert found(redis_url=url) == []


@pytest.mark.parametrize(
    ("subject", "changes"),
    [
        ("DATABASE_URL", {"database_url": "sqlite:///x.db"}),
        ("DATABASE_URL", {"database_url": Settings().database_url}),
        ("DATABASE_URL", {"database_url": "mysql://h/d"}),
        ("DATABASE_URL", {"database_url": "nonsense"}),
        ("REDIS_URL", {"redis_url": Settings().redis_url}),
        ("REDIS_URL", {"redis_url": "http://redis.internal"}),
        ("PORTAL_TOKENS", {"portal_tokens": ()}),
        ("OPENAI_API_KEY", {"openai_api_key": ""}),
        ("LLM_PROVIDER", {"llm_provider": "scripted"}),
        ("OPENAI_BASE_URL", {"openai_base_url": "http://proxy.internal/v1"}),
        ("PAYMENTS_URL", {"payments_url": ""}),
        ("PAYMENTS_URL", {"payments_url": "payments.internal"}),
        ("PAYMENTS_URL", {"payments_url": "ftp://payments.internal"}),
        ("PAYMENTS_URL", {"payments_url": "https://payments.internal?x=1"}),
        ("PAYMENTS_URL", {"payments_url": "http://payments.internal/v1"}),
        ("PAYMENTS_TOKEN", {"payments_token": ""}),
        ("COMPLETION_TIMEOUT_SECONDS", {"completion_timeout_seconds": 21.0}),
        ("BACKOFF_SECONDS", {"backoff_seconds": 1.0}),
        ("PAYMENTS_TIMEOUT_SECONDS", {"payments_timeout_seconds": 5.0}),
        ("TURN_DEADLINE_SECONDS", {"turn_deadline_seconds": 11.5}),
        ("TURN_DEADLINE_SECONDS", {"dyno": "web.1"}),
        ("TURN_DEADLINE_SECONDS", {"dyno": "web.1", "turn_deadline_seconds": 30.0}),
        ("REMAP_SIGTERM", {"remap_sigterm": "SIGQUIT"}),
    ],
)
@pytest.mark.fault(295)
def test_production_refuses(subject: str, changes: dict[str, Any]) -> None:
    assert found(**changes) == [("refuse", subject)]


@pytest.mark.parametrize(
    ("subject", "changes"),
    [
        ("REDIS_URL", {"redis_url": "redis://127.0.0.1:7000/0"}),
        ("PORTAL_TOKENS", {"portal_tokens": ("SECRET-0123456789abcdef", "short")}),
        ("OPENAI_BASE_URL", {"openai_base_url": "https://proxy.internal/v1"}),
    ],
)
def test_production_warns(subject: str, changes: dict[str, Any]) -> None:
    assert found(**changes) == [("warn", subject)]


@pytest.mark.parametrize("variable", ["payments_url", "openai_base_url"])
@pytest.mark.parametrize(
    ("url", "severities"),
    [
        ("http://outside.example/v1", ["warn"]),
        ("https://outside.example/v1", []),
        ("http://127.0.0.1:9000/v1", []),
        ("http://[::1]:9000/v1", []),
        ("http://localhost:9000/v1", []),
    ],
)
def test_a_developer_is_warned_when_a_token_or_key_would_leave_the_machine_in_the_clear(
    variable: str, url: str, severities: list[str]
) -> None:
    settings = Settings(llm_provider="scripted", **{variable: url})  # type: ignore[arg-type]
    assert [finding.severity for finding in check(settings)] == severities


def test_payments_on_the_same_machine_is_no_finding_in_production() -> None:
    assert found(payments_url="http://127.0.0.1:9000") == []


def test_28_seconds_on_heroku_are_safe() -> None:
    assert found(dyno="web.1", turn_deadline_seconds=28.0) == []


def test_the_shortest_deadline_that_works_is_safe() -> None:
    assert found(turn_deadline_seconds=12.0) == []


def test_a_developer_needs_nothing_but_is_told_what_cannot_work() -> None:
    assert check(Settings(llm_provider="scripted")) == []
    severities = {finding.severity for finding in check(Settings(turn_deadline_seconds=5.0))}
    assert severities == {"warn"}


def test_development_on_heroku_is_held_to_the_router_too() -> None:
    assert [finding.severity for finding in check(Settings(dyno="web.1", llm_provider="scripted"))] == [
        "refuse"
    ]


@pytest.mark.fault(295)
def test_start_up_refuses_and_names_everything_at_once() -> None:
    settings = replace(SAFE, portal_tokens=(), payments_token="", openai_api_key="")
    other = Finding("refuse", "task_acks_late must be False", "It runs turns twice", "Fix celeryconfig.py")

    with pytest.raises(UnsafeConfiguration) as refused:
        refuse_unsafe(settings, [other])

    text = str(refused.value)
    assert all(
        name in text for name in ("PORTAL_TOKENS", "PAYMENTS_TOKEN", "OPENAI_API_KEY", "task_acks_late")
    )


def test_start_up_accepts_warnings() -> None:
    refuse_unsafe(replace(SAFE, portal_tokens=("short",)))


def test_no_finding_quotes_a_secret_or_a_url() -> None:
    broken = replace(
        SAFE,
        database_url="mysql://u:SECRET@h/d",
        redis_url="http://:SECRET@h",
        payments_url="ftp://u:SECRET@h",
        portal_tokens=("SECRET",),
        openai_base_url="http://u:SECRET@h",
    )
    findings = check(broken)

    assert len(findings) == 5
    assert "SECRET" not in str([str(finding) for finding in findings])


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl", "allkeys-random"])
def test_a_redis_that_evicts_is_refused(policy: str) -> None:
    judged = judge_maxmemory_policy(policy)

    assert judged is not None
    assert judged.severity == "refuse"
    assert policy in judged.what


def test_a_redis_that_keeps_everything_is_safe() -> None:
    assert judge_maxmemory_policy("noeviction") is None


@pytest.mark.parametrize("current", [None, "0001"])
def test_a_database_behind_the_code_is_refused(current: str | None) -> None:
    judged = judge_migration(current=current, head="0002")

    assert judged is not None
    assert judged.severity == "refuse"


def test_a_migrated_database_is_safe() -> None:
    assert judge_migration(current="0002", head="0002") is None


def test_what_cannot_be_asked_is_refused_by_name_and_class_alone() -> None:
    def away() -> Finding | None:
        raise ConnectionError("redis://:SECRET@h refused")

    (finding,) = check_live({"database": lambda: None, "Redis": away})

    assert finding.severity == "refuse"
    assert "Redis" in finding.what
    assert "ConnectionError" in finding.why
    assert "SECRET" not in str(finding)
