"""Who was shown what an export hides otherwise. It is recorded before the first byte is shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from refund_agent.identity import Staff


@dataclass(frozen=True, slots=True)
class Reveal:
    """One export with everything in it; `what` is the address that was exported. Database time."""

    staff_id: str
    staff_name: str
    what: str
    at_ms: int


class Reveals(Protocol):
    """The record of reveals; any call may raise `StoreUnavailable`, and then nothing may be shown."""

    def record(self, staff: Staff, what: str) -> None:
        """Record that this member of staff is about to be shown everything of this."""
        ...

    def recent(self, *, limit: int) -> Sequence[Reveal]:
        """Return the newest, newest first."""
        ...
