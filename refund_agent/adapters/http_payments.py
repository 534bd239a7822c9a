"""The payments service over HTTP: one request, one connection, one answer.

Nothing here sends twice: no redirect, no retry, no reused connection. A request whose first byte may
have left and whose answer is not clear is `Unknown`; `NotSent` is said only when the socket itself
proves it.
"""

import json
import ssl
from typing import Any

import requests
import structlog
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from refund_agent.adapters.payment_answer import (
    LOCKED_OUT_STATUSES,
    MAX_BODY_BYTES,
    HttpAnswer,
    read_answer,
)
from refund_agent.adapters.wall import OutsideCall, WalledSocket, connect, outside_call, tls_context
from refund_agent.outcomes import NotSent, PaymentAnswer, Unknown

log = structlog.stdlib.get_logger(__name__)


class RetryingSession(Exception):
    """A session that might send a request twice, or ask the environment whom to send it to."""


class HttpPayments:
    """Asks `POST {url}/refunds`, within `timeout_seconds` in total from the moment it is called.

    `ca_file` replaces the usual certificate authorities, for a payments service with its own.
    """

    def __init__(self, url: str, token: str, timeout_seconds: float, *, ca_file: str | None = None) -> None:
        self._endpoint = f"{url.rstrip('/')}/refunds"
        self._token = token
        self._timeout_seconds = timeout_seconds
        self._tls = tls_context(ca_file) if url.lower().startswith("https:") else None
        self._headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "Content-Type": "application/json",
            "User-Agent": "refund-agent",
        }
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        with self._open_session() as session:
            refuse_retrying(session)

    def refund(self, order_id: str, amount_cents: int, *, send_within_seconds: float) -> PaymentAnswer:
        """Ask payments once to move `amount_cents`. A lost answer is `Unknown`, never a guess.

        What could not begin to leave within `send_within_seconds` is `NotSent`.
        """
        with outside_call(self._timeout_seconds, send_within=send_within_seconds) as call:
            try:
                answer = self._exchange(order_id, amount_cents)
                ending = read_answer(answer, amount_cents=amount_cents, secret=self._token)
            except Exception as error:  # noqa: BLE001 - whatever breaks, the call has exactly one ending
                return _lost(call, error)
        if answer.status in LOCKED_OUT_STATUSES:
            log.error("payments_locked_us_out", status=answer.status)
        if isinstance(ending, Unknown):
            log.warning("payments_answer_unknown", reason=ending.reason, review=ending.review)
        return ending

    def _exchange(self, order_id: str, amount_cents: int) -> HttpAnswer:
        asked = {"order_id": order_id, "amount_cents": amount_cents}
        # Not `json=`: it would escape a lone surrogate and send what no store can keep.
        body = json.dumps(asked, ensure_ascii=False, allow_nan=False).encode("utf-8")
        with (
            self._open_session() as session,
            session.post(
                self._endpoint,
                data=body,
                headers=self._headers,
                timeout=self._timeout_seconds,
                allow_redirects=False,
                stream=True,
            ) as response,
        ):
            return _read(response)

    def _open_session(self) -> requests.Session:
        """A session of one call's own: no cookie, connection or pool outlives it."""
        session = _OneShotSession()
        session.trust_env = False
        for prefix in ("http://", "https://"):
            session.mount(prefix, _WalledAdapter(self._tls))
        return session


def refuse_retrying(session: requests.Session) -> None:
    """Raise `RetryingSession` if a request through `session` could be sent twice or elsewhere."""
    if session.trust_env:
        raise RetryingSession("the session reads proxies and passwords from the environment")
    for prefix, adapter in session.adapters.items():
        if not isinstance(adapter, HTTPAdapter):
            raise RetryingSession(f"the adapter of {prefix} is of an unknown kind")
        # With a total of 0 no other count of a Retry matters; None would mean "no limit".
        if adapter.max_retries.total is None or adapter.max_retries.total > 0:
            raise RetryingSession(f"the adapter of {prefix} would send a request again")


def _lost(call: OutsideCall, error: Exception) -> NotSent | Unknown:
    """Name the ending of an exchange that broke. An error's text may hold secrets: only its class is kept."""
    name = type(error).__name__
    if call.stage == "sending":
        log.warning("payments_answer_unknown", reason=name, review=False)
        return Unknown(name)
    if isinstance(error, requests.exceptions.SSLError):
        log.error("payments_not_trusted", stage=call.stage, error=name)
    else:
        log.warning("payments_not_sent", stage=call.stage, error=name)
    return NotSent(f"{name} while {call.stage}")


def _read(response: requests.Response) -> HttpAnswer:
    """Read an answer up to the cap, as it came over the wire: nothing is decoded or unpacked."""
    body, cut = bytearray(), ""
    try:
        while len(body) <= MAX_BODY_BYTES:
            piece = response.raw.read1(MAX_BODY_BYTES + 1 - len(body), decode_content=False)
            if not piece:
                break
            body += piece
        else:
            cut = f"body longer than {MAX_BODY_BYTES} bytes"
    except Exception as error:  # noqa: BLE001 - what was read is evidence, and the ending is the same
        cut = f"body broken off: {type(error).__name__}"
    return HttpAnswer(
        status=response.status_code,
        body=bytes(body),
        content_encoding=response.headers.get("Content-Encoding", ""),
        cut=cut,
    )


class _OneShotSession(requests.Session):
    """A session that knows no redirects.

    Told not to follow one, `requests` still reads and unpacks its whole body to prepare for it.
    """

    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002 - fixed by requests
        return None


def _connect(connection: HTTPConnection, host: str) -> WalledSocket:
    # A bare OSError would not do: urllib3 takes some for a peer that answered before it had read everything.
    try:
        return connect(host, connection.port or connection.default_port)
    except TimeoutError as error:
        raise ConnectTimeoutError(connection, str(error)) from error
    except OSError as error:
        raise NewConnectionError(connection, str(error)) from error


class _WalledConnection(HTTPConnection):
    def _new_conn(self) -> WalledSocket:
        return _connect(self, self._dns_host)


class _WalledTlsConnection(HTTPSConnection):
    def _new_conn(self) -> WalledSocket:
        return _connect(self, self._dns_host)


class _WalledPool(HTTPConnectionPool):
    ConnectionCls: Any = _WalledConnection


class _WalledTlsPool(HTTPSConnectionPool):
    ConnectionCls: Any = _WalledTlsConnection


class _WalledAdapter(HTTPAdapter):
    """The stock adapter over walled sockets, with a TLS context that is loaded once a process."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **more: object) -> None:  # noqa: FBT001, FBT002 - requests' own
        super().init_poolmanager(connections, maxsize, block, ssl_context=self._tls, **more)
        self.poolmanager.pool_classes_by_scheme = {"http": _WalledPool, "https": _WalledTlsPool}

    def cert_verify(self, conn: Any, url: object, verify: object, cert: object) -> None:  # noqa: ANN401, ARG002 - same
        # The stock version names a bundle file, which urllib3 would then load for every connection.
        conn.cert_reqs = "CERT_REQUIRED"
