"""The support agent over HTTP: who gets which answer, and what was stored and sent by then."""

import uuid
from collections.abc import Callable

import pytest
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from refund_agent.adapters.sql_support_tables import approvals, conversations
from refund_agent.adapters.sql_tables import turns
from refund_agent.ports import StoreUnavailable
from refund_agent.turn import ToolCall
from tests.fakes import calls, calls_refund, fails, says, times_out
from tests.functional.web.conftest import problem_of
from tests.functional.web.people import bearer
from tests.functional.web.support_room import CHAT, SupportRoom, body_of
from tests.functional.web.turn_stage import read_stream


def stored(room: SupportRoom) -> tuple[int, int]:
    """How many turns and conversations there are."""
    with room.stage.database.transaction() as tx:
        return tuple(
            tx.execute(select(func.count()).select_from(t)).scalar_one() for t in (turns, conversations)
        )  # type: ignore[return-value]  # two of them


# --- A message and its answer ---------------------------------------------------------------------


def test_a_reply_has_exactly_these_members(room: SupportRoom) -> None:
    answer = room.chat("Hello", says("Good day."))
    body = body_of(answer)
    assert set(body) == {"reply", "words", "conversation_id", "turn_id", "refund", "owner"}
    assert (body["reply"], body["refund"], body["owner"]) == ("Good day.", None, "agent")
    assert answer.headers["X-Turn-Id"] == body["turn_id"]
    again = body_of(room.chat("And?", says("Yes."), conversation_id=body["conversation_id"]))
    assert again["conversation_id"] == body["conversation_id"]
    assert again["turn_id"] != body["turn_id"]


def test_a_refund_is_in_the_answer_as_the_ledger_has_it(room: SupportRoom) -> None:
    body = body_of(room.chat("Refund A1", calls_refund("A1", 4_999), says("Done.")))
    assert body["refund"] == {
        "state": "paid",
        "order_id": "A1",
        "amount_cents": 4_999,
        "refund_id": "re-1",
    }
    assert "Refund sent: 49.99 EUR for order A1. Reference: re-1" in body["reply"]
    assert room.stage.payments.moved == [("A1", 4_999)]


@pytest.mark.fault(193)
def test_cents_that_the_model_took_for_whole_money_are_told_as_what_moved(room: SupportRoom) -> None:
    """No type can tell 50 cents from 50 euros: the reply says what the ledger has, and only that."""
    told = says("I have refunded 50.00 EUR for order A1.")
    body = body_of(room.chat("Refund 50.00 for A1", calls_refund("A1", 50), told))
    assert room.stage.payments.moved == [("A1", 50)]
    assert "Refund sent: 0.50 EUR for order A1." in body["reply"]
    assert "50.00" not in body["reply"]


@pytest.mark.fault(193)
def test_whole_money_that_the_model_took_for_cents_is_more_than_the_order_and_is_not_sent(
    room: SupportRoom,
) -> None:
    body = body_of(room.chat("Refund all of A1", calls_refund("A1", 8_000_000), says("Done.")))
    assert (room.stage.payments.requests, body["refund"]) == ([], None)


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"", "application/json", 400),
        (b'{"message": "' + b"x" * 70_000 + b'"}', "application/json", 413),
        (b'{"message": "Hello"}', "text/plain", 415),
        (b"{}", "application/json", 422),
        (b"[]", "application/json", 422),
        (b'{"message": " "}', "application/json", 422),
        (b'{"message": 7}', "application/json", 422),
        pytest.param(
            b'{"message": "Hello", "user_id": "bob"}', "application/json", 422, marks=pytest.mark.fault(23)
        ),
        (b'{"message": "Hello", "customer_id": "bob"}', "application/json", 422),
        (b'{"message": "Hello", "conversation_id": "not-one"}', "application/json", 422),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_is_stored(
    room: SupportRoom, body: bytes, content_type: str, status: int
) -> None:
    answer = room.client.post(CHAT, data=body, content_type=content_type, headers=bearer("is-alice"))
    problem_of(answer, status)
    assert stored(room) == (0, 0)


@pytest.mark.parametrize(("token", "status"), [("", 401), ("forged", 401), ("is-dana", 403), ("is-sam", 403)])
def test_only_a_customer_may_write(room: SupportRoom, token: str, status: int) -> None:
    headers = bearer(token) if token else {}
    problem_of(room.client.post(CHAT, json={"message": "Hello"}, headers=headers), status)
    assert stored(room) == (0, 0)


@pytest.mark.fault(267)
def test_somebody_elses_conversation_answers_as_one_that_is_not_there(room: SupportRoom) -> None:
    mine = body_of(room.chat("Hello", says("Hi.")))["conversation_id"]
    asks: list[Callable[[str], TestResponse]] = [
        lambda one: room.chat("Hello", by="bob", conversation_id=one),
        lambda one: room.get(f"/support/conversations/{one}", by="bob"),
    ]
    for ask in asks:
        foreign, missing = problem_of(ask(mine), 404), problem_of(ask(str(uuid.uuid4())), 404)
        assert {**foreign, "turn_id": ""} == {**missing, "turn_id": ""}
    assert stored(room) == (1, 1)


@pytest.mark.fault(31)
def test_while_a_turn_runs_the_conversation_is_busy(room: SupportRoom) -> None:
    conversation_id = room.stage.open("alice")
    room.stage.store("Slow one", conversation_id=conversation_id, customer_id="alice")
    problem_of(room.chat("Another", conversation_id=conversation_id), 409)
    assert stored(room) == (1, 1)


def test_what_the_provider_does_is_told_with_the_refund(room: SupportRoom) -> None:
    lost = problem_of(room.chat("Refund", calls_refund("A1", 100), fails("500")), 502)
    assert lost["refund"]["state"] == "paid"
    slow = problem_of(room.chat("Hello", times_out(), times_out()), 504)
    assert slow["refund"] is None


# --- Sent again -----------------------------------------------------------------------------------


def test_a_message_that_is_sent_again_with_its_key_is_one_turn(room: SupportRoom) -> None:
    key = {"Idempotency-Key": "k-1"}
    first = room.chat("Refund A1", calls_refund("A1", 4_999), says("Done."), headers=key)
    again = room.chat("Refund A1", headers=key)
    assert body_of(again) == body_of(first)
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert room.stage.payments.requests == [("A1", 4_999)]
    assert stored(room) == (1, 1)
    problem_of(room.chat("Refund A2", headers=key), 422)


STARTS_NO_TURN = {
    "/support/approvals/<uuid:approval_id>",
    "/support/conversations/<uuid:conversation_id>/give-back",
    "/support/conversations/<uuid:conversation_id>/messages",
    "/support/conversations/<uuid:conversation_id>/take",
    "/support/tickets",
}
"""What else may be posted to, by rule. Approving starts the turn that has the approval's own id."""


@pytest.mark.fault(33)
def test_every_route_that_starts_a_turn_reads_the_key(room: SupportRoom) -> None:
    """A route that is new has to be looked at: either it reads the key or it starts no turn."""
    bodies: dict[str, object] = {
        "/support/chat": {"message": "Refund A1"},
        "/support/refund-chat": {"user_id": "alice", "message": "Refund A1"},
    }
    posted = {
        rule.rule
        for rule in room.client.application.url_map.iter_rules()
        if rule.rule.startswith("/support/") and "POST" in (rule.methods or ())
    }
    assert posted == STARTS_NO_TURN | set(bodies)
    for path, body in bodies.items():
        headers = {"Idempotency-Key": '"never closed', **bearer("is-alice")}
        answer = room.client.post(path, json=body, headers=headers)
        assert problem_of(answer, 400)["type"] == "urn:refund-agent:problem:malformed-key"
    assert stored(room) == (0, 0)


def test_two_customers_with_one_key_are_two(room: SupportRoom) -> None:
    key = {"Idempotency-Key": "k-1"}
    mine = body_of(room.chat("Hello", says("To Alice."), headers=key))
    theirs = body_of(room.chat("Hello", says("To Bob."), by="bob", headers=key))
    assert theirs["reply"] == "To Bob."
    assert theirs["conversation_id"] != mine["conversation_id"]


# --- As a stream ----------------------------------------------------------------------------------


def test_an_event_stream_is_given_to_whoever_accepts_one(room: SupportRoom) -> None:
    answer = room.chat(
        "Refund A1",
        calls_refund("A1", 4_999),
        says("Done."),
        headers={"Accept": "text/event-stream"},
    )
    assert answer.status_code == 200
    assert answer.mimetype == "text/event-stream"
    begun = room.stage.conversations.find(answer.headers["X-Conversation-Id"], customer_id="alice")
    assert begun is not None, "a stream has no body to say in which conversation it is"
    names = [name for _, name, _ in read_stream(answer.data)]
    assert names[-1] == "ended"
    assert {"tool_call", "tool_result", "settle"} <= set(names)
    answer.close()
    assert room.turn_stage.places.taken == 0


@pytest.mark.parametrize("accept", ["application/json", "*/*", "text/html"])
def test_everybody_else_is_given_json(room: SupportRoom, accept: str) -> None:
    answer = room.chat("Hello", says("Hi."), headers={"Accept": accept})
    assert answer.mimetype == "application/json"


def test_a_stream_that_cannot_begin_gives_its_place_back(room: SupportRoom) -> None:
    def away() -> None:
        raise StoreUnavailable("away")

    room.stage.limiter.before = away
    problem_of(room.chat("Hello", headers={"Accept": "text/event-stream"}), 503)
    assert room.turn_stage.places.taken == 0


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_retry_that_finds_no_database_is_promised_nothing_about_money(
    room: SupportRoom, accept: str
) -> None:
    """The key's turn may have paid; without a key nothing was asked before, and nothing was sent."""

    def away() -> None:
        raise StoreUnavailable("away")

    room.stage.limiter.before = away
    keyed = problem_of(room.chat("Hello", headers={"Accept": accept, "Idempotency-Key": '"k"'}), 503)
    assert keyed["refund"] == {"state": "unknown"}
    assert "with the same key again" in keyed["detail"]
    assert problem_of(room.chat("Hello", headers={"Accept": accept}), 503)["refund"] is None


def test_a_stream_that_is_refused_gives_its_place_back(room: SupportRoom) -> None:
    answer = room.chat("Hello", conversation_id=str(uuid.uuid4()), headers={"Accept": "text/event-stream"})
    problem_of(answer, 404)
    assert room.turn_stage.places.taken == 0


# --- Reading --------------------------------------------------------------------------------------


@pytest.mark.fault(267)
def test_orders_are_the_customers_own_with_why_not(room: SupportRoom) -> None:
    listed = {one["order_id"]: one for one in body_of(room.get("/support/orders"))["orders"]}
    assert set(listed) == {"A1", "A2"}
    assert listed["A1"]["refundable_cents"] == 80_000
    assert listed["A1"]["decision"]["rule"] == "needs_approval"
    assert listed["A2"]["refundable_cents"] == 0
    assert listed["A2"]["decision"]["rule"] == "final_sale"
    assert [one["order_id"] for one in body_of(room.get("/support/orders", by="bob"))["orders"]] == ["B1"]
    problem_of(room.get("/support/orders", by="dana"), 403)


def test_conversations_are_paged_by_cursor(room: SupportRoom) -> None:
    opened = {room.stage.open("alice") for _ in range(25)}
    room.stage.open("bob")
    first = body_of(room.get("/support/conversations"))
    second = body_of(room.get(f"/support/conversations?after={first['next']}"))
    ids = [one["conversation_id"] for page in (first, second) for one in page["conversations"]]
    assert (len(first["conversations"]), len(ids), set(ids)) == (20, 25, opened)
    assert second["next"] is None
    for wrong in ("x", "W10=", "WzEsICJ4Il0="):
        problem_of(room.get(f"/support/conversations?after={wrong}"), 422)


def test_a_conversation_is_shown_with_times_and_staff_see_any(room: SupportRoom) -> None:
    body = body_of(room.chat("Refund A1", calls_refund("A1", 100), says("Done.")))
    path = f"/support/conversations/{body['conversation_id']}"
    mine, theirs = body_of(room.get(path)), body_of(room.get(path, by="sam"))
    assert mine == theirs
    assert [line["speaker"] for line in mine["messages"]] == ["customer", "agent"]
    assert mine["messages"][1]["refund"]["state"] == "paid"
    assert all(isinstance(line["at_ms"], int) for line in mine["messages"])


# --- People ---------------------------------------------------------------------------------------


def test_while_a_person_has_the_conversation_no_turn_is_made(room: SupportRoom) -> None:
    conversation_id = room.stage.open("alice")
    path = f"/support/conversations/{conversation_id}"
    problem_of(room.post(f"{path}/take", by="alice"), 403)
    problem_of(room.post(f"{path}/take", by="sam"), 403)
    assert body_of(room.post(f"{path}/take", by="dana"))["owner"] == "person"
    problem_of(room.post(f"{path}/take", by="dana"), 409)
    silent = body_of(room.chat("Anybody?", conversation_id=conversation_id))
    assert silent == {
        "reply": "",
        "words": None,
        "conversation_id": conversation_id,
        "turn_id": None,
        "refund": None,
        "owner": "person",
    }
    assert stored(room) == (0, 1)
    body_of(room.post(f"{path}/messages", {"text": "I am here."}, by="dana"))
    problem_of(room.post(f"{path}/messages", {"text": "Me too."}, by="alice"), 403)
    assert body_of(room.post(f"{path}/give-back", by="dana"))["owner"] == "agent"
    lines = body_of(room.get(path))["messages"]
    assert [(line["speaker"], line["text"]) for line in lines] == [
        ("system", "A colleague has joined the conversation."),
        ("customer", "Anybody?"),
        ("staff", "I am here."),
        ("system", "The assistant answers again."),
    ]
    assert body_of(room.chat("Thanks", says("Welcome."), conversation_id=conversation_id))["owner"] == "agent"


def test_the_turn_that_hands_over_says_so_and_the_next_message_waits(room: SupportRoom) -> None:
    hand_over = ToolCall("c", "escalate_to_human", '{"reason": "They ask for a person."}')
    body = body_of(room.chat("A person!", calls(hand_over), says("Somebody will come.")))
    after = body_of(room.chat("Hello?", conversation_id=body["conversation_id"]))
    assert (after["owner"], after["reply"], after["turn_id"]) == ("person", "", None)


# --- Approvals ------------------------------------------------------------------------------------


@pytest.fixture
def waiting(room: SupportRoom) -> str:
    """An approval of 800.00 that waits."""
    room.chat("Refund all of A1", calls_refund("A1", 80_000), says("A colleague decides."))
    (found,) = body_of(room.get("/support/approvals", by="sam"))["approvals"]
    assert (found["state"], found["customer_id"], found["amount_cents"]) == ("pending", "alice", 80_000)
    return str(found["approval_id"])


def decide(room: SupportRoom, approval_id: str, decision: str, *, by: str = "dana") -> TestResponse:
    return room.post(
        f"/support/approvals/{approval_id}", {"decision": decision, "reason": "As agreed."}, by=by
    )


def test_approvals_are_for_staff_and_decisions_for_those_who_may_write(
    room: SupportRoom, waiting: str
) -> None:
    problem_of(room.get("/support/approvals"), 403)
    problem_of(room.client.get("/support/approvals"), 401)
    for by in ("alice", "bob", "sam"):
        problem_of(decide(room, waiting, "approve", by=by), 403)
    problem_of(decide(room, str(uuid.uuid4()), "approve"), 404)
    problem_of(decide(room, waiting, "perhaps"), 422)
    problem_of(room.post(f"/support/approvals/{waiting}", {"decision": "approve"}, by="dana"), 422)
    problem_of(room.get("/support/approvals?state=any", by="dana"), 422)
    assert room.stage.payments.requests == []


@pytest.mark.fault(268)
def test_approving_sends_once_and_a_second_decision_is_a_conflict(room: SupportRoom, waiting: str) -> None:
    body = body_of(decide(room, waiting, "approve"))
    assert (body["state"], body["decided_by"], body["refund_turn_id"]) == ("approved", "dana", waiting)
    for decision in ("approve", "decline"):
        conflict = problem_of(decide(room, waiting, decision), 409)
        assert conflict["approval"]["state"] == "approved"
    assert room.stage.payments.requests == [("A1", 80_000)]
    lines = body_of(room.get(f"/support/conversations/{body['conversation_id']}"))["messages"]
    assert "Refund sent: 800.00 EUR for order A1" in lines[-1]["text"]


def test_declining_sends_nothing_and_tells_the_customer(room: SupportRoom, waiting: str) -> None:
    body = body_of(decide(room, waiting, "decline"))
    assert (body["state"], body["refund_turn_id"]) == ("declined", None)
    assert room.stage.payments.requests == []
    lines = body_of(room.get(f"/support/conversations/{body['conversation_id']}"))["messages"]
    assert lines[-1]["text"] == "A colleague declined your refund: As agreed."
    assert body_of(room.get("/support/approvals?state=declined", by="sam"))["approvals"]


def test_an_expired_one_cannot_be_approved(room: SupportRoom, waiting: str) -> None:
    with room.stage.database.transaction() as tx:
        tx.execute(update(approvals).values(expires_at_ms=1))
    problem_of(decide(room, waiting, "approve"), 409)
    assert room.stage.payments.requests == []


def test_the_member_of_staff_who_is_the_customer_may_not_decide(room: SupportRoom, waiting: str) -> None:
    with room.stage.database.transaction() as tx:
        tx.execute(update(approvals).values(customer_id="dana"))
    problem_of(decide(room, waiting, "approve"), 403)
    assert room.stage.payments.requests == []


@pytest.mark.parametrize("character", ["\x00", "\ud800"])
def test_what_staff_write_can_be_kept_or_is_refused(room: SupportRoom, waiting: str, character: str) -> None:
    decision = {"decision": "decline", "reason": f"No.{character}"}
    problem_of(room.post(f"/support/approvals/{waiting}", decision, by="dana"), 422)
    approval = room.stage.approvals.find(waiting)
    assert approval is not None
    assert approval.state == "pending"

    path = f"/support/conversations/{approval.conversation_id}"
    said_before = len(body_of(room.get(path))["messages"])
    problem_of(room.post(f"{path}/messages", {"text": f"Hello.{character}"}, by="dana"), 422)
    assert len(body_of(room.get(path))["messages"]) == said_before
