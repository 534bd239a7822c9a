"""What is known of each turn's life, from the commits and from what the outside world saw."""

from dataclasses import dataclass, field

from tests.simulation.hostile_calls import Calls
from tests.simulation.stage import Stage

OPEN = frozenset({"claimed", "unknown"})


@dataclass
class Gate:
    """A row of `refunds` as it was last committed."""

    state: str
    epoch: int
    call: str
    order_id: str
    amount_cents: int
    refund_id: str
    status: str
    detail: str
    claimed_at: float = 0.0
    claimant: object = None
    states: list[str] = field(default_factory=list)


@dataclass
class Life:
    """One turn: its row as last committed, and what happened to it outside."""

    id: str
    message: str
    asked_at: float
    key: str = ""
    fingerprint: str = ""
    customer_id: str = ""
    conversation_id: str = ""
    # the row
    state: str = ""
    epoch: int = 0
    owner: str = ""
    used: int = 0
    attempts: int = 1
    flag: bool = False
    transcript: str = ""
    outcome: str | None = None
    reply: str | None = None
    deadline: float = 0.0
    lease_until: float = 0.0
    ended_at: float = 0.0
    gate: Gate | None = None
    # what happened
    owners: int = 0
    put_off: int = 0
    handed_over: int = 0
    completions: list[int] = field(default_factory=list)
    retries: int = 0
    requests: list[tuple[str, int]] = field(default_factory=list)
    moved: list[tuple[str, int]] = field(default_factory=list)
    was_queued: bool = False
    queue_failed: bool = False
    forgot: bool = False
    # what the caller was told
    told: str = ""
    told_never_runs: bool = False
    used_when_told: int = 0
    told_no_refund: bool = False
    told_not_moved: bool = False

    def tell_never_runs(self) -> None:
        """Note that the caller was told so: a completion that is under way may still come back, no more."""
        self.told_never_runs, self.used_when_told = True, self.used


class Lives:
    """Every turn of an episode, and the one way to say that something must hold."""

    def __init__(self, stage: Stage, calls: Calls) -> None:
        self.stage = stage
        self.calls = calls
        self.of: dict[str, Life] = {}
        self.open_orders: dict[str, set[str]] = {}
        self.requests_by_key: dict[str, list[str]] = {}
        self.unended: set[str] = set()
        self.open_claims: set[str] = set()

    def must(self, holds: object, invariant: str, life: Life, text: str = "") -> None:
        """Count a check, and report it when it does not hold."""
        self.stage.tally.checks[invariant] += 1
        if not holds:
            self.stage.breach(invariant, life.id, text or invariant)

    @property
    def now(self) -> float:
        return self.stage.scheduler.now
