"""Which processes run on this machine: from /proc, or from `ps` where there is none."""

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

GENERATIONS = 6

PROC = Path("/proc")


def processes() -> dict[int, tuple[int, str]]:
    """Return process id -> parent and command line, of every process that lives."""
    return _from_proc() if (PROC / "self" / "stat").exists() else _from_ps()


def family(pid: int) -> dict[int, str]:
    """Return the process and all below it: id -> command line."""
    rows, found = processes(), {pid}
    for _ in range(GENERATIONS):
        found |= {child for child, (parent, _) in rows.items() if parent in found}
    return {member: rows[member][1] for member in found if member in rows}


def living(family: Mapping[int, str]) -> list[str]:
    """Return the command lines of those that still live; an id may have gone to somebody else."""
    rows = processes()
    return [command for pid, command in family.items() if pid in rows and rows[pid][1] == command]


def _from_proc() -> dict[int, tuple[int, str]]:
    rows: dict[int, tuple[int, str]] = {}
    for path in PROC.glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            state, parent = (path / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            if state != "Z":
                rows[int(path.name)] = (int(parent), command)
    return rows


def _from_ps() -> dict[int, tuple[int, str]]:
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="],  # noqa: S607 - the system's own
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.split(maxsplit=2) for line in listed.stdout.splitlines())
    return {int(pid): (int(parent), " ".join(command)) for pid, parent, *command in rows}
