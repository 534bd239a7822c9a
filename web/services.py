"""What the web is given: it builds nothing, reads no environment and opens no connection itself."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from refund_agent.approval_desk import ApprovalDesk
from refund_agent.casebook import Casebook
from refund_agent.conversations import Conversations
from refund_agent.doctor import Finding
from refund_agent.eligibility import Eligibility
from refund_agent.facade import AskAnswer, Started, Unreadable
from refund_agent.identity import SignIn
from refund_agent.inspection import Inspection
from refund_agent.overview import Overviews
from refund_agent.retention import Retention
from refund_agent.reveals import Reveals
from refund_agent.sessions import Sessions
from refund_agent.settings import Settings
from refund_agent.support_desk import SupportDesk
from refund_agent.timeline import TurnFiles
from refund_agent.turn import NewTurn, TurnRecord
from web.commands_support import PolicyDesk
from web.turn_events import TurnStreams

Probe: TypeAlias = Callable[[], object]
"""Asks one thing that the service needs. Returning means it is there; any exception means it is not."""


class Asks(Protocol):
    """The facade, as the web sees it."""

    def ask(self, new: NewTurn) -> AskAnswer:
        """Run one turn and wait for its ending, at most until the deadline."""
        ...

    def start(self, new: NewTurn) -> Started | AskAnswer:
        """Start one turn and return at once."""
        ...

    def find(self, turn_id: str) -> TurnRecord | Unreadable | None:
        """Return where a turn stands, or None."""
        ...


STOP_WAITING = "refund-agent-stop-waiting"
"""The application's extension of this name is `WebServices.stop_waiting`, for the server to call."""


@dataclass(frozen=True, slots=True)
class SupportServices:
    """What the support agent's routes call; `facade` queues as refund chat's does, and records it."""

    facade: Asks
    desk: SupportDesk
    conversations: Conversations
    approvals: ApprovalDesk
    eligibility: Eligibility


@dataclass(frozen=True, slots=True)
class ConsoleServices:
    """What the console's pages call.

    `workers_alive` returns the processes heard of lately, None when that cannot be asked; a worker says that
    it has a turn three times in `lease_seconds`. `over_https_only`: the cookie is sent over nothing else.
    """

    sessions: Sessions
    casebook: Casebook
    inspection: Inspection
    approvals: ApprovalDesk
    conversations: Conversations
    reveals: Reveals
    turn_files: TurnFiles
    overviews: Overviews
    workers_alive: Callable[[], Collection[str] | None]
    lease_seconds: float
    over_https_only: bool


@dataclass(frozen=True, slots=True)
class WebServices:
    """Everything the routes call.

    `probes` are named for what they ask: `database`, `redis`, `worker`. `render_metrics` returns the
    Prometheus text. `diagnose` returns what `flask doctor` prints, live checks included.
    `inspection` is what the operator's commands ask. Without `streams` no turn can be watched.
    Without `sign_in` there is no support agent, and neither `support` nor `console`.
    `policy_desk` is what `flask policy` and `flask seed` call, `retention` what `flask conversations purge`
    does. `stop_waiting` makes every waiting request give up now, because the process is about to stop.
    """

    settings: Settings
    facade: Asks
    probes: Mapping[str, Probe]
    render_metrics: Callable[[], bytes]
    diagnose: Callable[[], Sequence[Finding]]
    inspection: Inspection
    streams: TurnStreams | None = None
    sign_in: SignIn | None = None
    policy_desk: PolicyDesk | None = None
    support: SupportServices | None = None
    console: ConsoleServices | None = None
    retention: Retention | None = None
    stop_waiting: Callable[[], None] = lambda: None
