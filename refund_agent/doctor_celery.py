"""Which Celery settings are unsafe for turns that move money.

Nothing of Celery is part of the safety argument; but a setting that runs a turn again, or publishes it
again, makes duplicates common, and a result backend keeps what nobody may read.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias, cast

from refund_agent.doctor import Finding

VISIBILITY_DEADLINES: Final = 10
CELERY_VISIBILITY_SECONDS: Final = 3600.0
"""What Celery takes when nothing is set."""

Conf: TypeAlias = Mapping[str, object]

_MUST_BE: Final = {
    "task_acks_late": (False, "A redelivered message runs a turn again while the first still runs"),
    "task_reject_on_worker_lost": (False, "A turn that kills its worker would come back at once, for ever"),
    "task_publish_retry": (False, "A retried publish queues two copies and says nothing"),
    "task_always_eager": (False, "Turns would run inside the web process, without deadline or queue"),
    "worker_disable_prefetch": (True, "A message in prefetch runs again after one dropped connection"),
    "worker_prefetch_multiplier": (1, "A turn that waits in prefetch past the visibility timeout runs twice"),
    "task_ignore_result": (True, "A turn's result is its row; a second copy in Redis is a leak"),
    "task_serializer": ("json", "A message carries an id; other serializers can carry code"),
}
_MUST_BE_EMPTY: Final = {
    "result_backend": "A turn's result is its row; a second copy in Redis is a leak",
    "task_annotations": "They can switch retries and late acks on behind the task's back",
}
_TASK_MUST_NOT_HAVE: Final = {
    "autoretry_for": "The agent's loop is the only retry mechanism",
    "acks_late": "A redelivered message runs a turn again while the first still runs",
    "reject_on_worker_lost": "A turn that kills its worker would come back at once, for ever",
}


def check_celery(conf: Conf, *, deadline_seconds: float) -> list[Finding]:
    """Judge an application's settings (`app.conf`, lower-case names); what is absent is Celery's default."""
    wrong = [
        _finding(name, f"must be {value!r}", why)
        for name, (value, why) in _MUST_BE.items()
        if conf.get(name) != value
    ]
    wrong += [
        _finding(name, "must not be set", why) for name, why in _MUST_BE_EMPTY.items() if conf.get(name)
    ]
    if not _accepts_only_json(conf):
        wrong.append(_finding("accept_content", "must be json alone", "Other serializers can carry code"))
    if _visibility_seconds(conf) < VISIBILITY_DEADLINES * deadline_seconds:
        why = "A message is handed out again while its turn can still be running"
        fix = f"must be at least {VISIBILITY_DEADLINES * deadline_seconds:g} seconds"
        wrong.append(_finding("visibility_timeout", fix, why))
    return wrong


def check_task(task: object) -> list[Finding]:
    """Judge one task: nothing but the agent's loop may try again."""
    return [
        _finding(f"a task's {name}", "must not be set", why)
        for name, why in _TASK_MUST_NOT_HAVE.items()
        if getattr(task, name, None)
    ]


def _accepts_only_json(conf: Conf) -> bool:
    accepted = conf.get("accept_content")
    return isinstance(accepted, list | tuple | set | frozenset) and set(cast("list[object]", accepted)) == {
        "json"
    }


def _visibility_seconds(conf: Conf) -> float:
    options = cast("Mapping[str, object]", conf.get("broker_transport_options", {}))
    seconds = options.get("visibility_timeout", CELERY_VISIBILITY_SECONDS)
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _finding(name: str, rule: str, why: str) -> Finding:
    return Finding("refuse", f"{name} {rule}", why, "Fix celeryconfig.py")
