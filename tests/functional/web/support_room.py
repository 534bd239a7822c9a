"""The support agent's routes over a real database and Redis; a turn runs as soon as it is queued."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from refund_agent.adapters.redis_sessions import RedisSessions
from refund_agent.adapters.sql_casebook import SqlCasebook
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_orders import SqlOrderRefunds
from refund_agent.adapters.sql_overview import SqlOverviews
from refund_agent.adapters.sql_reveals import SqlReveals
from refund_agent.adapters.sql_seeds import SqlSeeds
from refund_agent.adapters.sql_turn_files import SqlTurnFiles
from refund_agent.facade import Facade
from refund_agent.inspection import Inspection
from refund_agent.orders import Order, Profile
from refund_agent.ports import CompletionAnswer
from refund_agent.recorder import Recorder
from refund_agent.settings import Settings
from tests.fakes import FakeModel, FakeQueue
from tests.functional.web.people import FakeIdentities, bearer, sign_in
from tests.functional.web.turn_stage import TurnStage
from tests.policy_cases import ORDER
from tests.support_stage import SupportStage
from web import WebServices, create_app
from web.services import ConsoleServices, SupportServices

CHAT = "/support/chat"


class NoWaiting:
    """The turn has ended by the time anybody would wait for it."""

    closing = False

    @contextmanager
    def seat(self, turn_id: str) -> Generator[Self]:
        yield self

    def wait(self, seconds: float) -> None:
        pass


class RunningQueue(FakeQueue):
    """Lets a worker run what is queued, at once, unless it is `held`."""

    def __init__(self, run: Callable[[str], object]) -> None:
        super().__init__()
        self.run = run
        self.held = False

    def put(self, turn_id: str) -> None:
        super().put(turn_id)
        if not self.held:
            self.run(turn_id)


@dataclass
class SupportRoom:
    """What a test of the routes stands on. Alice has two orders, Bob one."""

    stage: SupportStage
    turn_stage: TurnStage
    queue: RunningQueue
    identities: FakeIdentities
    console: ConsoleServices
    client: FlaskClient

    @classmethod
    def open(cls, turn_stage: TurnStage, settings: Settings | None = None) -> Self:
        stage = SupportStage(turn_stage.database, journal=turn_stage.journal)
        queue = RunningQueue(lambda turn_id: stage.runner().run(turn_id))
        stage.queue, stage.approval_desk = queue, replace(stage.approval_desk, queue=queue)
        facade = Facade(
            turns=stage.turns,
            queue=Recorder(stage.journal).queue(queue),
            waiting_room=NoWaiting(),
            clock=stage.clock,
            deadline_seconds=120,
        )
        signing_in = sign_in()
        console = ConsoleServices(
            sessions=RedisSessions(turn_stage.redis),
            casebook=SqlCasebook(stage.database),
            inspection=SqlInspection(stage.database),
            approvals=stage.approval_desk,
            conversations=stage.conversations,
            reveals=SqlReveals(stage.database),
            turn_files=SqlTurnFiles(stage.database),
            overviews=SqlOverviews(stage.database),
            workers_alive=lambda: {"w1"},
            lease_seconds=15,
            over_https_only=False,
        )
        services = WebServices(
            settings=settings or Settings(),
            facade=facade,
            probes={},
            render_metrics=lambda: b"",
            diagnose=lambda: (),
            inspection=cast("Inspection", None),
            streams=turn_stage.streams,
            sign_in=signing_in,
            support=SupportServices(
                facade, stage.desk, stage.conversations, stage.approval_desk, stage.eligibility
            ),
            console=console,
        )
        today = SqlOrderRefunds(stage.database).standing([]).today
        mine = replace(ORDER, customer_id="alice", delivered_on=today)
        placed: list[Order] = [
            replace(mine, id="A1", paid_cents=80_000),
            replace(mine, id="A2", final_sale=True),
            replace(mine, id="B1", customer_id="bob"),
        ]
        SqlSeeds(stage.database).put([Profile("alice", "Alice", ""), Profile("bob", "Bob", "")], placed)
        identities = cast("FakeIdentities", signing_in.identities)
        return cls(stage, turn_stage, queue, identities, console, create_app(services).test_client())

    def chat(
        self,
        message: str = "Hello",
        *script: CompletionAnswer,
        by: str = "alice",
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> TestResponse:
        """Send a message while the model answers by `script`."""
        self.stage.model = FakeModel(*script)
        body = {"message": message, **more}
        return self.client.post(CHAT, json=body, headers={**bearer(f"is-{by}"), **(headers or {})})

    def get(self, path: str, by: str = "alice") -> TestResponse:
        return self.client.get(path, headers=bearer(f"is-{by}"))

    def post(self, path: str, body: Any = None, *, by: str) -> TestResponse:
        return self.client.post(path, json=body, headers=bearer(f"is-{by}"))


def body_of(answer: TestResponse) -> dict[str, Any]:
    """Return the document of an answer that is 200."""
    assert answer.status_code == 200, answer.text
    document = answer.json
    assert isinstance(document, dict)
    return document
