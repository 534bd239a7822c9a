"""Both stand-ins as one process, and the README that tells how to use them."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import openai
import pytest
import requests

from sandbox.both import Both
from sandbox.http import serve
from sandbox.model import Model
from sandbox.payments import Payments
from sandbox.tables import README, with_tables

REFUND = {"order_id": "A1", "amount_cents": 500}


@contextmanager
def sandbox(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `python -m sandbox` on a free port, and give the process and its address."""
    command = [sys.executable, "-m", "sandbox", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ourselves
        try:
            assert process.stdout is not None
            told = [process.stdout.readline() for _ in range(3)]
            found = re.fullmatch(r"OPENAI_BASE_URL=(http://127\.0\.0\.1:\d+)/v1\n", told[1])
            assert found is not None
            assert told[2] == f"PAYMENTS_URL={found[1]}/payments\n"
            yield process, found[1]
        finally:
            process.kill()


def test_one_process_serves_both_on_one_port() -> None:
    with sandbox("--mode", "ok-201") as (_, url), requests.Session() as session:
        assert session.post(f"{url}/payments/refunds", json=REFUND, timeout=5).status_code == 201
        assert len(session.get(f"{url}/payments/ledger.json", timeout=5).json()["moved"]) == 1
        with openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0, timeout=5) as client:
            completion = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hello"}]
            )
        assert completion.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_at_once_though_an_answer_hangs(number: signal.Signals) -> None:
    with sandbox("--mode", "hang") as (process, url), requests.Session() as session:
        ended = threading.Event()

        def hang() -> None:
            with pytest.raises(requests.ConnectionError):
                session.post(f"{url}/payments/refunds", json=REFUND, timeout=30)
            ended.set()

        thread = threading.Thread(target=hang)
        thread.start()
        while not _requests(url):
            pass
        started = time.monotonic()
        os.kill(process.pid, number)
        assert process.wait(5) == 0
        assert time.monotonic() - started < 3
        thread.join()
        assert ended.is_set()


def _requests(url: str) -> int:
    with requests.Session() as session:
        count = session.get(f"{url}/payments/ledger.json", timeout=5).json()["requests"]
    return int(count)


@pytest.fixture
def address() -> Iterator[str]:
    with serve(Both(model=Model(), payments=Payments())) as server:
        yield server.url


@pytest.mark.parametrize(
    "path", ["/", "/style.css", "/payments", "/payments/style.css", "/v1", "/v1/style.css"]
)
def test_the_pages_and_their_style_are_found(address: str, session: requests.Session, path: str) -> None:
    assert session.get(address + path, timeout=5).status_code == 200


@pytest.mark.parametrize("path", ["/nothing", "/payments2", "/v2/models"])
def test_anything_else_is_404(address: str, session: requests.Session, path: str) -> None:
    assert session.get(address + path, timeout=5).status_code == 404


def test_a_connection_to_payments_alone_is_reset_on_accept(address: str, session: requests.Session) -> None:
    session.post(f"{address}/payments/mode", json={"mode": "reset-on-accept"}, timeout=5)
    with pytest.raises(requests.ConnectionError):
        session.post(f"{address}/payments/refunds", json=REFUND, timeout=5)
    assert session.get(f"{address}/v1/models", timeout=5).status_code == 200


def test_a_redirect_to_itself_stays_under_payments(address: str, session: requests.Session) -> None:
    session.post(f"{address}/payments/mode", json={"next": ["redirect-307"]}, timeout=5)
    response = session.post(f"{address}/payments/refunds", json=REFUND, timeout=5)
    assert (response.status_code, response.url) == (200, f"{address}/payments/refunds")


def test_the_readme_lists_every_mode_and_script() -> None:
    readme = README.read_text()
    assert readme == with_tables(readme)
