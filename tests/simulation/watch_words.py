"""What must hold for how a turn ends and for what its caller is told: the facade's last word is true."""

from typing import cast

from refund_agent.facade import Replayed
from refund_agent.outcomes import Replied
from refund_agent.ports import Completed, CompletionFailed, CompletionTimedOut
from refund_agent.turn import TurnRecord
from tests.simulation.lives import Life, Lives
from tests.simulation.scheduler import Actor
from web.render import refund_view

TOLERANCE_SECONDS = 0.002
FACADE_SECONDS = 2.0
"""What the facade may take after its deadline: four tries to close the gate, half a second apart."""


class WordWatch:
    """Checks each ending and each answer."""

    def __init__(self, lives: Lives, *, deadline_seconds: float, backoff_seconds: float) -> None:
        self._lives = lives
        self._deadline_seconds = deadline_seconds
        self._backoff_seconds = backoff_seconds

    def ended(self, life: Life, actor: Actor, *, before: str) -> None:
        """A turn has ended, by its owner's hand or by another's."""
        if actor.name == "run":
            self._ended_by_its_owner(life, actor)
        else:
            self._given_up(life, actor, before=before)

    def _ended_by_its_owner(self, life: Life, actor: Actor) -> None:
        must, answer = self._lives.must, actor.last_answer
        is_right = {
            "replied": self._is_the_reply(life, answer),
            "budget_exhausted": life.used == 5 and not self._said_text(answer),
            "provider_timed_out": isinstance(answer, CompletionTimedOut)
            and life.attempts == 2
            and life.used < 5,
            "provider_failed": isinstance(answer, CompletionFailed),
            "deadline_passed": self._time_is_up(life, actor),
        }.get(life.outcome or "", False)
        must(
            is_right,
            "a turn ends as the contract says",
            life,
            f"{life.outcome} after {answer}, used {life.used}",
        )
        calls = life.transcript.count('"role":"assistant"')
        must(
            self._answers_are_whole(life),
            "an ended turn leaves no call open",
            life,
            f"{calls} messages with calls",
        )

    def _is_the_reply(self, life: Life, answer: object) -> bool:
        """Whether the turn's reply is what its last completion said."""
        return self._said_text(answer) and cast("Completed", answer).message.content == life.reply

    @staticmethod
    def _said_text(answer: object) -> bool:
        return isinstance(answer, Completed) and not answer.message.tool_calls

    def _answers_are_whole(self, life: Life) -> bool:
        actor = self._lives.stage.scheduler.me()
        return actor.turn is not None and not actor.turn.pending_calls()

    def _time_is_up(self, life: Life, actor: Actor) -> bool:
        pause = self._backoff_seconds if isinstance(actor.last_answer, CompletionTimedOut) else 0.0
        early = actor.begin_seconds + TOLERANCE_SECONDS
        return actor.read_clock_at + pause >= life.deadline - early

    def _given_up(self, life: Life, actor: Actor, *, before: str) -> None:
        must, now = self._lives.must, self._lives.now
        by_facade = actor.name == "request"
        if life.outcome == "deadline_passed":
            due = life.asked_at + self._deadline_seconds
            may_end = (
                actor.turn_id == life.id or not by_facade or now >= actor.began_at + self._deadline_seconds
            )
            must(may_end, "whoever joins a turn leaves it its time", life)
            in_time = now >= due - TOLERANCE_SECONDS or (by_facade and actor.process.is_stopping)
            must(in_time, "a turn ends as the contract says", life, "given up too early")
        elif life.outcome == "not_accepted":
            surely_sent = before != "stored" and not (by_facade and life.queue_failed)
            must(not surely_sent, "a turn that was queued is not called unaccepted", life, f"was {before}")
        else:
            is_lost = life.outcome == "broken" and not by_facade and life.owners >= 1
            must(is_lost, "a turn ends as the contract says", life, str(life.outcome))
        gate = life.gate
        must(gate is not None, "giving up closes the gate", life)

    def told(
        self, life: Life, answer: object, *, seconds: float, store_failed: bool, is_stopping: bool
    ) -> str:
        """The facade has answered; return what it said, in a word."""
        must = self._lives.must
        must(
            seconds <= self._deadline_seconds + FACADE_SECONDS,
            "the facade answers by its deadline",
            life,
            f"after {seconds:.3f} s",
        )
        match type(answer).__name__:
            case "NotStored" | "KeyUnreadable" as refused:
                must(store_failed or life.key, "an answer has its cause", life)
                must(not life.owners and not life.requests, "a turn told 503 never runs", life)
                life.tell_never_runs()
                life.told_no_refund = True
                if refused == "NotStored":
                    self._told_that_no_request_refunded(life)
                return "not stored"
            case "Unreadable":
                must(store_failed, "an answer has its cause", life)
                return "unreadable"
            case "Started":
                return "started"
            case "StillRunning":
                must(is_stopping, "an answer has its cause", life)
                return "still running"
            case "KeyReused":
                must(life.key and not life.state, "an answer has its cause", life)
                must(self._is_anothers(life), "a key is refused only to another body", life)
                return "key reused"
            case "Replayed":
                return self._told_of(life, cast("Replayed", answer).turn)
            case _:
                assert isinstance(answer, TurnRecord)
                return self._told_of(life, answer)

    def _is_anothers(self, life: Life) -> bool:
        """Whether another body was stored with this request's key."""
        keyed = (one for one in self._lives.of.values() if one.key == life.key and one.state)
        return any(one.fingerprint != life.fingerprint for one in keyed)

    def _told_of(self, life: Life, turn: TurnRecord) -> str:
        """The answer names a turn: it must be the request's own, or that of the same request before it."""
        told = self._lives.of[turn.id]
        same = told.key and _who_asked_what(told) == _who_asked_what(life)
        self._lives.must(told is life or same, "a caller is told of its own request", life, told.id)
        if isinstance(turn.outcome, Replied):
            is_reply = turn.outcome.text == told.reply
            self._lives.must(is_reply, "a caller is told the reply that is stored", life, turn.outcome.text)
        return self._told_an_ending(told, turn)

    def _told_that_no_request_refunded(self, life: Life) -> None:
        """The caller may have sent the message before: it is told of all its requests with the key."""
        for one in self._lives.of.values():
            if one is life or (life.key and (one.key, one.fingerprint) == (life.key, life.fingerprint)):
                invariant = "what was told about the refund stays true"
                self._lives.must(not one.requests and not one.moved, invariant, life, f"'none', but {one.id}")
                one.told_no_refund = True

    def _told_an_ending(self, life: Life, turn: TurnRecord) -> str:
        must = self._lives.must
        must(turn.state == "ended" and life.state == "ended", "only an ended turn is told", life, turn.state)
        if turn.outcome is None:
            return "no ending"
        view = refund_view(turn.refund)
        self._told_about_money(life, view["state"] if view else None, turn)
        if type(turn.outcome).__name__ == "NotAccepted" and view is None:
            life.tell_never_runs()
        money = f"refund {view['state']}" if view else "no refund"
        return f"{type(turn.outcome).__name__}, {money}"

    def _told_about_money(self, life: Life, state: object, turn: TurnRecord) -> None:
        must, invariant = self._lives.must, "what was told about the refund stays true"
        gate, refund = life.gate, turn.refund
        if state is None:
            life.told_no_refund = True
            must(
                not life.requests and not life.moved,
                invariant,
                life,
                f"'none', but {life.requests} {life.moved}",
            )
            must(gate is None or gate.state == "closed", invariant, life, f"'none', but {gate}")
        elif state == "paid":
            assert refund is not None
            must(
                life.moved == [(refund.order_id, refund.amount_cents)],
                invariant,
                life,
                f"'paid': {life.moved}",
            )
        elif state in ("rejected", "not_sent"):
            life.told_not_moved = True
            must(not life.moved, invariant, life, f"{state!r}, but {life.moved}")
        else:
            must(
                gate is not None and gate.states[0] == "claimed",
                invariant,
                life,
                "'unknown', never attempted",
            )


def _who_asked_what(life: Life) -> tuple[str, str, str]:
    return life.key, life.fingerprint, life.customer_id
