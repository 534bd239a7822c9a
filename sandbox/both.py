"""Both stand-ins behind one address: the model under /v1, payments under /payments, an index at /."""

from dataclasses import replace

from sandbox import pages
from sandbox.answers import Answer, Raw, Reply, Request, as_json
from sandbox.model import Model
from sandbox.payments import Payments

PAYMENTS = "/payments"


class Both:
    """`OPENAI_BASE_URL` is the address with `/v1`, `PAYMENTS_URL` the address with `/payments`."""

    def __init__(self, *, model: Model, payments: Payments) -> None:
        self._model = model
        self._payments = payments

    def opening(self, path: str) -> Raw | None:
        """Let payments take a connection over before the request is read."""
        return self._payments.opening(path.removeprefix(PAYMENTS)) if path.startswith(PAYMENTS) else None

    def answer(self, request: Request) -> Answer:
        """Send a request to the stand-in it is for."""
        path = request.path
        if path in {PAYMENTS, "/v1"}:
            return Reply(308, headers=(("Location", f"{path}/"),))
        if path.startswith(f"{PAYMENTS}/"):
            return self._payments.answer(replace(request, path=path.removeprefix(PAYMENTS)))
        if path.startswith("/v1/"):
            return self._model.answer(request)
        if request.method == "GET" and path == "/":
            return pages.index_page()
        if request.method == "GET" and path == "/style.css":
            return pages.style()
        return as_json({"detail": "not found; the index is at /"}, 404)
