"""The project stands alone: it is whole in a clone, on any machine, with the packages that it names."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MACHINE_PATHS = re.compile(r"(?<![\w.\-/])/(?:work|root|home)(?:/[\w.-]|\b(?![\w./-]))")
NAME = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[\w,-]+\])?")


def tracked() -> list[Path]:
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git here")
    listed = subprocess.run(  # noqa: S603 - a fixed command
        [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def named(requirements: str) -> Iterator[str]:
    """Yield the packages that a requirements file names, in the index's spelling."""
    for line in (ROOT / requirements).read_text().splitlines():
        if (found := NAME.match(line)) and not line.startswith("-"):
            yield re.sub(r"[-_.]+", "-", found[1]).lower()


def test_nothing_names_a_path_of_somebodys_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if MACHINE_PATHS.search(line)
    ]

    assert found == []


def test_every_package_that_is_asked_for_is_pinned() -> None:
    pinned = set(named("constraints.txt"))

    assert [name for name in named("requirements.txt") if name not in pinned] == []
    assert [name for name in named("requirements-dev.txt") if name not in pinned] == []


def test_every_pin_is_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()

    assert [line for line in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line)] == []
