"""Exports of a list or of one conversation: redacted; in full for whoever may write, and that is recorded."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Final, cast
from uuid import UUID

from flask import Blueprint, Response, request

from refund_agent.casebook import Casebook, CaseKind, CasePage, Sought
from web.console.export_files import MIME_TYPES, Cut, Format, write
from web.console.export_rows import CASE_FIELDS, LINE_FIELDS, Hiding, Row, case_row, line_row
from web.console.pages import Pages
from web.console.seeking import read_sought, write_query
from web.identity import require_staff
from web.kinds import Kind
from web.problems import Problem, Refused
from web.services import ConsoleServices
from web.turn_events import limit_writes

MAX_ROWS: Final = 5000
PAGE_SIZE: Final = 200
MAX_PAGES: Final = 50
"""Each may look into as many cases as one search does."""
RECENT: Final = 100


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the routes. GET is redacted; POST reveals."""

    @routes.route("/conversations/export", methods=["GET", "POST"])
    def export_conversations() -> Response:
        """Export the conversations that the address asks for."""
        return cases("conversation", "conversations")

    @routes.route("/turns/export", methods=["GET", "POST"])
    def export_turns() -> Response:
        """Export the turns without a conversation that the address asks for."""
        return cases("turn", "turns")

    @routes.route("/conversations/<uuid:conversation_id>/export", methods=["GET", "POST"])
    def export_conversation(conversation_id: UUID) -> Response:
        """Export what was said in one conversation."""
        found = console.conversations.find(str(conversation_id), customer_id=None)
        if found is None:
            detail = "There is no such conversation. Nothing was exported."
            raise Refused(Problem(Kind.NO_SUCH_CONVERSATION, detail))
        form, hiding = begin(f"conversations/{found.id}")
        rows = [line_row(line, hiding) for line in console.conversations.lines(found.id)]
        about = {"of": "conversation", "id": found.id, "customer": hiding.name("customer", found.customer_id)}
        return _send(write(form, LINE_FIELDS, _about(about, hiding), rows), f"conversation.{form}", form)

    @routes.get("/reveals")
    def reveals() -> Response:
        """Show who was shown what."""
        require_staff(write=False)
        found = console.reveals.recent(limit=RECENT)
        return pages.show("reveals.html", place="conversations", found=found, limit=RECENT)

    def cases(kind: CaseKind, name: str) -> Response:
        sought = read_sought(request.args)
        form, hiding = begin(f"{name}?{write_query(sought)}")
        rows = _rows(console.casebook, kind, sought, hiding)
        about = {"of": name, "sought": _tell(sought, hiding)}
        return _send(write(form, CASE_FIELDS, _about(about, hiding), rows), f"{name}.{form}", form)

    def begin(what: str) -> tuple[Format, Hiding]:
        """Find out how it is to be written, and record a reveal before anything is shown."""
        revealed = request.method == "POST"
        staff = require_staff(write=revealed)
        form = request.args.get("format", "jsonl")
        if form not in MIME_TYPES:
            raise Refused(Problem(Kind.INVALID_BODY, "`format` must be jsonl or csv. Nothing was exported."))
        if revealed:
            console.reveals.record(staff, what)
        return cast("Format", form), Hiding(not revealed)


def _rows(book: Casebook, kind: CaseKind, sought: Sought, hiding: Hiding) -> Iterator[Row | Cut]:
    """Return the rows of a list. Its first page is read now: a database that is away is told at once."""
    page = book.page(kind, sought, before=None, limit=PAGE_SIZE)

    def rows(page: CasePage) -> Iterator[Row | Cut]:
        left = MAX_ROWS
        for _ in range(MAX_PAGES):
            for case in page.cases[:left]:
                yield case_row(case, hiding)
            left -= len(page.cases)
            if page.following is None:
                return
            if left <= 0:
                break
            page = book.page(kind, sought, before=page.following, limit=PAGE_SIZE)
        yield Cut("there is more than one file may have")

    return rows(page)


def _about(what: Row, hiding: Hiding) -> Row:
    return {**what, "is_redacted": hiding.is_on, "rows_at_most": MAX_ROWS}


def _tell(sought: Sought, hiding: Hiding) -> Row:
    """Say what was looked for; the words and the customer may be what the file hides."""
    shown = replace(
        sought,
        words=hiding.text(sought.words),
        customer_id=hiding.name("customer", sought.customer_id),
    )
    return {name: value for name, value in asdict(shown).items() if value}


def _send(lines: Iterator[str], name: str, form: Format) -> Response:
    limit_writes(request.environ)  # a client that takes nothing must not keep a thread
    answer = Response(lines, mimetype=MIME_TYPES[form])
    answer.headers["Content-Disposition"] = f"attachment; filename={name}"
    return answer
