"""The map in the package's docstring names what is there: a newcomer finds every module in it, once."""

import re
from collections import Counter
from pathlib import Path

import refund_agent

PACKAGE = Path(refund_agent.__file__).parent


def test_the_map_names_every_module_once() -> None:
    modules = {path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"}
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("_")}

    named = Counter(re.findall(r"`(\w+)`", refund_agent.__doc__ or ""))

    assert named == Counter(modules | folders)
