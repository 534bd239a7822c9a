"""`flask doctor`, as an operator runs it."""

from refund_agent.doctor import Finding
from tests.functional.web.conftest import Web

REFUSED = Finding("refuse", "REDIS_URL is not set", "Redis is the broker", "Set it")
WARNED = Finding("warn", "a short token", "It can be guessed", "Make a longer one")


def run(web: Web) -> tuple[int, str]:
    result = web.client.application.test_cli_runner().invoke(args=["doctor"])
    return result.exit_code, result.output


def test_a_clean_bill_is_0(web: Web) -> None:
    assert run(web) == (0, "ok\n")


def test_what_start_up_would_refuse_is_named_and_ends_with_1(web: Web) -> None:
    web.findings = [WARNED, REFUSED]
    code, output = run(web)

    assert code == 1
    assert output.splitlines() == [str(WARNED), str(REFUSED)]


def test_a_note_is_shown_and_nothing_is_wrong(web: Web) -> None:
    web.findings = [Finding("note", "policy 2026-11 is in force", "30 days to return", "See it")]
    code, output = run(web)

    assert code == 0
    assert output.splitlines() == ["note: policy 2026-11 is in force. 30 days to return. See it.", "ok"]


def test_a_warning_is_named_and_ends_with_0(web: Web) -> None:
    web.findings = [WARNED]
    code, output = run(web)

    assert code == 0
    assert str(WARNED) in output
