"""What the web is given: it builds nothing, reads no environment and opens no connection itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from refund_agent.doctor import Finding
from refund_agent.facade import Ask, Started, Unreadable
from refund_agent.inspection import Inspection
from refund_agent.settings import Settings
from refund_agent.turn import NewTurn, TurnRecord

Probe: TypeAlias = Callable[[], object]
"""Asks one thing that the service needs. Returning means it is there; any exception means it is not."""


class Asks(Protocol):
    """The facade, as the web sees it."""

    def ask(self, new: NewTurn) -> Ask:
        """Run one turn and wait for its ending, at most until the deadline."""
        ...

    def start(self, new: NewTurn) -> Started | Ask:
        """Start one turn and return at once."""
        ...

    def find(self, turn_id: str) -> TurnRecord | Unreadable | None:
        """Return where a turn stands, or None."""
        ...


STOP_WAITING = "refund-agent-stop-waiting"
"""The application's extension of this name is `WebServices.stop_waiting`, for the server to call."""


@dataclass(frozen=True, slots=True)
class WebServices:
    """Everything the routes call.

    `probes` are named for what they ask: `database`, `redis`, `worker`. `render_metrics` returns the
    Prometheus text. `diagnose` returns what `flask doctor` prints, live checks included.
    `inspection` is what the operator's commands ask. `stop_waiting` makes every waiting request give up
    now, because the process is about to stop.
    """

    settings: Settings
    facade: Asks
    probes: Mapping[str, Probe]
    render_metrics: Callable[[], bytes]
    diagnose: Callable[[], Sequence[Finding]]
    inspection: Inspection
    stop_waiting: Callable[[], None] = lambda: None
