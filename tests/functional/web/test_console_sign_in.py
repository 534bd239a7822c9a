"""The console's door: who comes in, how long, and what no other site's page can make a browser do there."""

from typing import cast

import pytest
from flask import Response

from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_sessions import RedisSessions
from refund_agent.identity import Proof, Staff
from refund_agent.sessions import MAX_SESSION_SECONDS, SessionsUnavailable
from tests.functional.web.conftest import problem_of
from tests.functional.web.console_room import HTML, OWN_PAGE, text_of, visit
from tests.functional.web.people import DANA, bearer
from tests.functional.web.support_room import SupportRoom
from web.console.door import Door

PAGE = "/console/stuck"


def kept(room: SupportRoom) -> list[bytes]:
    return cast("list[bytes]", room.turn_stage.redis.keys("sessions:*"))


def test_a_portal_s_form_with_a_staff_token_opens_the_console(room: SupportRoom) -> None:
    visitor = visit(room, "")
    assert visitor.sign_in("is-dana").headers["Location"] == "/console/"
    assert "Dana" in text_of(visitor.get(PAGE))


def test_so_does_a_bearer_token(room: SupportRoom) -> None:
    visitor = visit(room, "")
    assert visitor.client.post("/console/session", headers=bearer("is-sam")).status_code == 303
    assert "Sam only reads" in text_of(visitor.get(PAGE))


def test_the_cookie_is_out_of_a_script_s_and_of_other_sites_reach(room: SupportRoom) -> None:
    cookie = visit(room, "").sign_in("is-dana").headers["Set-Cookie"]
    parts = cookie.split("; ")
    assert {"HttpOnly", "SameSite=Lax", "Path=/console", "Max-Age=3600"} <= set(parts)
    assert "is-dana" not in cookie
    assert len(parts[0].removeprefix("console_session=")) >= 43


def test_in_production_the_cookie_is_sent_over_https_only(room: SupportRoom) -> None:
    door = Door(room.console.sessions, over_https_only=True)
    answer = Response()
    with room.client.application.test_request_context("/console/session"):
        door.let_in(Proof(DANA, 60), answer)
        door.let_out(answer)
    begun, ended = answer.headers.getlist("Set-Cookie")
    assert "Secure" in begun.split("; ")
    assert {"Secure", "Max-Age=0", "Path=/console"} <= set(ended.split("; "))


@pytest.mark.parametrize(("token", "status"), [("", 401), ("forged", 401), ("is-alice", 403)])
def test_nobody_else_is_signed_in(room: SupportRoom, token: str, status: int) -> None:
    visitor = visit(room, "")
    answer = visitor.sign_in(token)
    text_of(answer, status)
    assert "Set-Cookie" not in answer.headers
    assert kept(room) == []


def test_a_session_lasts_as_long_as_its_token_and_a_working_day_at_most(room: SupportRoom) -> None:
    identities = room.identities
    visit(room, "dana")
    assert 3500 < room.turn_stage.redis.ttl(kept(room)[0]) <= 3600
    room.turn_stage.redis.flushdb()
    identities.left_seconds = 24 * 3600
    visit(room, "dana")
    assert room.turn_stage.redis.ttl(kept(room)[0]) <= MAX_SESSION_SECONDS
    room.turn_stage.redis.flushdb()
    identities.left_seconds = -5
    text_of(visit(room, "").sign_in("is-dana"), 401)
    assert kept(room) == []


def test_what_redis_has_is_no_cookie(room: SupportRoom) -> None:
    visitor = visit(room, "dana")
    cookie = visitor.client.get_cookie("console_session", path="/console")
    assert cookie is not None
    (key,) = kept(room)
    assert cookie.value.encode() not in key
    assert cookie.value.encode() not in (room.turn_stage.redis.get(key) or b"")


def test_each_sign_in_has_an_id_of_its_own_and_ends_the_one_before(room: SupportRoom) -> None:
    visitor = visit(room, "dana")
    first = visitor.client.get_cookie("console_session", path="/console")
    visitor.sign_in("is-sam")
    second = visitor.client.get_cookie("console_session", path="/console")
    assert first is not None
    assert second is not None
    assert first.value != second.value
    assert len(kept(room)) == 1


def test_signing_out_ends_the_session_for_whoever_has_its_cookie(room: SupportRoom) -> None:
    visitor, thief = visit(room, "dana"), visit(room, "")
    cookie = visitor.client.get_cookie("console_session", path="/console")
    assert cookie is not None
    thief.client.set_cookie("console_session", cookie.value, path="/console")
    text_of(thief.get(PAGE))
    assert visitor.post("/console/session/end").status_code == 303
    text_of(thief.get(PAGE), 401)
    assert kept(room) == []


@pytest.mark.parametrize("cookie", ["", "x", "x" * 43, "x" * 65, "sessions:*", "a%0d%0ab"])
def test_a_made_up_cookie_opens_nothing(room: SupportRoom, cookie: str) -> None:
    visitor = visit(room, "")
    visitor.client.set_cookie("console_session", cookie, path="/console")
    text_of(visitor.get(PAGE), 401)


def test_a_deep_link_leads_back_to_itself_after_signing_in(room: SupportRoom) -> None:
    link = "/console/stuck?a=1&b=2"
    visitor = visit(room, "")
    text_of(visitor.get(link), 401)
    assert visitor.sign_in("is-dana", next=link).headers["Location"] == link


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/console/",
        "//evil.example",
        "/support/",
        "/console",
        "/console/\r\nX: y",
        "\\\\evil",
    ],
)
def test_signing_in_leads_nowhere_else(room: SupportRoom, elsewhere: str) -> None:
    assert visit(room, "").sign_in("is-dana", next=elsewhere).headers["Location"] == "/console/"


# --- Writes ---------------------------------------------------------------------------------------

END = "/console/session/end"


@pytest.mark.fault(57)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://localhost:8080"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_write_from_another_origin_is_refused(room: SupportRoom, headers: dict[str, str]) -> None:
    visitor = visit(room, "dana")
    text_of(visitor.post(END, headers=headers), 403)
    assert len(kept(room)) == 1


@pytest.mark.fault(57)
@pytest.mark.parametrize("word", ["", "x", "é", "x" * 43])
def test_a_write_without_the_session_s_own_word_is_refused(room: SupportRoom, word: str) -> None:
    visitor = visit(room, "dana")
    text_of(visitor.post(END, csrf=word), 403)
    assert len(kept(room)) == 1


@pytest.mark.fault(57)
def test_another_session_s_word_is_no_use(room: SupportRoom) -> None:
    mine, theirs = visit(room, "dana"), visit(room, "dana")
    text_of(mine.post(END, csrf=theirs.csrf), 403)
    assert len(kept(room)) == 2


@pytest.mark.parametrize(
    ("data", "content_type", "status"),
    [
        (b"csrf=a&csrf=b", "application/x-www-form-urlencoded", 422),
        (b"csrf=a&x=%00", "application/x-www-form-urlencoded", 422),
        (b"csrf=%ff", "application/x-www-form-urlencoded", 400),
        (b"csrf=a&x=%ed%a0%80", "application/x-www-form-urlencoded", 400),
        (b"a=1&" * 30, "application/x-www-form-urlencoded", 400),
        (b"csrf=" + b"x" * 70_000, "application/x-www-form-urlencoded", 413),
        (b"--x\r\n", "multipart/form-data; boundary=x", 415),
        (b"{}", "application/json", 415),
    ],
)
def test_what_is_no_form_is_refused(room: SupportRoom, data: bytes, content_type: str, status: int) -> None:
    visitor = visit(room, "dana")
    answer = visitor.client.post(END, data=data, content_type=content_type, headers={**HTML, **OWN_PAGE})
    text_of(answer, status)
    assert len(kept(room)) == 1


# --- Pages ----------------------------------------------------------------------------------------


def test_a_program_gets_problems_as_json(room: SupportRoom) -> None:
    problem_of(room.client.get(PAGE), 401)
    problem_of(room.client.get("/console/none"), 401)


def test_a_browser_gets_pages(room: SupportRoom) -> None:
    visitor = visit(room, "dana")
    assert "There is nothing at this path" in text_of(visitor.get("/console/none"), 404)
    text_of(visitor.get("/console/session"), 404)


@pytest.mark.parametrize("path", [PAGE, "/console/sign-in", "/console/none"])
def test_every_page_allows_nothing_inline_and_nothing_from_elsewhere(room: SupportRoom, path: str) -> None:
    answer = visit(room, "dana").get(path)
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "form-action 'self'", "frame-ancestors 'none'"} <= set(
        policy
    )
    assert "require-trusted-types-for 'script'" in policy
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert "<script>" not in answer.text
    assert "style=" not in answer.text
    assert " on" not in "".join(part.split(">")[0] for part in answer.text.split("<input")[1:])


def test_its_files_may_be_kept_as_long_as_they_are_the_same(room: SupportRoom) -> None:
    visitor = visit(room, "dana")
    address = visitor.get(PAGE).text.split('rel="stylesheet" href="')[1].split('"')[0]
    kept_file = visit(room, "").get(address)
    assert kept_file.mimetype == "text/css"
    assert "immutable" in kept_file.headers["Cache-Control"]
    other = visit(room, "").get("/console/static/other/console.css")
    assert other.headers["Cache-Control"] == "no-store"
    assert visitor.get("/console/static/other/..%2fchat.html").status_code == 404


def test_without_redis_nobody_is_let_in_or_signed_in() -> None:
    away = connect("redis://127.0.0.1:1/0", connections=1)
    sessions = RedisSessions(away)
    with pytest.raises(SessionsUnavailable):
        sessions.begin(Staff("s", "Sam", may_write=False), seconds=10)
    with pytest.raises(SessionsUnavailable):
        sessions.find("x")
    with pytest.raises(SessionsUnavailable):
        sessions.end("x")
    away.close()


def test_then_the_console_says_so(room: SupportRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = visit(room, "dana")

    def away(*_: object, **__: object) -> None:
        raise SessionsUnavailable("away")

    monkeypatch.setattr(RedisSessions, "find", away)
    answer = visitor.get(PAGE)
    assert "Sign-ins cannot be checked now" in text_of(answer, 503)
    assert answer.headers["Retry-After"]


def test_the_console_is_found_with_a_slash_and_without(room: SupportRoom) -> None:
    visitor = visit(room, "dana")
    for path in ("/console", "/console/"):
        assert visitor.get(path).headers["Location"].startswith("/console/")
