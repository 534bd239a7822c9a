"""Only settings.py reads the environment, and only when it is asked to: importing reads nothing."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SPIED_IMPORT = """
import importlib, json, os, sys

class Spied(dict):
    asked = set()
    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)
    def __contains__(self, name):
        self.asked.add(name)
        return super().__contains__(name)
    def get(self, name, default=None):
        self.asked.add(name)
        return super().get(name, default)

os.environ = Spied(os.environ)
for name in sys.argv[1:]:
    importlib.import_module(name)
at_import = set(Spied.asked)
Spied.asked.clear()
importlib.import_module("refund_agent.settings").read_settings()
print(json.dumps([sorted(Spied.asked), sorted(Spied.asked & at_import)]))
"""


def modules() -> list[str]:
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in ("refund_agent", "tasks", "web")
        for path in sorted((ROOT / package).rglob("*.py"))
        if path.stem != "__main__"
    ]


def test_every_module_can_be_imported_without_an_environment_and_reads_no_setting() -> None:
    nothing: dict[str, str] = {}

    done = subprocess.run(  # noqa: S603 - our own modules, by the running interpreter
        [sys.executable, "-c", SPIED_IMPORT, *modules()],
        cwd=ROOT,
        env=nothing,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    settings, read_at_import = json.loads(done.stdout)
    assert {"DATABASE_URL", "OPENAI_API_KEY", "PORT"} <= set(settings), "the spy is blind"
    assert read_at_import == ["REMAP_SIGTERM"], "that one is Celery's, read by Celery; we only refuse it"
