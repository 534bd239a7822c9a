"""Write the tables of modes and scripts into README.md: `python -m sandbox.tables`. A test compares them."""

from collections.abc import Iterable
from pathlib import Path

from sandbox.payment_modes import MODES
from sandbox.scripts import SCRIPTS

README = Path(__file__).with_name("README.md")
START, END = "<!-- tables: python -m sandbox.tables -->\n", "<!-- end of tables -->\n"


def tables() -> str:
    """Return both tables as Markdown."""
    rows = [(mode.name, mode.moves, mode.about) for mode in MODES.values()]
    modes = _table("| Mode | Money moves | The answer |", rows)
    scripts = _table("| Script | What the model does |", [(f"[{s.name}]", s.about) for s in SCRIPTS.values()])
    return f"\n### Payments modes\n\n{modes}\n### Model scripts\n\n{scripts}\n"


def with_tables(readme: str) -> str:
    """Return the text with its tables as they should be."""
    before, _, rest = readme.partition(START)
    return before + START + tables() + END + rest.partition(END)[2]


def _table(header: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Put the names in code, the rest as it is."""
    lines = [f"| `{name}` | {' | '.join(rest)} |" for name, *rest in rows]
    return "\n".join([header, "|---" * (header.count("|") - 1) + "|", *lines, ""])


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text()))
