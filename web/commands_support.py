"""`flask policy` and `flask seed`: what the policy says and why, and something to try it on."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click
from flask import Flask
from flask.cli import AppGroup

from refund_agent import policy_text
from refund_agent.eligibility import Eligibility
from refund_agent.money import NotAnAmount, read_cents
from refund_agent.orders import OrdersUnavailable
from refund_agent.policy import Rules
from refund_agent.policy_file import PolicyUnreadable
from refund_agent.seeds import Seeds
from refund_agent.settings import AppEnv
from web.command_errors import asking_the_database


@dataclass(frozen=True, slots=True)
class PolicyDesk:
    """What the commands call; nothing is read or connected to before that.

    `rules` and `eligibility` may raise `PolicyUnreadable`; `seed` plants the seeds and returns them.
    """

    rules: Callable[[], Rules]
    eligibility: Callable[[], Eligibility]
    seed: Callable[[], Seeds]


def install(app: Flask, desk: PolicyDesk, *, app_env: AppEnv) -> None:
    """Add the commands to `flask`."""
    app.cli.add_command(_policy(desk))

    @app.cli.command("seed")
    def seed() -> None:
        """Write customers and orders to try the agent on, as often as you like; never in production."""
        if app_env == "production":
            raise click.ClickException("this is production: nothing was written")
        with _said_plainly():
            seeds = desk.seed()
        for seeded in seeds.orders:
            click.echo(f"{seeded.order.id}  {seeded.branch}")
            click.echo(f"    {seeded.asked_by} says: {seeded.say}")
            click.echo(f"    expect: {seeded.expect}")
        click.echo(f"{len(seeds.customers)} customers, {len(seeds.orders)} orders")


def _policy(desk: PolicyDesk) -> AppGroup:
    policy = AppGroup("policy", help="See the refund policy, and why it says what it says.")

    @policy.command("text")
    @click.option("--for-model", is_flag=True, help="As the model is told it, not as people read it.")
    def text(*, for_model: bool) -> None:
        """Print the policy in force."""
        with _said_plainly():
            rules = desk.rules()
        click.echo(policy_text.for_model(rules) if for_model else policy_text.for_people(rules), nl=for_model)

    @policy.command("explain")
    @click.argument("order_id")
    @click.option("--amount", "amount_cents", required=True, callback=_cents, help="Such as 12.34.")
    @click.option("--customer", "customer_id", help="Who asks; without it, the order's own customer.")
    def explain(*, order_id: str, amount_cents: int, customer_id: str | None) -> None:
        """Print every rule with its facts and verdict on refunding an amount of an order."""
        with _said_plainly():
            eligibility = desk.eligibility()
            findings = eligibility.explain(customer_id, order_id, amount_cents)
        for found in findings:
            click.echo(policy_text.finding_line(found, eligibility.rules))
        objections = [found.rule for found in findings if found.verdict == "objects"]
        click.echo(f"{_verdict(objections)}, policy {eligibility.rules.version}")

    return policy


def _cents(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    """Read an amount exactly; never a float."""
    try:
        return read_cents(value)
    except NotAnAmount as error:
        raise click.BadParameter(str(error)) from error


def _verdict(objections: Sequence[str]) -> str:
    """Name what comes of it: the first objection."""
    if not objections:
        return "approved"
    return f"{'escalated' if objections[0] == 'needs_approval' else 'denied'}: {objections[0]}"


@contextmanager
def _said_plainly() -> Generator[None]:
    try:
        with asking_the_database("Run it again"):  # to seed twice does what seeding once does
            yield
    except PolicyUnreadable as error:
        raise click.ClickException(str(error)) from error
    except OrdersUnavailable as error:
        raise click.ClickException(f"the orders cannot be asked: {error}") from error
