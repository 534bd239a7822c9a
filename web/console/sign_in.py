"""Signing in and out. The portal sends a token by its own form; with AUTH_MODE=dev somebody is picked."""

from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response, request

from refund_agent.identity import DevPicker, Person, Proof, SignIn, Staff
from refund_agent.ports import StoreUnavailable
from web.bearer import presented
from web.console.door import Door, form, require_own_page
from web.console.pages import HOME, Pages, lead_to
from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem, Refused

MAX_ADDRESS_LENGTH: Final = 2000


@dataclass(frozen=True, slots=True)
class SignInPage:
    """The page for whoever is not signed in; in development it offers whom to be."""

    pages: Pages
    picker: DevPicker | None

    def show(
        self, *, status: int = 200, problem: object = None, after: str = HOME, signed_out: bool = False
    ) -> Response:
        """Show it; `after` is where signing in leads."""
        people = None if self.picker is None else _staff(self.picker)
        return self.pages.show(
            "sign_in.html", status=status, problem=problem, after=after, people=people, signed_out=signed_out
        )


def add_routes(routes: Blueprint, *, door: Door, page: SignInPage, sign_in: SignIn) -> None:
    """Add the routes."""
    door.leave_open("begin", "pick", "show_sign_in")

    @routes.route("/session", methods=["POST"])
    def begin() -> Response:
        """Sign in by the host site's token, in the form's `token` or as `Authorization: Bearer`.

        The form is the portal's page, so it comes from another origin; the token is the proof.
        """
        token = presented().decode("ascii", "replace")
        given = {} if token else form()
        return _enter(sign_in.identities.prove(token or given.get("token", "")), given.get("next", ""))

    @routes.route("/session/end", methods=["POST"])
    def end() -> Response:
        """Sign out."""
        answer = lead_to("/console/sign-in?signed_out=1")
        door.let_out(answer)
        return answer

    @routes.get("/sign-in")
    def show_sign_in() -> Response:
        """Say how to sign in."""
        return page.show(signed_out=request.args.get("signed_out") == "1")

    @routes.route("/sign-in", methods=["POST"])
    def pick() -> Response:
        """Sign in as one of those whom AUTH_MODE=dev offers."""
        if sign_in.picker is None:
            raise Refused(Problem(Kind.NOT_FOUND, "There is nothing at this path. Nothing was done."))
        require_own_page()
        picked = next(
            (one for one in _staff(sign_in.picker) if one.identity.id == form().get("person")), None
        )
        if picked is None:
            raise Refused(Problem(Kind.INVALID_BODY, "There is nobody of this id. Nobody was signed in."))
        token = sign_in.picker.mint(picked.identity)
        return _enter(sign_in.identities.prove(token), form().get("next", ""))

    def _enter(proof: Proof | None, after: str) -> Response:
        if proof is None:
            detail = "The token is not valid, or no longer. Nobody was signed in; open the console anew."
            raise Refused(Problem(Kind.SIGN_IN_REQUIRED, detail))
        answer = lead_to(after if _is_ours(after) else HOME)
        door.let_in(proof, answer)
        return answer


def _staff(picker: DevPicker) -> list[Person]:
    try:
        return [person for person in picker.people() if isinstance(person.identity, Staff)]
    except StoreUnavailable:
        detail = "The database cannot be asked now. Nobody was signed in; try again in a few seconds."
        raise Refused(Problem(Kind.NOT_READABLE, detail, headers=RETRY_AFTER)) from None


def _is_ours(address: str) -> bool:
    """Whether an address is a page of the console, and so safe to lead to."""
    return address.startswith(HOME) and len(address) <= MAX_ADDRESS_LENGTH and address.isprintable()
