"""What staff look through: conversations, and turns that belong to none, found by what is known of them."""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

QueueName: TypeAlias = Literal["approvals", "unknown", "stuck"]


class Casebook(Protocol):
    """Reads for the console; any call may raise `StoreUnavailable`."""

    def waiting(self) -> Mapping[QueueName, int]:
        """Count what waits for a person, queue by queue."""
        ...

    def currencies(self, order_ids: list[str]) -> Mapping[str, str]:
        """Return the currency of each of the orders that the database has."""
        ...
