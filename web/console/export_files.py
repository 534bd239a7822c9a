"""How an export is written: JSON Lines, or CSV in which no cell is a formula.

Both begin and end with a word of their own: what is in it, how many rows it may have, whether it is whole.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from refund_agent.ports import StoreUnavailable
from web.console.export_rows import Row

Format: TypeAlias = Literal["jsonl", "csv"]
MIME_TYPES: Final = {"jsonl": "application/x-ndjson", "csv": "text/csv"}
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a cell begins with that a spreadsheet would calculate."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows end here although there are more."""

    why: str


def write(form: Format, fields: Sequence[str], about: Row, rows: Iterable[Row | Cut]) -> Iterator[str]:
    """Yield the file, line by line; one that the database did not let finish says so at its end."""
    line = _json_line if form == "jsonl" else _csv_line
    names = ("record", *fields, "note")
    if form == "csv":
        yield _csv_line(names, dict(zip(names, names, strict=True)))
    yield line(names, {"record": "about", "note": about})
    count, cut = 0, ""
    try:
        for row in rows:
            if isinstance(row, Cut):
                cut = row.why
                break
            count += 1
            yield line(names, {"record": "row", **row})
    except StoreUnavailable:
        cut = "the database did not answer"
    ending: dict[str, object] = {"rows": count, "is_whole": not cut}
    yield line(names, {"record": "end", "note": {**ending, **({"cut": cut} if cut else {})}})


def _json_line(_: Sequence[str], row: Row) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _csv_line(names: Sequence[str], row: Row) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([_cell(row.get(name, "")) for name in names])
    return out.getvalue()


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(_FORMULA) else text
