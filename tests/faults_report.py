"""Say which rows of the fault table and which sentences of the contract have a test, and which have none.

`python -m tests.faults_report` prints it for people, with `--json` the marks alone. What a mark claims is
only as good as its test; this counts, it does not judge.
"""

import io
import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parent.parent
NOW = "refund-chat"
LATER = ("support-agent", "console")
INDENT = "\n" + " " * 13
SENTENCE = re.compile(r"^- \*\*(C\d+)\*\* (.+(?:\n  .+)*)", re.MULTILINE)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of docs/faults.toml; `key` is what a mark carries, `107` or `4.0:redirect`."""

    key: str
    section: str
    fault: str
    right: str
    applies: str
    why: str = ""
    why_untested: str = ""


@dataclass(slots=True)
class Marks:
    """Which tests carry which mark: mark -> test functions, as ids without their parameters."""

    fault: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    contract: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


class MarkCollector:
    """A pytest plugin that notes every fault and contract mark of what was collected."""

    def __init__(self) -> None:
        self.marks = Marks()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the marks of each item."""
        for item in session.items:
            test = item.nodeid.partition("[")[0]
            for name, found in (("fault", self.marks.fault), ("contract", self.marks.contract)):
                for mark in item.iter_markers(name):
                    for key in map(str, mark.args):
                        if test not in found[key]:
                            found[key].append(test)


def fault_rows() -> list[Row]:
    """Read docs/faults.toml in its own order; raises on a row with an unknown or missing field."""
    table = tomllib.loads((ROOT / "docs" / "faults.toml").read_text())
    del table["titles"]
    return [
        Row(key=f"{section}:{name}" if section == "4.0" else name, section=section, **row)
        for section, rows in table.items()
        for name, row in rows.items()
    ]


def section_titles() -> dict[str, str]:
    """Return what each section of the fault table is about."""
    titles: dict[str, str] = tomllib.loads((ROOT / "docs" / "faults.toml").read_text())["titles"]
    return titles


def contract_sentences() -> dict[str, dict[str, str]]:
    """Read docs/contract.md: heading -> number -> sentence."""
    text = (ROOT / "docs" / "contract.md").read_text()
    parts = HEADING.split(text)[1:]
    return {
        heading: {number: " ".join(sentence.split()) for number, sentence in SENTENCE.findall(body)}
        for heading, body in zip(parts[::2], parts[1::2], strict=True)
    }


def collect_marks() -> Marks:
    """Collect the whole suite in this process, running nothing; leaves when it cannot be collected."""
    collector, output = MarkCollector(), io.StringIO()
    with redirect_stdout(output):
        code = pytest.main(["--collect-only", "-qq", f"--rootdir={ROOT}", str(ROOT / "tests")], [collector])
    if code != pytest.ExitCode.OK:
        sys.exit(f"the tests cannot be collected:\n{output.getvalue()}")
    return collector.marks


def fault_lines(rows: Iterable[Row], marks: Marks) -> Iterable[str]:
    """Tell of each section: rows with tests, rows without and why, rows that come later or do not apply."""
    by_section: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_section[row.section].append(row)
    for section, title in section_titles().items():
        here = by_section[section]
        tested = [row for row in here if row.key in marks.fault]
        due = [row for row in here if row.applies == NOW]
        done = sum(row in tested for row in due)
        yield f"\n{section}  {title}: {done} of {len(due)} rows that apply now have a test"
        if tested:
            yield "  tested     " + "  ".join(f"{row.key} ({len(marks.fault[row.key])})" for row in tested)
        for row in due:
            if row not in tested:
                yield f"  untested   {row.key}: {row.fault}{INDENT}{row.why_untested or 'NO REASON GIVEN'}"
        for part in LATER:
            if keys := [row.key for row in here if row.applies == part and row not in tested]:
                yield f"  later      {part}: {' '.join(keys)}"
        yield from (f"  not here   {row.key}: {row.fault}{INDENT}{row.why}" for row in here if row.why)


def contract_lines(marks: Marks) -> Iterable[str]:
    """Tell of each heading how many of its sentences have a test, and print those that have none."""
    for heading, sentences in contract_sentences().items():
        held = [number for number in sentences if number in marks.contract]
        yield f"\n{heading}: {len(held)} of {len(sentences)} sentences have a test"
        for number, sentence in sentences.items():
            if number not in held:
                yield f"  untested   {number}: {sentence}"


def main(arguments: list[str]) -> None:
    """Print the report, or with `--json` the marks alone."""
    marks = collect_marks()
    if "--json" in arguments:
        click.echo(json.dumps({"fault": marks.fault, "contract": marks.contract}))
        return
    rows = fault_rows()
    due = [row for row in rows if row.applies == NOW]
    done = sum(row.key in marks.fault for row in due)
    click.echo(f"FAULTS (docs/faults.toml): {done} of {len(due)} rows that apply now have a test")
    click.echo("\n".join(fault_lines(rows, marks)))
    numbers = [number for sentences in contract_sentences().values() for number in sentences]
    held = sum(number in marks.contract for number in numbers)
    click.echo(f"\nCONTRACT (docs/contract.md): {held} of {len(numbers)} sentences have a test")
    click.echo("\n".join(contract_lines(marks)))


if __name__ == "__main__":
    main(sys.argv[1:])
