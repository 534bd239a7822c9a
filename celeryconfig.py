"""Every Celery setting that matters, and why. All times follow from one deadline.

Nothing here is part of the safety argument: duplicates, losses and kills are expected, the ledger row
decides. These settings keep them rare, quick and visible. Figures: docs/decisions.
"""

from refund_agent.ports import QUEUE
from refund_agent.settings import read_settings

_settings = read_settings()

# Where messages go, and only there: a turn's result is its row.
broker_url = _settings.redis_url
result_backend = None
task_ignore_result = True
task_store_errors_even_if_ignored = False
task_default_queue = QUEUE
imports = ("tasks.turns",)

# Only ids travel, as JSON.
task_serializer = "json"
accept_content = ("json",)
resultrepr_maxsize = 0  # the status word needs no echo in events

# Early ack, no second try of any kind: a resumed turn comes from the sweeper, never from the broker.
task_acks_late = False
task_acks_on_failure = True
task_acks_on_timeout = True
task_reject_on_worker_lost = False
task_publish_retry = False  # a retried publish queues two copies and says nothing

# A publish that cannot work fails within 3 s (measured 0.3 refused, 1.9 black hole, 2.6 frozen).
broker_connection_timeout = 1
broker_pool_limit = 2  # small Redis plans allow 20 connections in all
broker_pool_acquire_timeout = 2  # a burst of callers takes turns; the ping keeps them out of a frozen broker
broker_transport_options = {
    "socket_timeout": 3,
    "socket_connect_timeout": 1,
    "socket_keepalive": True,
    "health_check_interval": 25,
    "max_retries": 0,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
    # A message must never be handed out again while its turn can still be running.
    "visibility_timeout": max(3600, int(10 * _settings.turn_deadline_seconds)),
}

# A worker waits for its broker for as long as it takes.
broker_connection_retry_on_startup = True
broker_connection_max_retries = None
worker_cancel_long_running_tasks_on_connection_loss = False  # a turn does not need its broker

# A turn waits, it does not compute: threads (78 MB for 16 turns; prefork takes 360 MB for 8).
worker_pool = "threads"
worker_concurrency = _settings.worker_concurrency
worker_prefetch_multiplier = 1
worker_disable_prefetch = True  # a message in prefetch runs again after one dropped connection

# Flower sees tasks and phases, never customer text.
worker_send_task_events = True
worker_consumer = "tasks.consumer:TurnConsumer"  # many events as one message; back soon after an outage
task_send_sent_event = False  # more than a third of a publish's CPU; /metrics tells what waits
task_track_started = False
worker_hijack_root_logger = False  # our JSON lines, see refund_agent/logs.py
worker_redirect_stdouts = False
