"""A timeline as rows to draw: each step's bar on one scale, its times in words, and what it was about."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from refund_agent.timeline import Step, Timeline
from web.console.step_details import Block, Rule, blocks_of, currency_of, facts_of, rules_of
from web.console.step_words import Family, Tone, name_step
from web.console.writing import write_ms

WIDTH: Final = 1000
"""Of the drawing, in its own units: a bar's place is a share of it."""
LEAST_WIDTH: Final = 3
DIVISIONS: Final = 4
USED_ENOUGH: Final = 8
"""A turn that used less than an eighth of its deadline is drawn larger, unless somebody asks otherwise."""

Scale: TypeAlias = Literal["deadline", "fit"]
_NICE: Final = (10, 15, 20, 25, 30, 40, 50, 60, 80, 100)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar, in units of `WIDTH`."""

    x: int
    width: int


@dataclass(frozen=True, slots=True)
class Row:
    """One step. `start_ms` is for whatever makes an open bar grow."""

    number: int
    name: str
    family: Family
    tone: Tone
    state: str
    depth: int
    when: str
    took: str
    bar: Bar | None
    start_ms: int | None
    facts: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Waterfall:
    """A turn's rows on one scale. `deadline_x` is where the deadline is, None when it is beyond the edge."""

    timeline: Timeline
    scale: Scale
    total_ms: int
    ticks: tuple[str, ...]
    deadline_x: int | None
    used: Bar
    rows: tuple[Row, ...]
    currency: str

    @property
    def missing(self) -> int:
        """How many steps have a time that was not recorded."""
        return sum(row.state == "lost" for row in self.rows)


def draw(timeline: Timeline, *, scale: Scale | None = None) -> Waterfall:
    """Lay a timeline out; without a scale the one that shows more is taken."""
    chosen = scale or _best_scale(timeline)
    longest = max(timeline.deadline_ms, timeline.last_ms) if chosen == "deadline" else timeline.last_ms
    total = _nice(longest) if chosen == "fit" or longest > timeline.deadline_ms else longest
    currency = currency_of(timeline)
    deadline = round(WIDTH * timeline.deadline_ms / total)
    return Waterfall(
        timeline=timeline,
        scale=chosen,
        total_ms=total,
        ticks=tuple(write_ms(total * part // DIVISIONS) for part in range(DIVISIONS + 1)),
        deadline_x=deadline if deadline <= WIDTH else None,
        used=_bar(0, min(timeline.last_ms, timeline.deadline_ms), timeline.deadline_ms),
        rows=tuple(
            _row(step, number, timeline=timeline, total_ms=total, currency=currency)
            for number, step in enumerate(timeline.steps, 1)
        ),
        currency=currency,
    )


def _best_scale(timeline: Timeline) -> Scale:
    """An axis must not jump while the turn runs; a short turn on a long one would be a dot."""
    long_enough = timeline.last_ms * USED_ENOUGH >= timeline.deadline_ms
    return "deadline" if timeline.is_running or long_enough else "fit"


def _nice(ms: int) -> int:
    """Return a round length of at least `ms` that `DIVISIONS` divides."""
    unit = 1
    while unit * _NICE[-1] * DIVISIONS < ms:
        unit *= 10
    return next(unit * step * DIVISIONS for step in _NICE if unit * step * DIVISIONS >= ms)


def _bar(start_ms: int, end_ms: int, total_ms: int) -> Bar:
    """Place a bar; what is before the beginning or beyond the edge is cut, and everything can be seen."""
    start, end = (min(max(at, 0), total_ms) for at in (start_ms, end_ms))
    x = min(WIDTH * start // total_ms, WIDTH - LEAST_WIDTH)
    return Bar(x, max(WIDTH * end // total_ms - x, LEAST_WIDTH))


def _row(step: Step, number: int, *, timeline: Timeline, total_ms: int, currency: str) -> Row:
    name, family, tone = name_step(step.what, timeline.record.refund)
    until = timeline.now_ms if step.state == "open" else step.end_ms
    start = step.start_ms if step.start_ms is not None else step.end_ms
    bar = None if start is None else _bar(start, start if until is None else until, total_ms)
    return Row(
        number=number,
        name=name,
        family=family,
        tone=tone,
        state=step.state,
        depth=step.depth,
        when="time not recorded" if start is None else f"+{write_ms(max(0, start))}",
        took=_took(step),
        bar=bar,
        start_ms=step.start_ms,
        facts=tuple(facts_of(step.what, currency)),
        blocks=tuple(blocks_of(step.what)),
        rules=tuple(rules_of(step.what)),
    )


def _took(step: Step) -> str:
    if step.state == "open":
        return "still going on"
    if step.start_ms is not None and step.start_ms == step.end_ms:
        return ""
    if step.took_ms is not None:
        return write_ms(step.took_ms)
    if step.start_ms is None:
        return "" if step.end_ms is None else "beginning not recorded"
    return "end not recorded"
