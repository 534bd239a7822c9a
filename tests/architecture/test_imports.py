"""Importing the service does nothing: no connection, no thread, no child, no file of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

WATCHED_IMPORT = """
import importlib, sys, threading

deeds = []
# Not "socket.bind": urllib3 binds one to see whether there is IPv6.
doings = {"socket.connect", "socket.getaddrinfo", "sqlite3.connect",
          "os.fork", "os.posix_spawn", "subprocess.Popen"}

def watch(event, arguments):
    if event in doings:
        deeds.append(event)
    elif event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        deeds.append(f"open for writing: {arguments[0]}")

sys.dont_write_bytecode = True
sys.addaudithook(watch)
for name in sys.argv[1:]:
    importlib.import_module(name)
threads = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
print(deeds, threads)
"""


def modules() -> list[str]:
    """Every module that web and worker consist of; entry points named `__main__` run when imported."""
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in ("refund_agent", "tasks", "web")
        for path in sorted((ROOT / package).rglob("*.py"))
        if path.stem != "__main__"
    ]


@pytest.mark.fault(106)
def test_importing_every_module_opens_starts_and_writes_nothing() -> None:
    """So a client can only be made in the process, and after the fork, that uses it."""
    done = subprocess.run(  # noqa: S603 - our own modules, by the running interpreter
        [sys.executable, "-c", WATCHED_IMPORT, *modules()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[] []"
