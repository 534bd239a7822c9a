"""`flask approvals`: refunds that wait for a person. A decision is saved once; one refund may follow."""

import json
from datetime import UTC, datetime
from typing import Final, assert_never, cast, get_args

import click
from flask import Flask
from flask.cli import AppGroup

from refund_agent.approval_desk import ApprovalDesk
from refund_agent.approvals import Approval, ApprovalState, Decided, NoSuchApproval, NotPending, OwnRequest
from web.command_errors import asking_the_database
from web.command_words import WORDS

OFF: Final = "the support agent is off here (see AUTH_* in the README): there are no approvals"
NOTHING: Final = "Nothing was changed, nothing was sent."


def install(app: Flask, desk: ApprovalDesk | None) -> None:
    """Add the commands to `flask`; without a desk they say why there is none."""
    approvals = AppGroup("approvals", help="See refunds that wait for a person, and decide about them.")
    approvals.add_command(_ls(desk))
    approvals.add_command(_show(desk))
    approvals.add_command(_decide(desk, approve=True))
    approvals.add_command(_decide(desk, approve=False))
    approvals.add_command(_expire(desk))
    app.cli.add_command(approvals)


def _ls(desk: ApprovalDesk | None) -> click.Command:
    @click.command("ls")
    @click.option("--state", default="pending", show_default=True, type=click.Choice(get_args(ApprovalState)))
    @click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
    def ls(state: str, limit: int) -> None:
        """List approvals, oldest first."""
        with asking_the_database():
            found = _open(desk).page(state=cast("ApprovalState", state), limit=limit)
        for approval in found:
            click.echo(_line(approval))
        more = ", perhaps more" if len(found) == limit else ""
        click.echo(f"{len(found)} {state}{more}")

    return ls


def _show(desk: ApprovalDesk | None) -> click.Command:
    @click.command("show")
    @click.argument("approval_id")
    def show(approval_id: str) -> None:
        """Show one approval in full, and the turn that sends its refund if there is one."""
        with asking_the_database():
            found = _open(desk).find(approval_id)
        if found is None:
            raise click.ClickException(f"there is no approval {approval_id}")
        for name, value in _describe(found).items():
            click.echo(f"{name:<13} {value}")

    return show


def _decide(desk: ApprovalDesk | None, *, approve: bool) -> click.Command:
    @click.command("approve" if approve else "decline")
    @click.argument("approval_id")
    @click.option("--by", required=True, type=WORDS, help="Who decides; never the requester.")
    @click.option("--note", required=True, type=WORDS, help="Why. When declined, the customer reads it.")
    def decide(approval_id: str, by: str, note: str) -> None:
        with asking_the_database(
            "It is not certain whether the decision was saved: look with `flask approvals show`"
        ):
            answer = _open(desk).decide(approval_id, approve=approve, by=by, note=note)
        match answer:
            case Decided(approval):
                click.echo(_decided(approval))
            case NotPending(approval):
                raise click.ClickException(_already(approval))
            case OwnRequest():
                raise click.ClickException(
                    f"{by} asked for this refund and may not decide about it. {NOTHING}"
                )
            case NoSuchApproval():
                raise click.ClickException(f"there is no approval {approval_id}. {NOTHING}")
            case _:
                assert_never(answer)

    decide.help = (
        "Approve, once. A worker then sends the refund, if the policy still has nothing else against it."
        if approve
        else "Decline, once. Sends nothing; the customer is told the note."
    )
    return decide


def _expire(desk: ApprovalDesk | None) -> click.Command:
    @click.command("expire")
    def expire() -> None:
        """Expire now what nobody decided in time, as workers do by themselves. Sends nothing."""
        with asking_the_database("Some may have expired all the same: run it again; nothing was sent"):
            count = _open(desk).expire()
        click.echo(f"{count} expired, and said so in their conversations. Nothing was sent.")

    return expire


def _open(desk: ApprovalDesk | None) -> ApprovalDesk:
    if desk is None:
        raise click.ClickException(OFF)
    return desk


def _decided(approval: Approval) -> str:
    if approval.state == "approved":
        return (
            f"{approval.id} is approved. The refund of {approval.amount_cents} cents is queued, once, and "
            f"not sent yet: `flask turns show {approval.id}` shows what becomes of it."
        )
    return f"{approval.id} is declined. Nothing was sent; the customer is told why."


def _already(approval: Approval) -> str:
    if approval.state == "pending":  # it was due to expire, and nobody has written that down yet
        return f"its time is over, so it can no longer be decided. {NOTHING}"
    who = f" by {approval.decided_by}: {approval.decision_note}" if approval.decided_by else ""
    return f"already {approval.state}{who}. {NOTHING}"


def _line(approval: Approval) -> str:
    decided = f"  by {approval.decided_by}" if approval.decided_by else ""
    return (
        f"{approval.id}  order {json.dumps(approval.order_id)}  {approval.amount_cents} cents  "
        f"customer {json.dumps(approval.customer_id)}  expires {_when(approval.expires_at_ms)}{decided}"
    )


def _describe(approval: Approval) -> dict[str, str]:
    shown = {
        "approval": approval.id,
        "state": approval.state,
        "order": json.dumps(approval.order_id),
        "amount": f"{approval.amount_cents} cents",
        "customer": json.dumps(approval.customer_id),
        "because": approval.reason,
        "policy": approval.policy_version,
        "intact": "yes"
        if approval.is_intact
        else "NO: order, amount or customer were changed; do not approve",
        "requested": _when(approval.requested_at_ms),
        "expires": _when(approval.expires_at_ms),
        "conversation": approval.conversation_id,
        "asked in turn": approval.turn_id,
    }
    if approval.decided_by:
        shown |= {"decided by": approval.decided_by, "note": approval.decision_note or ""}
    if approval.state == "approved":
        shown |= {"refund turn": f"{approval.id} (flask turns show {approval.id})"}
    return shown


def _when(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
