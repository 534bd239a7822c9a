"""The console over a real database and Redis, in a browser's place: cookies are kept, forms are ours."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.functional.web.support_room import SupportRoom

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
OWN_PAGE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}


@dataclass
class Visitor:
    """One browser. Its forms carry what a page of ours would: the session's word and where they come from."""

    client: FlaskClient
    csrf: str = ""
    headers: dict[str, str] = field(default_factory=lambda: dict(HTML))

    def sign_in(self, token: str, **more: str) -> TestResponse:
        """Come from the portal, which is another site."""
        elsewhere = {"Origin": "https://portal.example", "Sec-Fetch-Site": "cross-site"}
        answer = self.client.post(
            "/console/session", data={"token": token, **more}, headers={**self.headers, **elsewhere}
        )
        if answer.status_code == 303:
            self.csrf = _csrf_of(self.get("/console/stuck").text)
        return answer

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.client.get(path, headers={**self.headers, **headers})

    def post(self, path: str, /, headers: dict[str, str] | None = None, **fields: Any) -> TestResponse:
        """Send a form as a page of ours does."""
        data = {"csrf": self.csrf, **fields}
        return self.client.post(path, data=data, headers={**self.headers, **OWN_PAGE, **(headers or {})})


def visit(room: SupportRoom, who: str = "dana") -> Visitor:
    """Open a browser of its own for somebody, signed in."""
    visitor = Visitor(room.client.application.test_client())
    if who:
        assert visitor.sign_in(f"is-{who}").status_code == 303
    return visitor


def _csrf_of(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None, page
    return found[1]


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def text_of(answer: TestResponse, status: int = 200) -> str:
    """Return what a page says, as a person reads it, in single spaces."""
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "text/html"
    reader = _Text()
    reader.feed(answer.text)
    return " ".join(" ".join(reader.said).split())
