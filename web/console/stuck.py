"""The queue of turns that something should have moved on by now: what `flask turns stuck` lists."""

from typing import Final

from flask import Blueprint, Response

from web.console.pages import Pages, unless_same
from web.identity import require_staff
from web.services import ConsoleServices

LIMIT: Final = 100


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the routes."""

    @routes.get("/stuck")
    def stuck() -> Response:
        """List what is stuck, oldest first, and whether its worker is still heard of."""
        require_staff(write=False)
        return unless_same(
            pages.show(
                "stuck.html",
                place="stuck",
                found=console.inspection.stuck(limit=LIMIT),
                workers=console.workers_alive(),
                lease_seconds=console.lease_seconds,
                limit=LIMIT,
            )
        )
