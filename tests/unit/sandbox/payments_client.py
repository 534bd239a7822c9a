"""A plain client of the payments stand-in."""

import contextlib

import requests

REFUND = {"order_id": "A1", "amount_cents": 500}
SHORT_SECONDS = 0.3
RECEIPT = {"refund_id": "rf_000001", "status": "succeeded", "amount_cents": 500}


class PaymentsClient:
    """A plain client of the stand-in, which follows no redirect unless told to."""

    def __init__(self, url: str, session: requests.Session) -> None:
        self.url = url
        self.session = session

    def refund(
        self, body: object = REFUND, *, timeout_seconds: float = 5, follow: bool = False
    ) -> requests.Response:
        return self.session.post(
            f"{self.url}/refunds", json=body, timeout=timeout_seconds, allow_redirects=follow
        )

    def refund_anyhow(self) -> None:
        """Ask with little patience, however it ends."""
        with contextlib.suppress(requests.RequestException):
            self.refund(timeout_seconds=SHORT_SECONDS)

    def get(self, path: str) -> requests.Response:
        return self.session.get(self.url + path, timeout=5)

    def post(self, path: str, body: object = None) -> requests.Response:
        return self.session.post(self.url + path, json=body, timeout=5)
