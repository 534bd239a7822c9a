"""In which language an answer says what code says to a customer: in the one its reader asks for."""

from typing import Any, Final, cast

from flask import Response, request

from refund_agent.languages import LANGUAGES, Language
from refund_agent.turn import TurnRecord

ACCEPT_LANGUAGE: Final[dict[str, Any]] = {
    "name": "Accept-Language",
    "in": "header",
    "description": "`en`, `de` or `es`: the language of what code says to a customer, such as what became of "
    "a refund; English for others. What people and the model wrote stays as it is. Turns of refund-chat are "
    "always in English.",
    "schema": {"type": "string", "examples": ["de-AT, de;q=0.9, en;q=0.5"]},
}


def readers_language() -> Language:
    """Return the language that the present request asks for; English when it asks for none of ours."""
    return cast("Language", request.accept_languages.best_match(LANGUAGES, default="en"))


def readers_language_of(turn: TurnRecord) -> Language | None:
    """Return the language that a turn is shown in; None: as stored, which is refund-chat's contract."""
    return readers_language() if turn.agent == "support" else None


def in_language(answer: Response, language: Language | None) -> Response:
    """Say in an answer's headers which language it is in, and that it depends on the one asked for."""
    if language is not None:
        answer.headers["Content-Language"] = language
        answer.vary.add("Accept-Language")
    return answer
