"""Which Celery settings start-up refuses."""

from typing import Any

import pytest

import celeryconfig
from refund_agent.doctor_celery import check_celery, check_task

SAFE: dict[str, object] = {
    "task_acks_late": False,
    "task_reject_on_worker_lost": False,
    "task_publish_retry": False,
    "task_always_eager": False,
    "task_ignore_result": True,
    "task_serializer": "json",
    "task_annotations": None,
    "accept_content": ["json"],
    "worker_disable_prefetch": True,
    "worker_prefetch_multiplier": 1,
    "result_backend": None,
    "broker_transport_options": {"visibility_timeout": 1200},
}


def found(*, deadline_seconds: float = 120.0, **changes: Any) -> list[str]:
    """Name the settings that are refused in the safe ones with these changes; `...` leaves one out."""
    conf = {name: value for name, value in {**SAFE, **changes}.items() if value is not ...}
    findings = check_celery(conf, deadline_seconds=deadline_seconds)
    assert all(finding.severity == "refuse" for finding in findings)
    return [finding.what.split()[0] for finding in findings]


def test_safe_settings_have_no_finding() -> None:
    assert found() == []


@pytest.mark.fault(74, 96, 97, 295)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task_acks_late", True),
        ("task_reject_on_worker_lost", True),
        ("task_reject_on_worker_lost", None),
        ("task_publish_retry", True),
        ("task_publish_retry", ...),
        ("task_always_eager", True),
        ("task_ignore_result", False),
        ("task_serializer", "pickle"),
        ("task_annotations", {"*": {"acks_late": True}}),
        ("accept_content", ["json", "pickle"]),
        ("accept_content", "json,pickle"),
        ("accept_content", ...),
        ("worker_disable_prefetch", False),
        ("worker_disable_prefetch", ...),
        ("worker_prefetch_multiplier", 4),
        ("result_backend", "redis://h"),
    ],
)
def test_an_unsafe_setting_is_refused_by_name(name: str, value: Any) -> None:
    assert found(**{name: value}) == [name]


@pytest.mark.fault(74, 295)
@pytest.mark.parametrize(
    ("options", "deadline_seconds"),
    [
        ({"visibility_timeout": 1199}, 120),
        ({"visibility_timeout": 100}, 120),
        ({}, 361),
        ({"visibility_timeout": "x"}, 1),
    ],
)
def test_a_visibility_timeout_under_ten_deadlines_is_refused(
    options: object, deadline_seconds: float
) -> None:
    assert found(deadline_seconds=deadline_seconds, broker_transport_options=options) == [
        "visibility_timeout"
    ]


def test_the_transports_own_hour_is_enough_for_our_deadline() -> None:
    assert found(broker_transport_options=...) == []


def test_our_own_settings_are_safe() -> None:
    conf = {name: value for name, value in vars(celeryconfig).items() if not name.startswith("_")}
    given = {"task_always_eager": False, **conf}

    assert check_celery(given, deadline_seconds=120.0) == []


class Task:
    """What a task of Celery's looks like, as far as retries go."""

    acks_late = False
    reject_on_worker_lost = None


@pytest.mark.fault(96, 97)
@pytest.mark.contract("C43")
@pytest.mark.parametrize(
    ("name", "value"), [("autoretry_for", (Exception,)), ("acks_late", True), ("reject_on_worker_lost", True)]
)
def test_a_task_that_would_be_tried_again_is_refused(name: str, value: object) -> None:
    task = Task()
    assert check_task(task) == []

    setattr(task, name, value)
    assert [finding.what for finding in check_task(task)] == [f"a task's {name} must not be set"]
