"""The list of conversations, and of turns without one: newest first, sought by the address, kept fresh."""

from typing import Final

from flask import Blueprint, Response, request

from refund_agent.casebook import CaseKind
from web.console.pages import Pages, unless_same
from web.console.seeking import AGES, OUTCOMES, OWNERS, REFUNDS, RULES, read_mark, read_sought, write_query
from web.identity import require_staff
from web.services import ConsoleServices

PAGE_SIZE: Final = 50


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the routes."""

    @routes.get("/conversations")
    def conversations() -> Response:
        """List conversations of the support agent."""
        return listed("conversation")

    @routes.get("/turns")
    def turns() -> Response:
        """List turns that belong to no conversation, as those of refund-chat do."""
        return listed("turn")

    def listed(kind: CaseKind) -> Response:
        require_staff(write=False)
        sought, before = read_sought(request.args), read_mark(request.args)
        page = console.casebook.page(kind, sought, before=before, limit=PAGE_SIZE)
        orders = {refund.order_id for case in page.cases for refund in case.refunds}
        return unless_same(
            pages.show(
                "cases.html",
                place="conversations",
                kind=kind,
                page=page,
                sought=sought,
                currencies=console.casebook.currencies(orders),
                query=write_query(sought),
                following=write_query(sought, page.following) if page.following else "",
                is_first=before is None,
                outcomes=OUTCOMES,
                rules=RULES,
                refund_states=REFUNDS,
                owners=OWNERS,
                ages=AGES,
            )
        )
