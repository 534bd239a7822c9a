"""`flask doctor`: says what start-up would refuse, and what else is wrong, before a deploy."""

from collections.abc import Callable, Sequence

import click
from flask import Flask

from refund_agent.doctor import Finding, refusals


def install(app: Flask, diagnose: Callable[[], Sequence[Finding]]) -> None:
    """Add the command to `flask`."""

    @app.cli.command("doctor")
    def doctor() -> None:
        """Check the settings and what they point at; exit with 1 if start-up would refuse them."""
        findings = diagnose()
        for finding in findings:
            click.echo(str(finding))
        if refusals(findings):
            raise click.exceptions.Exit(1)
        wrong = [finding for finding in findings if finding.severity != "note"]
        click.echo("start-up would accept this" if wrong else "ok")
