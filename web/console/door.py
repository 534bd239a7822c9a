"""Who may come in: a session's cookie for every page, and for every write a proof that our own page sent it.

Such a proof is two things: the session's own word, which no other page can read, and the browser's word about
where the request comes from. A request that does not say where it comes from may not write.
"""

import hmac
from typing import Final, cast
from urllib.parse import urlsplit

from flask import Response, g, request

from refund_agent.identity import Proof, Staff
from refund_agent.sessions import MAX_SESSION_SECONDS, Session, Sessions, SessionsUnavailable
from web import identity
from web.body import read_form
from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem, Refused

COOKIE: Final = "console_session"
CSRF_FIELD: Final = "csrf"
PATH: Final = "/console"
_READS: Final = frozenset({"GET", "HEAD"})


class Door:
    """Lets members of staff in, and out again."""

    def __init__(self, sessions: Sessions, *, over_https_only: bool) -> None:
        self._sessions = sessions
        self._over_https_only = over_https_only
        self._open: set[str] = {"console.file"}

    def leave_open(self, *endpoints: str) -> None:
        """Let everybody reach these, which look after themselves."""
        self._open.update(f"console.{endpoint}" for endpoint in endpoints)

    def guard(self) -> None:
        """Let the present request in as a member of staff's, or raise `Refused`."""
        if request.endpoint in self._open:
            return
        session = self._find()
        if session is None:
            raise Refused(Problem(Kind.SIGN_IN_REQUIRED, "You are not signed in. Nothing was done."))
        g.console_session = session
        identity.adopt(session.staff)
        if request.method not in _READS:
            require_own_page()
            _require_csrf(session)

    def let_in(self, proof: Proof, answer: Response) -> None:
        """Begin a session for the staff that a token has just proved, in place of the one that was there."""
        if not isinstance(proof.identity, Staff):
            raise Refused(Problem(Kind.NOT_ALLOWED, "The console is for staff. Nobody was signed in."))
        seconds = min(proof.left_seconds, MAX_SESSION_SECONDS)
        if seconds <= 0:
            raise Refused(Problem(Kind.SIGN_IN_REQUIRED, "The token has run out. Nobody was signed in."))
        try:
            self._sessions.end(_cookie())
            session_id = self._sessions.begin(proof.identity, seconds=seconds)
        except SessionsUnavailable:
            raise _away() from None
        answer.set_cookie(
            COOKIE,
            session_id,
            path=PATH,
            max_age=seconds,
            secure=self._over_https_only,
            httponly=True,
            samesite="Lax",  # a portal on another host leads here, and so does a link in a ticket
        )

    def let_out(self, answer: Response) -> None:
        """End the present session."""
        try:
            self._sessions.end(_cookie())
        except SessionsUnavailable:
            raise _away() from None
        answer.delete_cookie(COOKIE, path=PATH, secure=self._over_https_only, httponly=True, samesite="Lax")

    def _find(self) -> Session | None:
        try:
            return self._sessions.find(_cookie())
        except SessionsUnavailable:
            raise _away() from None


def present_session() -> Session | None:
    """Return the session of the present request; None where nobody has to be signed in."""
    return cast("Session | None", g.get("console_session"))


def form() -> dict[str, str]:
    """Return the fields of the present request's form, read once; raise `Refused`."""
    if "console_form" not in g:
        g.console_form = read_form(request)
    return cast("dict[str, str]", g.console_form)


def require_own_page() -> None:
    """Raise `Refused` unless the browser says that a page of this very host sent the request."""
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if site != "same-origin" or urlsplit(request.headers.get("Origin", "")).netloc != request.host:
        raise Refused(Problem(Kind.CROSS_ORIGIN, "Another site's page sent this. Nothing was done."))


def _require_csrf(session: Session) -> None:
    given = request.headers.get("X-CSRF-Token") or form().get(CSRF_FIELD, "")
    if not hmac.compare_digest(given.encode("utf-8", "replace"), session.csrf.encode()):
        detail = "The page belongs to an earlier sign-in, or is not ours. Nothing was done."
        raise Refused(Problem(Kind.CROSS_ORIGIN, detail))


def _cookie() -> str:
    return request.cookies.get(COOKIE, "")


def _away() -> Refused:
    detail = "Sign-ins cannot be checked now. Nothing was done; try again in a few seconds."
    return Refused(Problem(Kind.SESSIONS_AWAY, detail, headers=RETRY_AFTER))
