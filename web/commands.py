"""`flask turns` and `flask refunds`: what an operator asks at 3 a.m. Only `resolve` changes anything."""

import json
import time
from typing import assert_never

import click
from flask import Flask
from flask.cli import AppGroup

from refund_agent.inspection import (
    AlreadyResolved,
    Inspected,
    Inspection,
    NotUnknown,
    PersonsAnswer,
    ResolveAnswer,
    Resolved,
    TooEarly,
    UnknownRefund,
)
from web.command_errors import asking_the_database
from web.command_words import PERHAPS_WORDS, WORDS

TAIL_SECONDS = 1.0
TAIL_MAX = 10_000
MAY_BE_SAVED = "It may have been saved: look again with `flask refunds unknown`; nothing was sent"


def install(app: Flask, inspection: Inspection) -> None:
    """Add the commands to `flask`."""
    app.cli.add_command(_turns(inspection))
    app.cli.add_command(_refunds(inspection))


def _turns(inspection: Inspection) -> AppGroup:
    turns = AppGroup("turns", help="See turns: their state, age, worker and refund.")

    @turns.command("ls")
    @click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
    def ls(limit: int) -> None:
        """List the newest turns."""
        with asking_the_database():
            found = inspection.recent(limit=limit)
        _list(found)

    @turns.command("stuck")
    @click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
    def stuck(limit: int) -> None:
        """List turns that are overdue, or whose worker went silent; exit with 1 if there are any."""
        with asking_the_database():
            found = inspection.stuck(limit=limit)
        _list(found)
        if found:
            raise click.exceptions.Exit(1)

    @turns.command("show")
    @click.argument("turn_id")
    def show(turn_id: str) -> None:
        """Show one turn in full, and whether its message could safely be sent again."""
        with asking_the_database():
            found = inspection.turn(turn_id)
        if found is None:
            raise click.ClickException(f"there is no turn {turn_id}")
        for name, value in _describe(found).items():
            click.echo(f"{name:<12} {value}")

    @turns.command("tail")
    @click.option("--count", default=TAIL_MAX, type=click.IntRange(1, TAIL_MAX), help="Stop after this many.")
    def tail(count: int) -> None:
        """Print turns as they change, until interrupted."""
        with asking_the_database():
            _tail(inspection, count)

    return turns


def _refunds(inspection: Inspection) -> AppGroup:
    refunds = AppGroup("refunds", help="See refunds whose outcome is unknown, and resolve them.")

    @refunds.command("unknown")
    @click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 1000))
    def unknown(limit: int) -> None:
        """List refunds whose answer was lost, oldest first; exit with 1 if there are any."""
        with asking_the_database():
            found = inspection.unknown(limit=limit)
        for refund in found:
            click.echo(_unknown_line(refund))
        click.echo(f"{len(found)} unknown")
        if found:
            raise click.exceptions.Exit(1)

    @refunds.command("resolve")
    @click.argument("turn_id")
    @click.option("--moved/--not-moved", "money_moved", required=True, help="Did the money move?")
    @click.option("--by", "resolved_by", required=True, type=WORDS, help="Who says so.")
    @click.option("--note", required=True, type=WORDS, help="Why: what was looked at.")
    @click.option(
        "--reference", default="", type=PERHAPS_WORDS, help="Payments' own reference; required with --moved."
    )
    def resolve(*, turn_id: str, money_moved: bool, resolved_by: str, note: str, reference: str) -> None:
        """Answer for an unknown refund whether the money moved. Sends nothing; counts once."""
        if money_moved and not reference:
            raise click.UsageError("--moved needs --reference, the refund's id at payments")
        answer = PersonsAnswer(money_moved, resolved_by, note, reference)
        with asking_the_database(MAY_BE_SAVED):
            resolution = inspection.resolve(turn_id, answer)
        click.echo(_resolved(turn_id, resolution))

    return refunds


def _resolved(turn_id: str, resolution: ResolveAnswer) -> str:
    """Say what was saved; raise `ClickException` when nothing was."""
    match resolution:
        case Resolved(record):
            return f"{turn_id} is now {record.state}. Nothing was sent."
        case AlreadyResolved(record, by, why, _):
            raise click.ClickException(
                f"already resolved as {record.state} by {by}: {why}. Nothing was changed."
            )
        case NotUnknown():
            raise click.ClickException(f"{resolution.why()} Nothing was changed.")
        case TooEarly(seconds):
            raise click.ClickException(
                "the request may still be on its way, so nobody can know yet that no money moved: "
                f"look again and answer in {seconds:.0f} s. Nothing was changed."
            )
        case _:
            assert_never(resolution)


def _tail(inspection: Inspection, count: int) -> None:
    """Print every turn whose state changed since the last look."""
    seen: dict[str, str] = {}
    while count > 0:
        for found in reversed(inspection.recent(limit=50)):
            state = f"{_outcome(found)} {found.turn.completions_used} {_refund(found)}"
            if count > 0 and seen.get(found.turn.id) != state:
                seen[found.turn.id] = state
                click.echo(_line(found))
                count -= 1
        time.sleep(TAIL_SECONDS)  # noqa: TID251 - a person watches


def _list(found: list[Inspected]) -> None:
    for inspected in found:
        click.echo(_line(inspected))
    click.echo(f"{len(found)} turns")


def _line(found: Inspected) -> str:
    turn = found.turn
    return (
        f"{turn.id}  {_outcome(found):<16} age {found.age_seconds:>6.0f}s  left {found.left_seconds:>6.0f}s  "
        f"completions {turn.completions_used}/5  attempt {turn.attempts}/2  refund {_refund(found)}"
        f"{'  STUCK' if found.is_stuck else ''}"
    )


def _describe(found: Inspected) -> dict[str, str]:
    again = found.send_again()
    lease = "nobody has it" if found.lease_seconds is None else f"{found.lease_seconds:.1f} s left"
    return {
        "turn": found.turn.id,
        "state": _outcome(found),
        "age": f"{found.age_seconds:.1f} s",
        "deadline": f"{found.left_seconds:.1f} s left",
        "worker": f"{found.owner or 'none'} (epoch {found.turn.epoch}; lease: {lease})",
        "alive": "silent" if found.worker_is_silent else "no sign of trouble",
        "completions": f"{found.turn.completions_used}/5, attempt {found.turn.attempts}/2",
        "refund": _refund(found),
        **({"late answer": found.late_answer} if found.late_answer else {}),
        "send again?": f"{'yes' if again.is_safe else 'no'}: {again.why}",
    }


def _outcome(found: Inspected) -> str:
    """Name how the turn ended, or how far it is."""
    return found.turn.state if found.turn.outcome is None else type(found.turn.outcome).__name__


def _refund(found: Inspected) -> str:
    return "none" if found.turn.refund is None else found.turn.refund.state


def _unknown_line(refund: UnknownRefund) -> str:
    record = refund.record
    marks = "  REVIEW" if record.review else ""
    late = f"  late answer: {refund.late_answer}" if refund.late_answer else ""
    return (
        f"{record.turn_id}  order {json.dumps(record.order_id)}  {record.amount_cents} cents  "
        f"age {refund.age_seconds:.0f}s  {refund.known}{marks}{late}"
    )
