"""What a platform reads (Procfile, app.json, .python-version) agrees with the code and with one another."""

import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from refund_agent.doctor import HEROKU_ROUTER_SECONDS, check
from refund_agent.providers import PRESETS
from refund_agent.settings import read_settings

ROOT = Path(__file__).parents[2]
ADDONS = {
    "heroku-postgresql": ("DATABASE_URL", "postgres://u:p@db.example.com:5432/d"),
    "heroku-redis": ("REDIS_URL", "rediss://:p@redis.example.com:6380"),
}
"""What these set by themselves."""


@pytest.fixture
def processes() -> dict[str, str]:
    lines = (ROOT / "Procfile").read_text().splitlines()
    return {name: command.strip() for name, _, command in (line.partition(":") for line in lines)}


@pytest.fixture
def app() -> Any:
    return json.loads((ROOT / "app.json").read_text())


def test_the_formation_names_every_process_but_the_release(processes: dict[str, str], app: Any) -> None:
    assert set(app["formation"]) == set(processes) - {"release"}


def test_every_process_is_a_program_of_the_requirements(processes: dict[str, str]) -> None:
    programs = {shlex.split(command)[0] for command in processes.values()}

    assert [name for name in programs if not (Path(sys.executable).parent / name).is_file()] == []


def test_the_deadline_is_shorter_than_the_routers(app: Any) -> None:
    assert float(app["env"]["TURN_DEADLINE_SECONDS"]["value"]) < HEROKU_ROUTER_SECONDS


def test_what_app_json_sets_and_asks_for_is_all_that_production_needs(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = {"PAYMENTS_URL": "https://payments.example.com", "FLOWER_BASIC_AUTH": "u:p"}
    given = {
        name: entry.get("value") or examples.get(name, "x" * 64)
        for name, entry in app["env"].items()
        if entry.get("required", True)
    }
    given |= dict(ADDONS[addon["plan"]] for addon in app["addons"])

    for name, value in {**given, "DYNO": "web.1"}.items():
        monkeypatch.setenv(name, value)

    assert check(read_settings()) == []


def test_app_json_sets_only_what_the_service_reads(app: Any) -> None:
    read = " ".join(path.read_text() for path in (ROOT / "refund_agent").glob("settings*.py"))
    keys = {preset.key_variable for preset in PRESETS.values()}

    assert [name for name in app["env"] if f'"{name}"' not in read and name not in keys] == []


def test_app_json_offers_every_variable_of_the_support_agent_and_asks_for_none(app: Any) -> None:
    files = [ROOT / "refund_agent" / f"settings_{of}.py" for of in ("support", "orders")]
    read = {name for path in files for name in re.findall(r'"([A-Z]+_[A-Z_]+)"', path.read_text())}
    read |= {preset.key_variable for preset in PRESETS.values()}

    assert read - set(app["env"]) == {"AUTH_MODE", "AUTH_DEV_SECRET_FILE"}, "those are a developer's"
    offered = [app["env"][name] for name in read & set(app["env"]) if name != "OPENAI_API_KEY"]
    assert all(entry["required"] is False and entry["description"] for entry in offered)


def test_the_platforms_python_is_one_that_the_project_takes() -> None:
    least = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    platform = (ROOT / ".python-version").read_text().strip()

    assert tuple(map(int, platform.split("."))) >= tuple(map(int, least.removeprefix(">=").split(".")))
