"""What a start has made is spared by the garbage collector, in the web and in the worker."""

import gc
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks import worker
from tasks.garbage import THRESHOLDS

GUNICORN = Path(__file__).parents[2] / "gunicorn.conf.py"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave the collector of this process as it was."""
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def spares_what_stays() -> bool:
    return gc.get_freeze_count() > 0 and gc.get_threshold() == THRESHOLDS


def test_the_web_spares_it_once_its_application_is_loaded() -> None:
    configured = runpy.run_path(str(GUNICORN))
    assert not spares_what_stays()

    configured["post_worker_init"](None)

    assert spares_what_stays()


def test_the_worker_spares_it_once_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "worker", lambda: None)

    worker._on_ready()  # noqa: SLF001 - what Celery calls

    assert spares_what_stays()
