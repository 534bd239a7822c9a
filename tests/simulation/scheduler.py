"""Virtual time, and actors that take turns at it: nothing here waits, and nothing happens by chance.

An actor is a greenlet that belongs to a process. It runs until it asks for time (`pause`, `park`), and then
the scheduler takes the next event in order of virtual time; ties are broken by the seeded generator. A
process can be killed (its actors vanish at the point where they stand) or frozen (they go on later, as if
no time had passed for them).
"""

import heapq
import random
from collections.abc import Callable
from typing import Any, TypeAlias

import greenlet

from refund_agent.turn import Turn

Timer: TypeAlias = Callable[[], object]


class Killed(greenlet.GreenletExit):  # type: ignore[misc]  # greenlet is not typed
    """The process of this actor is gone; like SIGKILL, it is not an `Exception` that anybody may handle."""


class Process:
    """What shares one fate: a web process, a worker process, or the world outside, which never dies."""

    def __init__(self, name: str, *, kind: str, clock_offset: float = 0.0) -> None:
        self.name = name
        self.kind = kind
        self.clock_offset = clock_offset
        self.is_alive = True
        self.is_stopping = False
        self.frozen_until = 0.0
        self.frozen_seconds = 0.0
        self.troubled_at = 0.0
        """When its upkeep was last kept from its work: only an untroubled process must keep its leases."""
        self.actors: list[Actor] = []


class Actor:
    """One thread of a process, and what the witness knows about what it is doing."""

    def __init__(self, name: str, process: Process, run: Callable[[], object]) -> None:
        self.name = name
        self.process = process
        self.thread: Any = greenlet.greenlet(run)
        self.ticket = 0
        self.woken = False
        self.turn_id = ""
        self.turn: Turn | None = None
        self.read_clock_at = 0.0
        """When it last looked at its monotonic clock: its decisions about time are as old as that."""
        self.begin_seconds = 0.0
        """How long taking its turn took: the turn's deadline may be seen early by that much, never late."""
        self.read_owner_at = 0.0
        """When it last asked who speaks in its conversation: its silence is as old as that."""
        self.stalled_seconds = 0.0
        self.store_failures = 0
        self.began_at = 0.0
        self.last_answer: object = None
        self.last_answer_at = 0.0


class Scheduler:
    """Owns the time; `now` is in seconds."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now = 1000.0
        self.current: Actor | None = None
        self.stopped = False
        self._events: list[tuple[float, float, int, Actor | Timer, int]] = []
        self._count = 0

    def at(self, when: float, timer: Timer) -> None:
        """Run `timer` outside every process at `when`."""
        self._push(when, timer, 0)

    def spawn(self, name: str, process: Process, run: Callable[[], object]) -> Actor:
        """Start an actor; it runs for the first time when the scheduler comes to it."""
        actor = Actor(name, process, run)
        process.actors.append(actor)
        self._push(self.now, actor, 0)
        return actor

    def me(self) -> Actor:
        """Return the actor that runs now."""
        assert self.current is not None, "only an actor may do this"
        return self.current

    def pause(self, seconds: float) -> None:
        """Let this much time pass for the current actor, and others run meanwhile."""
        actor = self.me()
        if not actor.process.is_alive:
            raise Killed
        actor.ticket += 1
        self._push(self.now + seconds, actor, actor.ticket)
        actor.thread.parent.switch()

    def park(self, seconds: float) -> None:
        """Sleep until woken or until the time is over."""
        if not self.me().woken:
            self.pause(max(0.0, seconds))
        self.me().woken = False

    def wake(self, actor: Actor) -> None:
        """End the sleep of a parked actor, or the next one it begins."""
        if not actor.woken:
            actor.woken = True
            actor.ticket += 1
            self._push(self.now, actor, actor.ticket)

    def freeze(self, process: Process, seconds: float) -> None:
        """Stop a process for a while; its clock goes on."""
        process.frozen_until = max(process.frozen_until, self.now + seconds)
        process.frozen_seconds += seconds
        process.troubled_at = max(process.troubled_at, process.frozen_until)

    def kill(self, process: Process) -> None:
        """End a process; an actor of it that runs right now ends at its next step."""
        process.is_alive = False
        for actor in process.actors:
            if actor is not self.current:
                self._throw(actor)
        process.actors.clear()

    def _throw(self, actor: Actor) -> None:
        """Let an actor unwind where it stands, as itself: what it may still touch is its own memory."""
        running, self.current = self.current, actor
        actor.thread.parent = greenlet.getcurrent()
        actor.thread.throw(Killed)
        self.current = running

    def run(self, *, until: float, done: Callable[[], bool]) -> bool:
        """Take events in order; True as soon as `done`, False when the time is over or nothing is left."""
        events = self._events
        while events and not self.stopped:
            if done():
                return True
            if events[0][0] > until:
                self.now = max(self.now, until)
                return False
            when, _, _, what, ticket = heapq.heappop(events)
            self.now = max(self.now, when)
            if isinstance(what, Actor):
                self._resume(what, ticket)
            else:
                what()
        return done()

    def _resume(self, actor: Actor, ticket: int) -> None:
        process = actor.process
        if not process.is_alive or actor.ticket != ticket or actor.thread.dead:
            return
        if process.frozen_until > self.now:
            self._push(process.frozen_until, actor, ticket)
            return
        self.current = actor
        actor.thread.parent = greenlet.getcurrent()
        actor.thread.switch()
        self.current = None
        if actor.thread.dead and process.is_alive:
            process.actors.remove(actor)

    def _push(self, when: float, what: Actor | Timer, ticket: int) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self.rng.random(), self._count, what, ticket))
