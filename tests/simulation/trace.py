"""What happened, in order, with virtual times: kept only while a failing seed is replayed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One event; `turn_id` is empty for what concerns whole processes."""

    at: float
    who: str
    turn_id: str
    text: str

    def __str__(self) -> str:
        return f"{self.at:10.3f}  {self.who:<22} {self.text}"


class Trace:
    """The event log of one episode."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def add(self, at: float, who: str, turn_id: str, text: str) -> None:
        self.lines.append(Line(at, who, turn_id, text))

    def of(self, turn_id: str) -> list[Line]:
        """Return what concerns one turn, and what happened to whole processes meanwhile."""
        own = [line.at for line in self.lines if line.turn_id == turn_id]
        if not own:
            return self.lines
        return [
            line
            for line in self.lines
            if line.turn_id == turn_id or (not line.turn_id and own[0] <= line.at <= own[-1])
        ]
