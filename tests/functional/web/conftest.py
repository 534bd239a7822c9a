"""The web over a fake facade: requests through Flask's test client, and what the facade was asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from refund_agent.doctor import Finding
from refund_agent.facade import AskAnswer, Started, Unreadable
from refund_agent.identity import SignIn
from refund_agent.inspection import Inspection
from refund_agent.outcomes import RefundRecord, Replied, TurnOutcome
from refund_agent.settings import Settings
from refund_agent.turn import NewTurn, TurnRecord
from tests.functional.web.support_room import SupportRoom
from tests.functional.web.turn_stage import TurnStage
from web import WebServices, create_app
from web.services import Probe

Answer = Callable[[NewTurn], AskAnswer]


def ended(outcome: TurnOutcome, refund: RefundRecord | None = None) -> Answer:
    """An ended turn, under whatever id it was asked."""
    return lambda new: TurnRecord(new.id, "ended", 0, 120_000, outcome=outcome, refund=refund)


class FakeFacade:
    """Gives its answer to every turn, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: Answer = ended(Replied("All done."))
        self.asked: list[NewTurn] = []
        self.found: dict[str, TurnRecord | Unreadable] = {}

    def ask(self, new: NewTurn) -> AskAnswer:
        self.asked.append(new)
        return self.answer(new)

    def start(self, new: NewTurn) -> Started | AskAnswer:
        self.asked.append(new)
        return Started(new.id)

    def find(self, turn_id: str) -> TurnRecord | Unreadable | None:
        return self.found.get(turn_id)


@dataclass
class Web:
    """The application and what it stands on; change a part before the first request."""

    facade: FakeFacade = field(default_factory=FakeFacade)
    settings: Settings = field(default_factory=Settings)
    probes: dict[str, Probe] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    sign_in: SignIn | None = None
    _client: FlaskClient | None = None

    @property
    def client(self) -> FlaskClient:
        if self._client is None:
            services = WebServices(
                settings=self.settings,
                facade=self.facade,
                probes=self.probes,
                render_metrics=lambda: b"# no figures\n",
                diagnose=lambda: self.findings,
                inspection=cast("Inspection", None),  # the commands have tests of their own
                sign_in=self.sign_in,
            )
            self._client = create_app(services).test_client()
        return self._client

    def set(self, **changes: Any) -> None:
        self.settings = replace(self.settings, **changes)

    def ask(self, **fields: Any) -> TestResponse:
        """Ask with a valid body, except for these fields; `...` leaves a field out."""
        body = {"user_id": "customer-17", "message": "Refund ORD-1001, please.", **fields}
        given = {name: value for name, value in body.items() if value is not ...}
        return self.client.post("/support/refund-chat", json=given)

    def send(
        self, body: bytes | str, content_type: str | None = "application/json", **more: Any
    ) -> TestResponse:
        """Send these bytes as they are."""
        data = body.encode() if isinstance(body, str) else body
        return self.client.post("/support/refund-chat", data=data, content_type=content_type, **more)


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
def room(database_url: str, redis_url: str) -> Iterator[SupportRoom]:
    turn_stage = TurnStage(database_url, redis_url)
    yield SupportRoom.open(turn_stage)
    turn_stage.close()


def problem_of(answer: TestResponse, status: int) -> dict[str, Any]:
    """Check that the answer is a whole RFC 9457 problem of this status, and return it."""
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    document = answer.json
    assert isinstance(document, dict)
    assert {"type", "title", "status", "detail", "turn_id", "refund"} <= document.keys()
    assert document["status"] == status
    assert "Traceback" not in answer.text
    return document
