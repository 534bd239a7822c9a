"""A turn's file: what the rows, the transcript and the journal say of it, on a real database."""

import pytest

from refund_agent.adapters import sql_turn_files
from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_live import RedisLive
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_journal import SqlEvents
from refund_agent.adapters.sql_turn_files import SqlTurnFiles
from refund_agent.approvals import Decided
from refund_agent.inspection import PersonsAnswer
from refund_agent.journal import TurnJournal
from refund_agent.outcomes import Replied
from refund_agent.timeline import Timeline
from refund_agent.timeline_reading import read_timeline
from refund_agent.turn_steps import Judged, Sent
from tests.fakes import FakeClock, calls_refund, says
from tests.support_stage import SupportStage

ADA = "cust-ada"


@pytest.fixture
def stage(database: Database, redis_url: str) -> SupportStage:
    clock = FakeClock()
    journal = TurnJournal(
        stored=SqlEvents(database),
        live=RedisLive(connect(redis_url, connections=1), clock=clock),
        clock=clock,
    )
    built = SupportStage(database, journal=journal)
    built.plant()
    return built


@pytest.fixture
def files(database: Database) -> SqlTurnFiles:
    return SqlTurnFiles(database)


def timeline_of(files: SqlTurnFiles, turn_id: str) -> Timeline:
    file = files.of_turn(turn_id)
    assert file is not None
    return read_timeline(file)


def test_a_turn_that_does_not_exist_has_no_file(files: SqlTurnFiles) -> None:
    assert files.of_turn("no-such-turn") is None
    assert files.of_conversation("no-such-conversation", limit=10) == []


def test_a_refund_is_seen_from_its_wait_to_its_ending_and_every_step_has_its_time(
    stage: SupportStage, files: SqlTurnFiles
) -> None:
    turn = stage.say(
        "Refund 49.99 for ORD-1001",
        *[calls_refund("ORD-1001", 4999), says("Done.")],
        conversation_id=stage.open(ADA),
        customer_id=ADA,
    )

    timeline = timeline_of(files, turn.id)

    assert [type(step.what).__name__ for step in timeline.steps] == [
        *["Waiting", "Completion", "ToolUse", "Judged", "ClaimTried", "Sent", "Completion", "Ending"]
    ]
    assert all(step.took_ms is not None and step.state == "done" for step in timeline.steps)
    (judged,) = [step.what for step in timeline.steps if isinstance(step.what, Judged)]
    assert [found.verdict for found in judged.findings] == ["passes"] * 7
    assert (timeline.deadline_ms, timeline.workers, timeline.is_running) == (120_000, 1, False)
    assert isinstance(timeline.record.outcome, Replied)


def test_a_turn_that_waits_is_read_as_it_stands(stage: SupportStage, files: SqlTurnFiles) -> None:
    turn_id = stage.store("Hello", conversation_id=stage.open(ADA), customer_id=ADA)

    timeline = timeline_of(files, turn_id)

    assert [(type(step.what).__name__, step.state) for step in timeline.steps] == [("Waiting", "open")]
    assert 0 <= timeline.now_ms < 60_000


def test_a_resolved_refund_has_the_persons_answer(
    stage: SupportStage, files: SqlTurnFiles, database: Database
) -> None:
    stage.payments.accepts_then_drops_the_answer()
    turn = stage.say(
        "Refund 49.99 for ORD-1001",
        *[calls_refund("ORD-1001", 4999), says("We will see.")],
        conversation_id=stage.open(ADA),
        customer_id=ADA,
    )
    answer = PersonsAnswer(money_moved=True, resolved_by="ann", note="on their list", reference="PSP-9")
    SqlInspection(database).resolve(turn.id, answer)

    timeline = timeline_of(files, turn.id)

    assert timeline.resolution is not None
    assert (timeline.resolution.resolved_by, timeline.resolution.reference) == ("ann", "PSP-9")
    (sent,) = [step.what for step in timeline.steps if isinstance(step.what, Sent)]
    assert (sent.record.state, sent.record.refund_id) == ("paid", "PSP-9")


def test_a_conversations_files_are_its_newest_turns_and_those_that_sent_its_approved_refunds(
    stage: SupportStage, files: SqlTurnFiles
) -> None:
    conversation_id = stage.open(ADA)
    asked = [
        stage.say("Hello", says("Hello."), conversation_id=conversation_id, customer_id=ADA),
        stage.say(
            "Refund 500.01 for ORD-1005",
            *[calls_refund("ORD-1005", 50_001), says("A colleague decides.")],
            conversation_id=conversation_id,
            customer_id=ADA,
        ),
    ]
    stage.say("Not hers", says("Hello."), conversation_id=stage.open("cust-ben"), customer_id="cust-ben")
    (approval,) = stage.approvals.page(state="pending", limit=10)
    assert isinstance(stage.approval_desk.decide(approval.id, approve=True, by="ann", note=""), Decided)
    stage.deliver(approval.id)

    found = files.of_conversation(conversation_id, limit=10)
    assert [file.record.id for file in found] == [*(turn.id for turn in asked), approval.id]
    assert [file.record.id for file in files.of_conversation(conversation_id, limit=1)] == [approval.id]


def test_of_too_many_events_those_of_the_oldest_turns_are_left_out_and_the_file_says_so(
    stage: SupportStage, files: SqlTurnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = stage.open(ADA)
    for _ in range(3):
        stage.say("Hello", says("Hello."), conversation_id=conversation_id, customer_id=ADA)
    monkeypatch.setattr(sql_turn_files, "MOST_EVENTS", 9)  # a turn has four

    found = files.of_conversation(conversation_id, limit=10)

    assert [file.is_whole for file in found] == [False, True, True]
    assert [len(file.events) for file in found] == [0, 4, 4]
