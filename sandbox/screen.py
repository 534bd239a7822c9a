"""What the demo prints: where everything is, what to say, and what to expect."""

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import requests

from sandbox.outside import Outside
from sandbox.processes import ROOT
from sandbox.scenarios import SCENARIOS
from sandbox.seeds import seeded_orders
from sandbox.seeds import table as seeded_table

MIN_COLUMN = 24
MARGIN = 6


def welcome(url: str, outside: Outside, *, logs: Path, verbose: bool) -> Iterator[str]:
    """Tell a person who has just started the demo what there is, line by line."""
    stand_in = "what moved, and how to make it misbehave (stand-in)"
    yield from outside.warnings()
    yield ""
    yield f"  Try page    {url}/demo"
    yield f"  API         {url}/docs"
    yield f"  Figures     {url}/metrics"
    if outside.payments is not None:
        yield f"  Payments    {outside.payments_page}  {stand_in}"
    if outside.model_page is not None:
        yield f"  Model       {outside.model_page}  the scripts it plays (stand-in)"
    shown = "shown here as well" if verbose else "VERBOSE=1 shows them here"
    yield f"  Logs        {logs.relative_to(ROOT)}/  until the end; {shown}"
    yield ""
    if outside.payments is not None:
        yield from _things_to_say(url, scripts=outside.model_page is not None)
        yield f"Hard cases, played for you: make demo SCENARIO=list  ({len(SCENARIOS)} of them)"
    yield "Ctrl-C stops everything and leaves nothing behind" + (
        "." if outside.payments is not None else ", except the ledger in .state/refunds.db."
    )


def support_lines(url: str) -> Iterator[str]:
    """Tell what there is to try with the support agent: each seeded order, and how to say it."""
    yield ""
    yield f"The support agent, for signed-in customers: {url}/chat. Each order is one branch of the policy:"
    yield ""
    yield from (f"  {line}" for line in seeded_table(seeded_orders(_today())))
    yield ""
    yield "  As cust-ada, from another terminal:"
    yield f"    TOKEN=$(curl -s {url}/dev/token -H 'Content-Type: application/json' \\"
    yield """        -d '{"id": "cust-ada"}' | sed 's/.*"token": *"\\([^"]*\\)".*/\\1/')"""
    yield f'    curl -s {url}/support/chat -H "Authorization: Bearer $TOKEN" \\'
    yield "        -H 'Content-Type: application/json' \\"
    yield """        -d '{"message": "The kettle leaks. Please refund 49.99 for ORD-1001."}'"""
    yield "  Add -N -H 'Accept: text/event-stream' to watch it work."
    yield "  GET /support/orders says what may be refunded; GET /dev/customers who there is."
    yield f"  Staff look at all of it, and decide about refunds that wait: {url}/console/"


def _today() -> date:
    return datetime.now(UTC).date()  # noqa: TID251 - only for the table; the database has its own clock


def scenario_lines() -> Iterator[str]:
    """List the scenarios."""
    yield from table(
        ("make demo SCENARIO=", "What happens"),
        [(scenario.name, scenario.about) for scenario in SCENARIOS.values()],
    )


def table(head: tuple[str, str], rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Lay out two columns in the width of the terminal, wrapped."""
    width = max(shutil.get_terminal_size((110, 24)).columns, 2 * MIN_COLUMN + MARGIN)
    left = min(max(len(row[0]) for row in (head, *rows)), width // 2)
    right = max(width - left - MARGIN, MIN_COLUMN)
    for row in (head, ("-" * left, "-" * min(right, 40)), *rows):
        first, second = textwrap.wrap(row[0], left), textwrap.wrap(row[1], right)
        for index in range(max(len(first), len(second))):
            cells = [column[index] if index < len(column) else "" for column in (first, second)]
            yield f"  {cells[0]:{left}}  {cells[1]}".rstrip()


def _things_to_say(url: str, *, scripts: bool) -> Iterator[str]:
    """Show the chat page's own list; a real model knows nothing of scripts in brackets."""
    with requests.Session() as session:
        session.trust_env = False
        suggestions = session.get(f"{url}/demo/suggestions.json", timeout=5.0).json()
    yield from table(
        ("Say this", "Expect that"),
        [(row["say"], row["expect"]) for row in suggestions if scripts or not row["say"].startswith("[")],
    )
    yield ""
    yield "Or from another terminal:"
    yield f"  curl -s {url}/support/refund-chat -H 'Content-Type: application/json' \\"
    yield """    -d '{"user_id": "customer-17", "message": "refund 12.50 for order SHOP-2001"}'"""
    yield ""
