"""The picker of AUTH_MODE=dev: who there is, and a token for whoever is picked. Never in production."""

from flask import Blueprint, Response, jsonify, request

from refund_agent import strict_json
from refund_agent.identity import Customer, DevPicker, Person
from refund_agent.ports import StoreUnavailable
from web.kinds import Kind
from web.problems import NOT_READABLE, Problem, Refused, respond

MAX_BODY_BYTES = 1024


def blueprint(picker: DevPicker) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("dev_sign_in", __name__)

    @routes.get("/dev/customers")
    def customers() -> Response:
        """List the seeded customers, and some staff."""
        return jsonify([_shown(person) for person in _people(picker)])

    @routes.route("/dev/token", methods=["POST"])
    def token() -> Response:
        """Return a token for `{"id": …}`, one of those listed."""
        picked = _picked_id()
        found = next((person for person in _people(picker) if person.identity.id == picked), None)
        if found is None:
            return respond(Problem(Kind.INVALID_BODY, "There is nobody of this `id`; see /dev/customers."))
        answer = jsonify({"token": picker.mint(found.identity), **_shown(found)})
        answer.headers["Cache-Control"] = "no-store"
        return answer

    return routes


def _people(picker: DevPicker) -> list[Person]:
    try:
        return picker.people()
    except StoreUnavailable:
        raise Refused(NOT_READABLE) from None


def _picked_id() -> str:
    # A page of another origin cannot send JSON without asking first, and is not answered then.
    if request.mimetype != "application/json":
        raise Refused(Problem(Kind.WRONG_CONTENT_TYPE, "The Content-Type must be application/json."))
    try:
        body = strict_json.parse(request.get_data(), max_bytes=MAX_BODY_BYTES)
    except strict_json.NotJson as reason:
        raise Refused(Problem(Kind.MALFORMED_BODY, f"The body is not valid JSON: {reason}.")) from None
    match body:
        case {"id": str(picked), **others} if not others:
            return picked
        case _:
            raise Refused(Problem(Kind.INVALID_BODY, 'The body must be {"id": "…"}.'))


def _shown(person: Person) -> dict[str, str]:
    role = "customer" if isinstance(person.identity, Customer) else "staff"
    return {"id": person.identity.id, "name": person.name, "role": role}
