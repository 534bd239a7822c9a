"""The figures, as Prometheus reads them."""

from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

from refund_agent.figures import DURATION_BOUNDS_SECONDS, Durations, LiveFigures, StoredFigures, Trouble
from refund_agent.ports import QueueUnavailable, StoreUnavailable
from web import metrics

STORED = StoredFigures(
    turns_by_outcome={"replied": 7, "provider_timed_out": 2},
    durations=Durations(
        up_to={bound: min(9, number) for number, bound in enumerate(DURATION_BOUNDS_SECONDS)},
        count=9,
        total_seconds=41.5,
    ),
    refunds_by_state={"paid": 4, "unknown": 1},
    approvals_by_state={"pending": 2, "expired": 1},
    open_turns_by_state={"running": 5},
    trouble=Trouble(
        oldest_unknown_seconds=93.0, stuck_turns=2, unmirrored=3, breaches={"flag_without_its_refund": 0}
    ),
)
LIVE = LiveFigures(queue_depth=3, waiting_by_process={"web.1": 12, "web.2": 0})


class FakeFigures:
    def __init__(self, stored: StoredFigures | None = STORED, live: LiveFigures | None = LIVE) -> None:
        self._stored = stored
        self._live = live

    def stored(self) -> StoredFigures:
        if self._stored is None:
            raise StoreUnavailable("away")
        return self._stored

    def live(self) -> LiveFigures:
        if self._live is None:
            raise QueueUnavailable("away")
        return self._live


def samples(figures: FakeFigures) -> Mapping[str, float]:
    """Read the text back as `name{label}` -> value."""
    text = metrics.render(figures).decode()
    return {
        sample.name + "".join(f"{{{value}}}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_stored_figures_are_told() -> None:
    told = samples(FakeFigures())

    assert told["refund_agent_turns_total{replied}"] == 7
    assert told["refund_agent_turns_total{provider_timed_out}"] == 2
    assert told["refund_agent_refunds{paid}"] == 4
    assert told["refund_agent_refunds{claimed}"] == 0
    assert told["refund_agent_approvals{expired}"] == 1
    assert told["refund_agent_approvals{declined}"] == 0
    assert told["refund_agent_open_turns{running}"] == 5
    assert told["refund_agent_oldest_unknown_refund_seconds"] == 93
    assert told["refund_agent_stuck_turns"] == 2
    assert told["refund_agent_expired_leases"] == 0
    assert told["refund_agent_unmirrored_refunds"] == 3
    assert told["refund_agent_invariant_breaches{flag_without_its_refund}"] == 0
    assert told["refund_agent_turn_duration_seconds_bucket{2.0}"] == 2
    assert told["refund_agent_turn_duration_seconds_bucket{+Inf}"] == 9
    assert told["refund_agent_turn_duration_seconds_count"] == 9
    assert told["refund_agent_turn_duration_seconds_sum"] == 41.5


def test_the_live_figures_are_told() -> None:
    told = samples(FakeFigures())

    assert told["refund_agent_queue_depth"] == 3
    assert told["refund_agent_waiting_requests{web.1}"] == 12
    assert told["refund_agent_waiting_requests{web.2}"] == 0


def test_a_source_that_is_away_is_shown_as_down_and_the_other_still_told() -> None:
    without_database = samples(FakeFigures(stored=None))
    without_redis = samples(FakeFigures(live=None))

    assert without_database["refund_agent_source_up{database}"] == 0
    assert without_database["refund_agent_source_up{redis}"] == 1
    assert without_database["refund_agent_queue_depth"] == 3
    assert "refund_agent_refunds{paid}" not in without_database
    assert without_redis["refund_agent_source_up{redis}"] == 0
    assert without_redis["refund_agent_refunds{paid}"] == 4
    assert "refund_agent_queue_depth" not in without_redis
