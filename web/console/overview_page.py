"""How the service does over time: figures with a small plot each, and all of them as a table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast, get_args

from flask import Blueprint, Response, request

from refund_agent.overview import WINDOWS, Overview, PeriodFigures, WindowName
from web.console.pages import Pages, unless_same
from web.console.writing import write_cost, write_ms, write_time
from web.identity import require_staff
from web.services import ConsoleServices

HEIGHT: Final = 40
STEP: Final = 10
"""Of a plot, in its own units: its height, and the width that each part has."""
WORDS: Final[dict[WindowName, tuple[str, str]]] = {
    "24h": ("24 hours", "an hour"),
    "7d": ("7 days", "six hours"),
    "30d": ("30 days", "a day"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what it counts, how it is read from a stretch of time, and how it is written."""

    name: str
    meaning: str
    of: Callable[[PeriodFigures], int | None]
    write: Callable[[PeriodFigures], str]
    leads_to: str = ""
    remark: Callable[[PeriodFigures], str] = lambda _: ""


def _count(name: str, meaning: str, of: Callable[[PeriodFigures], int], leads_to: str = "") -> Figure:
    return Figure(name, meaning, of, lambda figures: f"{of(figures):,}", leads_to)


def _time(name: str, meaning: str, of: Callable[[PeriodFigures], int | None]) -> Figure:
    def write(figures: PeriodFigures) -> str:
        ms = of(figures)
        return "none yet" if ms is None else write_ms(ms)

    return Figure(name, meaning, of, write)


def _write_cost(figures: PeriodFigures) -> str:
    if figures.completions and not figures.priced_completions:
        return write_cost(None)
    cost = write_cost(figures.cost_microdollars)
    return cost if figures.priced_completions == figures.completions else f"at least {cost}"


def _say_what_had_a_price(figures: PeriodFigures) -> str:
    """Say how many completions the cost is of, unless it is of all."""
    if figures.priced_completions == figures.completions:
        return ""
    if not figures.priced_completions:
        return f"None of {figures.completions:,} completions had a price (MODEL_PRICES)"
    return f"{figures.priced_completions:,} of {figures.completions:,} completions had a price"


FIGURES: Final = (
    _count("Conversations", "with a message", lambda f: f.conversations, "conversations"),
    _count("Messages", "from customers, each a turn", lambda f: f.turns),
    _count("Replied", "turns that ended with a reply", lambda f: f.replied),
    _count("Approved", "turns in which the policy allowed a refund", lambda f: f.allowed),
    _count("Denied", "turns in which the policy said no", lambda f: f.denied),
    _count("Escalated", "refunds that a person had to decide", lambda f: f.approvals, "approvals"),
    _count("Handed over", "conversations given to a person", lambda f: f.handed_over),
    _count("Refunds paid", "by the ledger", lambda f: f.paid),
    _count("Refunds unknown", "by the ledger, as it stands now", lambda f: f.unknown, "unknown"),
    _count(
        "Flagged",
        "turns whose message looks like steering the model",
        lambda f: f.flagged,
        "conversations?flag=1",
    ),
    _count("Corrected", "replies that claimed what the ledger does not back", lambda f: f.corrected),
    _count("Tokens", "read and written by the model", lambda f: f.tokens),
    Figure(
        "Cost",
        "of what the model read and wrote",
        lambda f: f.cost_microdollars,
        _write_cost,
        remark=_say_what_had_a_price,
    ),
    _time("Median time", "from a message to its ending", lambda f: f.median_ms),
    _time("95% within", "the slowest twentieth took longer", lambda f: f.slowest_twentieth_ms),
)


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of the window with the bars of its parts. `highest` is the most that a part had, in words."""

    figure: Figure
    value: str
    note: str
    heights: tuple[int, ...]
    highest: str

    @property
    def width(self) -> int:
        """Of the drawing."""
        return len(self.heights) * STEP


def plot(figure: Figure, overview: Overview) -> Plot:
    """Draw a figure; a part with anything in it has a bar that can be seen."""
    sizes = [figure.of(part) or 0 for part in overview.parts]
    most = max(sizes)
    best = overview.parts[sizes.index(most)]
    return Plot(
        figure=figure,
        value=figure.write(overview.total),
        note=figure.remark(overview.total),
        heights=tuple(max(1, HEIGHT * size // most) if size else 0 for size in sizes),
        highest=_write_highest(figure, best if most else overview.total),
    )


def _write_highest(figure: Figure, figures: PeriodFigures) -> str:
    """Write the most that a part had; where none had anything, that is nothing unless it is not known."""
    if figure.of(figures):
        return figure.write(figures)
    return "none" if not figure.remark(figures) else write_cost(None)


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the route."""

    @routes.get("/overview")
    def overview() -> Response:
        """Show the figures of a window, `?range=` 24h, 7d or 30d."""
        require_staff(write=False)
        name = _window(request.args.get("range", ""))
        found = console.overviews.over(WINDOWS[name])
        shown = pages.show(
            "overview.html",
            place="overview",
            plots=[plot(figure, found) for figure in FIGURES],
            figures=FIGURES,
            parts=[
                (write_time(found.begins_at_ms + number * found.part_ms), part)
                for number, part in enumerate(found.parts)
            ],
            windows=WORDS,
            window=name,
            is_empty=found.total == PeriodFigures(),
        )
        return unless_same(shown)


def _window(given: str) -> WindowName:
    """Read the window; whatever is none is the last day."""
    return cast("WindowName", given) if given in get_args(WindowName) else "24h"
