"""`flask conversations purge`: forget what is old, batch by batch; Ctrl-C stops after the batch at hand."""

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import click
from flask import Flask
from flask.cli import AppGroup

from refund_agent.ports import StoreUnavailable
from refund_agent.retention import Retention, Tally, purge

INTERRUPTED: Final = 130
"""What a shell's command ends with after Ctrl-C."""


def install(app: Flask, retention: Retention, *, default_days: int) -> None:
    """Add the command to `flask`; `default_days` is RETENTION_DAYS."""
    conversations = AppGroup("conversations", help="Old conversations.")

    @conversations.command("purge")
    @click.option(
        "--older-than-days",
        "days",
        default=default_days,
        show_default=True,
        type=click.IntRange(1, 36_500),
        help="Days since anything happened in them.",
    )
    @click.option("--dry-run", is_flag=True, help="Count what would be deleted, and delete nothing.")
    def purge_old(days: int, *, dry_run: bool) -> None:
        """Delete old conversations and ended turns, oldest first. Refunds and approvals stay.

        What has something open stays as well: a refund that is claimed or unknown, a pending approval.
        """
        done, verb = Tally(), "Would delete" if dry_run else "Deleted"
        try:
            with _interruptible() as was_interrupted:
                for done in purge(retention, older_than_days=days, dry_run=dry_run):
                    click.echo(f"{verb} so far: {done}", err=True)
                    if was_interrupted():
                        click.echo(f"Stopped. {verb} until then: {done}. The rest is as it was.")
                        raise click.exceptions.Exit(INTERRUPTED)
        except StoreUnavailable as error:
            raise click.ClickException(
                f"the database went away. {verb} until then: {done}; perhaps one batch more. Run it again."
            ) from error
        click.echo(f"{verb}: {done}, older than {days} days. No refund and no approval was touched.")

    app.cli.add_command(conversations)


@contextmanager
def _interruptible() -> Generator[Callable[[], bool]]:
    """Let the first Ctrl-C or SIGTERM be asked about instead of breaking in; a second one breaks in."""
    seen: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, _frame: object) -> None:
        seen.append(number)
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, note)
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
