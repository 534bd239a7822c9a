"""The service's figures in Prometheus' text format.

They are read from the database and Redis at scrape time, so that every process of every dyno tells the
same truth: nothing is counted in a process, and nothing has to be added up between them. What is a counter
here never decreases: when old turns are purged their numbers are kept. Only `refund_agent_lost_events`
lives in Redis, and starts anew when Redis loses its data.
"""

from collections.abc import Iterator
from typing import get_args

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from refund_agent.approvals import ApprovalState
from refund_agent.figures import DURATION_BOUNDS_SECONDS, Figures, LiveFigures, StoredFigures, Trouble
from refund_agent.outcomes import GateState
from refund_agent.ports import QueueUnavailable, StoreUnavailable


def render(figures: Figures) -> bytes:
    """Return all figures as Prometheus text. A source that is away is shown as down, not left out."""
    registry = CollectorRegistry()
    registry.register(FigureCollector(figures))
    return generate_latest(registry)


class FigureCollector(Collector):
    """Asks for the figures whenever Prometheus does."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def describe(self) -> Iterator[Metric]:
        """Return nothing: registering asks no database."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Yield every metric whose source can be asked, and which sources could be."""
        up = GaugeMetricFamily(
            "refund_agent_source_up", "Whether the source of the figures answered.", labels=["source"]
        )
        try:
            stored = self._figures.stored()
        except StoreUnavailable:
            up.add_metric(["database"], 0)
        else:
            up.add_metric(["database"], 1)
            yield from _of_database(stored)
        try:
            live = self._figures.live()
        except QueueUnavailable:
            up.add_metric(["redis"], 0)
        else:
            up.add_metric(["redis"], 1)
            yield from _of_redis(live)
        yield up


def _of_database(stored: StoredFigures) -> Iterator[Metric]:
    turns = CounterMetricFamily(
        "refund_agent_turns", "Turns that have ended, by outcome.", labels=["outcome"]
    )
    for outcome, count in sorted(stored.turns_by_outcome.items()):
        turns.add_metric([outcome], count)
    yield turns
    durations = HistogramMetricFamily(
        "refund_agent_turn_duration_seconds", "How long turns took, from being stored to their end."
    )
    buckets = [(str(bound), float(stored.durations.up_to[bound])) for bound in DURATION_BOUNDS_SECONDS]
    buckets.append(("+Inf", float(stored.durations.count)))
    durations.add_metric([], buckets=buckets, sum_value=stored.durations.total_seconds)
    yield durations
    refunds = GaugeMetricFamily(
        "refund_agent_refunds",
        "Refunds in the ledger, by state; `closed` is a turn that can never have one.",
        labels=["state"],
    )
    for state in get_args(GateState):
        refunds.add_metric([state], stored.refunds_by_state.get(state, 0))
    yield refunds
    approvals = GaugeMetricFamily(
        "refund_agent_approvals", "Refunds that needed a person's approval, by state.", labels=["state"]
    )
    for state in get_args(ApprovalState):
        approvals.add_metric([state], stored.approvals_by_state.get(state, 0))
    yield approvals
    open_turns = GaugeMetricFamily(
        "refund_agent_open_turns", "Turns that have not ended, by state.", labels=["state"]
    )
    for state, count in sorted(stored.open_turns_by_state.items()):
        open_turns.add_metric([state], count)
    yield open_turns
    yield from _of_trouble(stored.trouble)


def _of_trouble(trouble: Trouble) -> Iterator[Metric]:
    for name, what, value in (
        (
            "oldest_unknown_refund_seconds",
            "Age of the oldest unknown refund.",
            trouble.oldest_unknown_seconds,
        ),
        ("stuck_turns", "Turns that are overdue or whose worker is silent.", trouble.stuck_turns),
        ("expired_leases", "Running turns whose worker is silent.", trouble.expired_leases),
        ("unmirrored_refunds", "Ledger rows that the audit mirror does not show yet.", trouble.unmirrored),
        ("lately_ended_turns", "Turns ended in the last 15 minutes.", trouble.lately_ended),
        (
            "lately_unanswered_turns",
            "Turns ended in the last 15 minutes that gave their customer no text.",
            trouble.lately_unanswered,
        ),
        (
            "mirror_lag_seconds",
            "Age of the oldest change of a refund that the audit mirror does not show yet.",
            trouble.oldest_unmirrored_seconds,
        ),
    ):
        yield GaugeMetricFamily(f"refund_agent_{name}", what, value=value)
    breaches = GaugeMetricFamily(
        "refund_agent_invariant_breaches",
        "Turns of the last hour whose rows contradict a promise; never anything but 0.",
        labels=["rule"],
    )
    for rule, count in sorted(trouble.breaches.items()):
        breaches.add_metric([rule], count)
    yield breaches


def _of_redis(live: LiveFigures) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "refund_agent_queue_depth", "Messages that wait for a worker.", value=live.queue_depth
    )
    yield CounterMetricFamily(
        "refund_agent_lost_events",
        "Events of turns that could not be stored; kept in Redis, may start anew.",
        value=live.lost_events,
    )
    waiting = GaugeMetricFamily(
        "refund_agent_waiting_requests",
        "Requests that wait for their turn to end, by web process.",
        labels=["process"],
    )
    for process, count in sorted(live.waiting_by_process.items()):
        waiting.add_metric([process], count)
    yield waiting
