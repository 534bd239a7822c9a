"""What most people would write: Flask, a Celery task in a prefork worker, and `AsyncResult.get`.

Written for the comparison. It has no ledger, no gate and no deadline, and Celery's settings are the
defaults: it can refund twice, and a lost result is lost.
"""

import os

from celery import Celery
from flask import Flask, request

from tests.bench.agent_loop import documented_calls, run_turn

REDIS_URL = os.environ["BENCH_REDIS_URL"]  # noqa: TID251 - as most would; set by the benchmark
MODEL_URL = os.environ["BENCH_MODEL_URL"]  # noqa: TID251 - same
PAYMENTS_URL = os.environ["BENCH_PAYMENTS_URL"]  # noqa: TID251 - same
WAIT_SECONDS = 120

worker = Celery("plain", broker=REDIS_URL, backend=REDIS_URL)
web = Flask("plain")

complete, refund = documented_calls(MODEL_URL, PAYMENTS_URL)


@worker.task
def answer(message: str) -> str:
    """Run one turn and return the reply."""
    return run_turn(message, complete=complete, refund=refund)


@web.post("/chat")
def chat() -> dict[str, str]:
    """Enqueue the turn and wait for its result."""
    result = answer.apply_async((request.json["message"],))
    return {"reply": result.get(timeout=WAIT_SECONDS)}


@web.get("/ready")
def ready() -> dict[str, object]:
    """Whether a worker answers."""
    return {"workers": worker.control.ping(timeout=1.0)}
