"""Who is calling: a portal, a customer or a member of staff; and what each may see.

A customer or a member of staff shows a JWT as `Authorization: Bearer`, or, where a header cannot be sent, a
one-use ticket in the query. A bearer token in a URL is not looked at.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from flask import Flask, current_app, g, request

from refund_agent.identity import Customer, Identity, SignIn, Staff, Tickets, TicketsUnavailable
from refund_agent.settings import Settings
from refund_agent.turn import TurnRecord
from web.bearer import CHALLENGE, PortalTokens, presented
from web.ids import API_ROOT
from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem, Refused

PORTAL_ROUTE: Final = f"{API_ROOT}refund-chat"
SHARED_ROUTES: Final = f"{API_ROOT}turns/"
SUPPORT_ROUTES: Final = frozenset({"approvals", "chat", "conversations", "orders", "tickets"})
"""What is only there with the support agent; without it these answer 404."""

_EXTENSION: Final = "refund-agent-callers"


@dataclass(frozen=True, slots=True)
class Portal:
    """A support portal, on behalf of whichever customer it names; it has turns of refund-chat only."""


Viewer: TypeAlias = Portal | Identity


class Callers:
    """Tells who sent the present request. Without `sign_in` there are only portals."""

    def __init__(self, settings: Settings, sign_in: SignIn | None) -> None:
        self._portals = PortalTokens(settings)
        self._sign_in = sign_in

    def guard(self) -> None:
        """Let a request below `/support/` in, or raise `Refused` before a byte of its body is read."""
        path = request.path
        if not path.startswith(API_ROOT):
            return
        if path == PORTAL_ROUTE:
            self._portals.require()
        elif self._sign_in is None:
            if path.removeprefix(API_ROOT).partition("/")[0] in SUPPORT_ROUTES:
                raise Refused(Problem(Kind.NOT_FOUND, "There is nothing at this path. Nothing was done."))
            self._portals.require()
        elif self.viewer() is None:
            raise _unknown_caller()

    def viewer(self) -> Viewer | None:
        """Return who is calling, found out once a request."""
        if "viewer" not in g:
            g.viewer = self._find_out()
        return cast("Viewer | None", g.viewer)

    def _find_out(self) -> Viewer | None:
        if self._sign_in is None:
            return Portal()
        portal_may_be_here = request.path.startswith(SHARED_ROUTES)
        if token := presented():
            if portal_may_be_here and self._portals.knows(token):
                return Portal()
            return self._sign_in.identities.verify(token.decode("ascii", "replace"))
        if request.method == "GET" and (ticket := request.args.get("ticket")):
            return _redeem(self._sign_in.tickets, ticket)
        return Portal() if portal_may_be_here and self._portals.is_open else None


def install(app: Flask, settings: Settings, sign_in: SignIn | None) -> None:
    """Guard everything below `/support/`."""
    callers = Callers(settings, sign_in)
    app.extensions[_EXTENSION] = callers
    app.before_request(callers.guard)


def adopt(identity: Identity) -> None:
    """Take the present request for this identity's, which was proved in another way, such as a cookie."""
    g.viewer = identity


# --- What a route asks ----------------------------------------------------------------------------


def require_identity() -> Identity:
    """Return the signed-in customer or member of staff; raise `Refused` with 401."""
    viewer = _viewer()
    if viewer is None or isinstance(viewer, Portal):
        raise _unknown_caller()
    return viewer


def require_customer() -> Customer:
    """Return the signed-in customer; raise `Refused` with 401, or with 403 for staff."""
    identity = require_identity()
    if isinstance(identity, Customer):
        return identity
    raise Refused(Problem(Kind.NOT_ALLOWED, "This is for customers. Nothing was done."))


def require_staff(*, write: bool) -> Staff:
    """Return the member of staff; raise `Refused` with 401, or with 403 for whoever may not do this."""
    identity = require_identity()
    if isinstance(identity, Staff) and (identity.may_write or not write):
        return identity
    missing = "Your role only looks." if isinstance(identity, Staff) else "This is for staff."
    raise Refused(Problem(Kind.NOT_ALLOWED, f"{missing} Nothing was done."))


# --- Turns ----------------------------------------------------------------------------------------


def may_read(turn: TurnRecord) -> bool:
    """Whether the caller may see the turn; if not, the answer must be the one for a turn that is not there.

    What `user_id` names in a turn of refund-chat is the portal's word, so no customer has such a turn.
    """
    match _viewer():
        case Staff():
            return True
        case Customer(customer_id):
            return turn.agent == "support" and turn.user_id == customer_id
        case Portal():
            return turn.agent == "refund_chat"
        case None:
            return False


def sees_all(_: TurnRecord) -> bool:
    """Whether the caller is shown what is for staff only."""
    return isinstance(_viewer(), Staff)


def viewer_name(turn: TurnRecord) -> str:
    """Return a name for the caller that no other caller has; a portal counts as the customer it asks for."""
    match _viewer():
        case Staff(staff_id):
            return f"staff {staff_id}"
        case Customer(customer_id):
            return f"customer {customer_id}"
        case Portal() | None:
            return f"portal {turn.user_id}"


def _viewer() -> Viewer | None:
    return cast("Callers", current_app.extensions[_EXTENSION]).viewer()


def _redeem(tickets: Tickets, ticket: str) -> Identity | None:
    try:
        return tickets.redeem(ticket, path=request.path)
    except TicketsUnavailable:
        raise Refused(tickets_away()) from None


def tickets_away() -> Problem:
    """Say that tickets can neither be issued nor used now."""
    detail = "Tickets cannot be issued or checked now. Nothing was done; try again after `Retry-After`."
    return Problem(Kind.TICKETS_AWAY, detail, headers=RETRY_AFTER)


def _unknown_caller() -> Refused:
    detail = "A valid token is required. Nothing was read, stored or sent."
    return Refused(Problem(Kind.SIGN_IN_REQUIRED, detail, headers=CHALLENGE))
