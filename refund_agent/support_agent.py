"""The support agent: the shared loop, with the conversation before it and an honest reply after it."""

from refund_agent.conversations import Conversations
from refund_agent.injection import flags
from refund_agent.journal import Journal
from refund_agent.limits import Limiter
from refund_agent.loop import Loop
from refund_agent.orders import Orders, currency_of
from refund_agent.outcomes import Replied, Superseded, TurnOutcome
from refund_agent.replies import Reply, honest_reply
from refund_agent.rewriting import Rewriter
from refund_agent.turn import AssistantMessage, Message, ToolResult, Turn

HAND_OVER_MARK = '"handed_over": true'
WAITING_MARK = '"waiting_for_approval_cents": '
"""Only in the answer of a refund that became an approval: merely checking one promises nobody's decision."""


class SupportAgent:
    """Runs a turn of a conversation; what was flagged and corrected is noted."""

    def __init__(  # noqa: PLR0913 - what a turn of a conversation needs around the loop
        self,
        *,
        loop: Loop,
        conversations: Conversations,
        orders: Orders,
        limiter: Limiter,
        journal: Journal,
        rewriter: Rewriter | None = None,
    ) -> None:
        self._loop = loop
        self._conversations = conversations
        self._orders = orders
        self._limiter = limiter
        self._journal = journal
        self._rewriter = rewriter

    def run(self, turn: Turn) -> TurnOutcome | Superseded:
        """Run `turn` with what its conversation said before, and tell money from the ledger."""
        turn.history = self._conversations.history(turn)
        self._flag(turn)
        spent_before = turn.tokens_used
        outcome = self._loop.run(turn)
        if isinstance(outcome, Replied):
            outcome = self._reply(turn, outcome.text)
        self._limiter.spend(turn.user_id, turn.tokens_used - spent_before)
        return outcome

    def _reply(self, turn: Turn, text: str) -> Replied | Superseded:
        """Say the model's words, or others, as far as the ledger backs them and the agent may speak."""
        words = text if self._rewriter is None else self._rewriter.rewrite(turn, text)
        if isinstance(words, Superseded):
            return words
        reply = self._honest(turn, "" if self._was_taken_over(turn) else words)
        for sentence in reply.corrections:
            self._journal.note(turn.id, "correction", {"taken_out": sentence})
        return Replied(reply.text)

    def _flag(self, turn: Turn) -> None:
        """Note what looks like steering the model, once a turn: for staff to see, never for safety."""
        if turn.completions_used:
            return
        for flag in flags(turn.messages[0].content):
            self._journal.note(turn.id, "flag", {"kind": flag.kind, "excerpt": flag.excerpt})

    def _was_taken_over(self, turn: Turn) -> bool:
        """Whether a person took the conversation while the turn ran; its own hand-over is still told."""
        if any(
            isinstance(message, ToolResult) and HAND_OVER_MARK in message.content for message in turn.messages
        ):
            return False
        found = self._conversations.find(turn.conversation_id, customer_id=turn.user_id)
        return found is not None and found.owner == "person"

    def _honest(self, turn: Turn, text: str) -> Reply:
        refund = turn.refund if turn.refund_attempted else None
        return honest_reply(
            text,
            messages=turn.messages,
            refund=refund,
            currency=currency_of(self._orders, turn.user_id, refund.order_id) if refund else "",
            escalated=_was_escalated(turn.messages),
        )


def _was_escalated(messages: list[Message]) -> bool:
    """Whether this turn sent a refund to a person."""
    answers = [m.content for m in messages if not isinstance(m, AssistantMessage)]
    return any(WAITING_MARK in answer for answer in answers[1:])
