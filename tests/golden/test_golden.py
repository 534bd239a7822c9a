"""The golden set itself: a model that does as it is asked passes, and each wrong one is found."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from refund_agent.adapters.openai_model import OpenAIModel
from refund_agent.ports import Model
from sandbox.http import serve
from sandbox.model import Model as ScriptedModel
from tests.fakes import FakeModel, calls_refund, fails, says
from tests.golden.golden import judge_refund_chat, judge_support

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scripted() -> Iterator[str]:
    with serve(ScriptedModel()) as served:
        yield f"{served.url}/v1"


@pytest.fixture
def model(scripted: str) -> Iterator[Model]:
    opened = OpenAIModel(api_key="k", base_url=scripted, model="gpt-4o-mini-2024-07-18", connections=1)
    yield opened
    opened.close()


@pytest.mark.fault(280)
def test_a_model_that_does_as_it_is_asked_is_right_in_every_case(model: Model) -> None:
    results = [*judge_refund_chat(model), *judge_support(model)]

    assert [result for result in results if result.wrong] == []
    assert len(results) > 20


@pytest.mark.fault(280)
def test_a_model_that_invents_an_amount_or_an_order_is_found() -> None:
    inventive = FakeModel(*(answer for _ in range(5) for answer in (calls_refund("A1", 500), says("Done."))))

    assert all(result.wrong for result in judge_refund_chat(inventive))


def test_a_provider_that_fails_is_not_taken_for_a_model_that_is_right() -> None:
    assert all(
        result.wrong for result in judge_refund_chat(FakeModel(*(fails("HTTP 404") for _ in range(5))))
    )


def test_the_command_prints_each_case_and_how_many_were_right(scripted: str) -> None:
    env = {"OPENAI_BASE_URL": scripted, "OPENAI_API_KEY": "k", "LLM_PROVIDER": "scripted"}

    run = subprocess.run(
        [sys.executable, "-m", "tests.golden"], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1].endswith("right, 0 wrong")
