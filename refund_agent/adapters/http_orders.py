"""A shop's own order service over HTTP, as docs/integrate-orders.md describes it.

One question, one answer, within one total time. Whatever is not clearly an answer is
`OrdersUnavailable`: no silence, error or half-understood order ever makes anything eligible.
"""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote

import httpx
import structlog

from refund_agent.adapters.httpx_wall import WalledTransport
from refund_agent.adapters.orders_answer import (
    MAX_ID_LENGTH,
    NotUnderstood,
    read_listing,
    read_object,
    read_order,
)
from refund_agent.adapters.wall import outside_call, tls_context
from refund_agent.orders import MAX_LISTED, Order, OrdersUnavailable, Profile
from refund_agent.strict_json import unsafe_character

log = structlog.stdlib.get_logger(__name__)

FOUND: Final = 200
NOT_FOUND: Final = 404
LOCKED_OUT: Final = frozenset({401, 403})

_DOT_SEGMENT: Final = re.compile(r"(?:^|[/\\])\.{1,2}(?:$|[/\\])")
"""Some servers and proxies take `%2e%2e%2f` for `../`, so encoding alone does not tame these."""


class HttpOrders:
    """Implements the port `Orders`; safe to share among threads, `connections` of which can ask at once.

    `ca_file` replaces the usual certificate authorities, for a service with its own.
    """

    def __init__(
        self, url: str, token: str, *, timeout_seconds: float, connections: int, ca_file: str | None = None
    ) -> None:
        self._url = url.rstrip("/")
        self._timeout_seconds = timeout_seconds
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "refund-agent"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        tls = tls_context(ca_file) if url.lower().startswith("https:") else None
        self._http = httpx.Client(
            transport=WalledTransport(connections=connections, tls=tls),
            trust_env=False,
            follow_redirects=False,
            headers=headers,
        )

    def find(self, customer_id: str, order_id: str) -> Order | None:
        """Return the customer's own order, or None."""
        order = self.find_for_staff(order_id)
        return order if order is not None and order.customer_id == customer_id else None

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        """Return at most `limit` of the customer's own orders, the latest delivered first."""
        found = self._listing(customer_id)
        return [] if found is None else found[1][: min(limit, MAX_LISTED)]

    def profile(self, customer_id: str) -> Profile | None:
        """Return who this is, or None."""
        found = self._listing(customer_id)
        return None if found is None else found[0]

    def find_for_staff(self, order_id: str) -> Order | None:
        """Return an order whoever owns it. Never for a customer's turn."""
        if not _can_be_asked_for(order_id):
            return None
        with self._asking():
            given = self._ask(f"/orders/{_segment(order_id)}")
            order = None if given is None else read_order(given)
            if order is not None and order.id != order_id:
                raise NotUnderstood("id is not the one that was asked for")
        return order

    def close(self) -> None:
        """Close the idle connections."""
        self._http.close()

    def _listing(self, customer_id: str) -> tuple[Profile, Sequence[Order]] | None:
        if not _can_be_asked_for(customer_id):
            return None
        with self._asking():
            given = self._ask(f"/customers/{_segment(customer_id)}/orders?limit={MAX_LISTED}")
            if given is None:
                return None
            profile, orders = read_listing(given, customer_id=customer_id)
        return profile, sorted(orders, key=_latest_first)

    def _ask(self, target: str) -> Mapping[str, Any] | None:
        """Return the object in the answer, or None where the service itself says that there is none."""
        answer = self._http.get(self._url + target)
        if answer.status_code not in {FOUND, NOT_FOUND}:
            if answer.status_code in LOCKED_OUT:
                log.error("orders_locked_us_out", status=answer.status_code)
            raise OrdersUnavailable(f"HTTP {answer.status_code}")
        # Also a "not found" has to be the service's own: a gateway's page says nothing about an order.
        given = read_object(answer.content)
        return given if answer.status_code == FOUND else None

    @contextmanager
    def _asking(self) -> Generator[None]:
        """Give one question its time, and name whatever breaks by class only: its text may hold secrets."""
        try:
            with outside_call(self._timeout_seconds):
                yield
        except OrdersUnavailable:
            raise
        except NotUnderstood as error:
            log.warning("orders_answer_not_understood", reason=str(error))
            raise OrdersUnavailable(f"not understood: {error}") from error
        except Exception as error:
            log.warning("orders_not_asked", error=type(error).__name__)
            raise OrdersUnavailable(type(error).__name__) from error


def _can_be_asked_for(wanted: str) -> bool:
    """Whether this could be an id at all. One that could lead elsewhere in the service is never sent."""
    return (
        0 < len(wanted) <= MAX_ID_LENGTH
        and not _DOT_SEGMENT.search(wanted)
        and unsafe_character(wanted) is None
    )


def _segment(wanted: str) -> str:
    """Write an id as one segment of a path, whatever it holds."""
    return quote(wanted, safe="")


def _latest_first(order: Order) -> tuple[int, str]:
    return (-order.delivered_on.toordinal() if order.delivered_on else 0, order.id)
