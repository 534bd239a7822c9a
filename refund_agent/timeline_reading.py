"""Reads a turn's file into its timeline: a pure fold over the events, completed by what the rows know.

Events may be missing, since the journal may fail: then the transcript and the rows still say what was
done, and the step has no time.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from refund_agent.journal import Event
from refund_agent.timeline import Step, Timeline, TurnFile
from refund_agent.timeline_bodies import (
    answered_calls,
    read_claim,
    read_completion,
    read_moment,
    read_tool_use,
    text,
    whole,
)
from refund_agent.turn_steps import (
    Backoff,
    ClaimTried,
    Completion,
    Ending,
    Judged,
    Lapsed,
    Sent,
    ToolUse,
    Unattended,
    Waiting,
    What,
)


def read_timeline(file: TurnFile) -> Timeline:
    """Return the turn's timeline. Never raises, whatever events there are, and in whatever order."""
    record, times = file.record, file.times
    fold = _Fold(file)
    fold.wait()
    for event in sorted(file.events, key=lambda event: event.seq):
        fold.take(event)
    fold.close()
    return Timeline(
        record=record,
        steps=tuple(fold.steps),
        deadline_ms=record.deadline_at_ms - record.created_at_ms,
        now_ms=times.now - record.created_at_ms,
        ended_ms=fold.since_stored(times.ended),
        workers=_worker(record.epoch),
        tokens_used=file.tokens_used,
        cost_microdollars=file.known_cost_microdollars,
        is_recorded=bool(file.events),
        worker_is_silent=file.worker_is_silent,
        resolution=file.resolution,
        is_whole=file.is_whole,
    )


@dataclass
class _Fold:
    """The steps so far, which of them are open, and who was last heard of."""

    file: TurnFile
    steps: list[Step] = field(default_factory=list[Step])
    open: dict[str, int] = field(default_factory=dict[str, int])
    worker: int = 0
    attempt: int = 1
    last_ms: int | None = None
    claimed_ms: int | None = None
    settled_ms: int | None = None

    def since_stored(self, at_ms: int | None) -> int | None:
        return None if at_ms is None else at_ms - self.file.record.created_at_ms

    def wait(self) -> None:
        """Begin with the wait for the first worker; the row has its end, whether or not events were kept."""
        begun, ended = self.since_stored(self.file.times.begun), self.since_stored(self.file.times.ended)
        self.worker, self.last_ms = (0 if begun is None else 1), begun
        until = ended if begun is None else begun
        self.steps.append(Step(Waiting(), 0, until, "open" if until is None else "done"))

    # --- Events -----------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        """Add what one event tells."""
        at, body = event.at_ms - self.file.record.created_at_ms, event.body
        match event.kind:
            case "begun":
                self._begin(body, at)
            case "thinking":
                self._think(whole(body, "completion") or 0, at)
            case "step":
                self._answered(body, at)
            case "tool_call":
                self._begin_step(f"call {text(body, 'call')}", read_tool_use(body), at)
            case "tool_result":
                self._tool_answered(body, at)
            case "claim":
                self._moment(read_claim(body), at)
                if body.get("answer") == "claimed":
                    self.claimed_ms = at
            case "settle":
                self._settle(body, at)
            case "queued" | "usage" | "decision":
                pass  # another event, or the row, says the same
            case _:
                self._moment(read_moment(event), at)
        self.last_ms = at

    def _begin(self, body: Mapping[str, object], at: int) -> None:
        worker = _worker(whole(body, "owner") or 1)
        if worker > max(self.worker, 1):
            self.open.clear()  # what a worker had begun when it went: the end was not recorded
            self.steps.append(Step(Unattended(worker - 1), self.last_ms, at))
        self.worker = worker
        self.attempt = whole(body, "attempt") or self.attempt

    def _think(self, number: int, at: int) -> None:
        before = self.steps[-1] if self.steps else None
        if before and isinstance(before.what, Completion) and before.what.timed_out:
            self.attempt += 1
            self.steps.append(Step(Backoff(self.attempt), before.end_ms, at))
        self._begin_step(f"completion {number}", Completion(number, self.attempt), at)

    def _answered(self, body: Mapping[str, object], at: int) -> None:
        made = read_completion(body, attempt=self.attempt)
        self._end_step(f"completion {made.number}", made, at)

    def _tool_answered(self, body: Mapping[str, object], at: int) -> None:
        key = f"call {text(body, 'call')}"
        begun = self.steps[self.open[key]].what if key in self.open else None
        use = begun if isinstance(begun, ToolUse) else read_tool_use(body)
        result = json.dumps(body.get("result"), ensure_ascii=False)
        self._end_step(key, replace(use, result=result, ok=body.get("ok") is True), at)

    def _settle(self, body: Mapping[str, object], at: int) -> None:
        if body.get("by") == "sweeper":
            self._moment(Lapsed(), at)
        else:
            self.settled_ms = at

    def _begin_step(self, key: str, what: What, at: int) -> None:
        self.open.pop(key, None)
        self.open[key] = len(self.steps)
        self.steps.append(Step(what, at, None, "lost"))

    def _end_step(self, key: str, what: What, at: int) -> None:
        """End the step that began under this key; its beginning may not have been recorded."""
        place = self.open.pop(key, None)
        if place is None:
            self.steps.append(Step(what, None, at, "lost"))
        else:
            self.steps[place] = Step(what, self.steps[place].start_ms, at)

    def _moment(self, what: What, at: int) -> None:
        inside = any(key.startswith("call ") for key in self.open) or self._was_called(what)
        self.steps.append(Step(what, at, at, depth=1 if inside else 0))

    def _was_called(self, what: What) -> bool:
        """Whether a tool call was about this: what its answer meant is told after it."""
        uses = (step.what for step in self.steps if isinstance(step.what, ToolUse))
        return isinstance(what, Judged) and any(use.call == what.call for use in uses)

    # --- What the rows know -----------------------------------------------------------------------

    def close(self) -> None:
        """Complete the steps by the rows, in the order in which things happen in a turn."""
        record, times = self.file.record, self.file.times
        if record.state == "running" and not self.file.worker_is_silent:
            for place in self.open.values():
                self.steps[place] = replace(self.steps[place], state="open")
        self._add_unrecorded_completions()
        self._add_unrecorded_tools()
        self._add_refund()
        if self.worker and record.state in {"stored", "queued"}:
            self.steps.append(Step(Unattended(self.worker), self.last_ms, None, "open"))
        if record.outcome is not None:
            ended = self.since_stored(times.ended)
            self.steps.append(Step(Ending(record.outcome), ended, ended))

    def _add_unrecorded_completions(self) -> None:
        """The row counts a completion before it is made: while a turn runs the last one may be about to."""
        used = self.file.record.completions_used
        counted = used if self.file.record.state == "ended" else used - 1
        seen = {step.what.number for step in self.steps if isinstance(step.what, Completion)}
        for number in range(1, counted + 1):
            if number not in seen:
                later = (
                    place
                    for place, step in enumerate(self.steps)
                    if isinstance(step.what, Completion) and step.what.number > number
                )
                unknown = Step(Completion(number), None, None, "lost")
                self.steps.insert(next(later, len(self.steps)), unknown)

    def _add_unrecorded_tools(self) -> None:
        """A call that the transcript has an answer to was made, and answered just so."""
        places = {step.what.call: n for n, step in enumerate(self.steps) if isinstance(step.what, ToolUse)}
        for told in answered_calls(self.file.messages):
            place = places.get(told.call)
            if place is None:
                self.steps.append(Step(told, None, None, "lost"))
            elif cast("ToolUse", self.steps[place].what).ok is None:
                self.steps[place] = replace(self.steps[place], what=told)

    def _add_refund(self) -> None:
        record = self.file.record.refund
        if record is None or record.state == "closed":
            return
        start = self.since_stored(self.file.times.claimed) if self.claimed_ms is None else self.claimed_ms
        is_open = record.state == "claimed" and self.file.record.state == "running"
        if is_open and not self.file.worker_is_silent:
            sent = Step(Sent(record), start, None, "open")
        else:
            end = self._settled()
            sent = Step(Sent(record), start, end, "lost" if end is None else "done")
        place = self._place_of_refund(record.call)
        inside = any(isinstance(step.what, ToolUse) for step in self.steps[:place])
        self.steps.insert(place, replace(sent, depth=1 if inside else 0))

    def _place_of_refund(self, call: str) -> int:
        """Return the place after the claim; where that was not recorded, after the call that made it."""
        claims: list[int] = []
        uses: list[int] = []
        for place, step in enumerate(self.steps, 1):
            if isinstance(step.what, ClaimTried) and (step.what.call, step.what.answer) == (call, "claimed"):
                claims.append(place)
            elif isinstance(step.what, ToolUse | Judged) and step.what.call == call:
                uses.append(place)
        return [*claims, *uses[:1], len(self.steps)][0]

    def _settled(self) -> int | None:
        """When payments' answer was written; the row alone cannot tell that of an unknown or a resolved one.

        The sweeper and a person write the same column, long after.
        """
        record = self.file.record.refund
        by_row = record is not None and record.state in {"paid", "rejected", "not_sent"}
        if self.settled_ms is None and by_row and self.file.resolution is None:
            return self.since_stored(self.file.times.settled)
        return self.settled_ms


def _worker(epoch: int) -> int:
    """Return which worker an epoch is of, from 1: two are added when a turn is taken over."""
    return (epoch + 1) // 2
