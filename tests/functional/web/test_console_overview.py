"""The console's overview: figures of a window, drawn and as a table, from what is stored."""

import re

import pytest
from sqlalchemy import select, update

from refund_agent.adapters.sql_tables import turns
from refund_agent.overview import Overview, PeriodFigures
from tests.fakes import calls_refund, says
from tests.functional.web.console_room import Visitor, text_of, visit
from tests.functional.web.support_room import SupportRoom
from web.console.overview_page import FIGURES, HEIGHT, plot

PAGE = "/console/overview"


@pytest.fixture
def dana(room: SupportRoom) -> Visitor:
    return visit(room)


def drawn(
    name: str, *parts: PeriodFigures, total: PeriodFigures | None = None
) -> tuple[str, tuple[int, ...], str]:
    figure = next(figure for figure in FIGURES if figure.name == name)
    found = plot(figure, Overview(0, 3_600_000, total or parts[-1], parts))
    return found.value, found.heights, found.note


def test_what_happened_is_in_the_figures_and_in_the_table(room: SupportRoom, dana: Visitor) -> None:
    room.chat("Refund A1", calls_refund("A1", 500), says("Done."))
    room.chat("Refund A2", calls_refund("A2", 500), says("No."))

    answer = dana.get(PAGE)
    page = text_of(answer)

    for figure in ("Conversations 2", "Messages 2", "Approved 1", "Denied 1", "Refunds paid 1"):
        assert figure in page
    assert "Cost not known" in page, "no price was set, which is not nothing"
    assert re.search(r"Median time [0-9.]+ m?s", page)
    assert answer.text.count("<tr>") == 25, "a line of headings and 24 hours"


def test_where_nothing_has_happened_the_page_says_so(dana: Visitor) -> None:
    page = text_of(dana.get(PAGE))
    assert "Nothing has happened in the last 24 hours." in page
    assert "Median time none yet" in page


@pytest.mark.parametrize(
    ("given", "shown", "lines"),
    [("", "24 hours", 25), ("7d", "7 days", 29), ("30d", "30 days", 31), ("<b>", "24 hours", 25)],
)
def test_the_window_is_in_the_address(dana: Visitor, given: str, shown: str, lines: int) -> None:
    answer = dana.get(f"{PAGE}?range={given}")
    assert f'aria-current="true">{shown}<' in answer.text
    assert answer.text.count("<tr>") == lines


def test_an_old_turn_is_in_the_wider_window_only(room: SupportRoom, dana: Visitor) -> None:
    room.chat("Hello", says("Hello."))
    two_days_ms = 2 * 86_400_000
    with room.stage.database.transaction() as tx:
        tx.execute(update(turns).values(created_at_ms=turns.c.created_at_ms - two_days_ms))
    assert "Messages 0" in text_of(dana.get(PAGE))
    assert "Messages 1" in text_of(dana.get(f"{PAGE}?range=7d"))


def test_whoever_may_only_read_sees_it_and_nobody_else(room: SupportRoom) -> None:
    text_of(visit(room, "sam").get(PAGE))
    text_of(visit(room, "").get(PAGE), 401)


def test_looking_again_when_nothing_has_changed_has_no_body(dana: Visitor) -> None:
    first = dana.get(PAGE)
    assert dana.get(PAGE, **{"If-None-Match": first.headers["ETag"]}).status_code == 304


# --- Plots ----------------------------------------------------------------------------------------


def test_a_bar_is_as_high_as_its_share_and_the_least_can_be_seen() -> None:
    parts = (PeriodFigures(), PeriodFigures(turns=1), PeriodFigures(turns=1000), PeriodFigures(turns=500))
    assert drawn("Messages", *parts)[1] == (0, 1, HEIGHT, HEIGHT // 2)


def test_figures_that_are_nothing_have_no_bars() -> None:
    assert drawn("Messages", PeriodFigures(), PeriodFigures()) == ("0", (0, 0), "")


def test_a_cost_that_is_partly_known_is_the_least_and_says_of_how_many_completions() -> None:
    partly = PeriodFigures(turns=5, completions=12, priced_completions=7, cost_microdollars=12_300)
    assert drawn("Cost", partly)[0::2] == ("at least $0.0123", "7 of 12 completions had a price")


def test_a_cost_of_which_nothing_is_known_is_not_nothing() -> None:
    found = PeriodFigures(turns=3, completions=4)
    assert drawn("Cost", found)[0::2] == ("not known", "None of 4 completions had a price (MODEL_PRICES)")


def test_a_cost_that_is_wholly_known_is_said_without_a_remark() -> None:
    found = PeriodFigures(turns=3, completions=4, priced_completions=4, cost_microdollars=100)
    assert drawn("Cost", found)[0::2] == ("$0.0001", "")
    assert drawn("Cost", PeriodFigures())[0::2] == ("$0.0000", "")


def test_turns_of_which_only_one_cost_nothing_do_not_cost_nothing(room: SupportRoom, dana: Visitor) -> None:
    """One that was over before any completion costs nothing, and does not make the others cheap."""
    for _ in range(2):
        room.chat("Hello", says("Hello."))
    with room.stage.database.transaction() as tx:
        free = select(turns.c.id).limit(1).scalar_subquery()
        tx.execute(update(turns).where(turns.c.id == free).values(completions_used=0, cost_microdollars=0))

    answer = dana.get(PAGE)

    assert "Cost not known" in text_of(answer)
    assert "None of 1 completions had a price" in text_of(answer)
    assert 'aria-label="Cost over time, at most not known in an hour"' in answer.text
    assert "$" not in answer.text.split("<tbody>")[1].split("</tr>")[-2], "the present hour"
