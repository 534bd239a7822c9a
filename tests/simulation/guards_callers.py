"""The guards of what a caller is told, and of its idempotency key."""

from tests.simulation.guards import code, table

FACADE = "facade"
SWEEPER = "sweeper"
TURNS = "adapters.sql_turns"

_JOINED = "return Joined(held.id) if held.fingerprint == new.fingerprint else KeyReused()"

CALLER_GUARDS = (
    code(
        "a key is its body's",
        TURNS,
        (_JOINED, "return Joined(held.id)"),
        caught_by=("a caller is told of its own request",),
    ),
    code(
        "a key finds its turn again",
        TURNS,
        (_JOINED, "return KeyReused()"),
        caught_by=("a key is refused only to another body",),
    ),
    code(
        "a request that waits is answered",
        FACADE,
        (
            "return ended or self._give_up(turn_id, DeadlinePassed(), tries=GIVE_UP_TRIES)",
            "return ended or [self._clock.sleep(1.0) for _ in iter(int, 1)]",
        ),
        caught_by=("every caller is answered", "every turn ends"),
    ),
    code(
        "what has ended is not ended again",
        TURNS,
        (
            'turns.c.state == "stored" if only_stored else turns.c.state != "ended"',
            'turns.c.state == "stored" if only_stored else turns.c.state != ""',
        ),
        caught_by=("turn states only go forward", "a turn ends as the contract says"),
    ),
    code(
        "only what was stored becomes queued",
        TURNS,
        ('.where(turns.c.id == OWN_TURN, turns.c.state == "stored")', ".where(turns.c.id == OWN_TURN)"),
        caught_by=("turn states only go forward", "a healthy worker keeps its turns"),
    ),
    code(
        "what was never queued is ended, not queued",
        SWEEPER,
        (
            "self._end(self._sweeps.never_queued(), NotAccepted(), only_stored=True)",
            "[self._queue.put(i) for i in self._sweeps.never_queued()]",
        ),
        caught_by=("a sweeper publishes only what was queued before",),
    ),
    code(
        "what was queued after all is left alone",
        TURNS,
        (
            'turns.c.state == "stored" if only_stored else turns.c.state != "ended"',
            'turns.c.state != "ended"',
        ),
        often={"thread stuck": 0.03, "upkeep stuck": 0.03},
        caught_by=("a turn that was queued is not called unaccepted",),
    ),
    code(
        "a facade that gives up closes the gate",
        TURNS,
        (
            "                tx.execute(self._database.insert_or_ignore(refunds).values(closed))\n",
            "                pass\n",
        ),
        caught_by=("giving up closes the gate",),
    ),
    code(
        "a facade that gives up ends the turn",
        TURNS,
        (
            "if tx.execute(update(turns).where(turns.c.id == turn_id, unended).values(ended)).rowcount == 1:",
            "if True:",
        ),
        caught_by=("only an ended turn is told", "the core raises nothing"),
    ),
    code(
        "a failed publish gives the turn up",
        FACADE,
        ("return self._give_up(turn_id, NotAccepted(), tries=1)", "return NotStored()"),
        caught_by=("a turn told 503 never runs", "an answer has its cause"),
    ),
    code(
        "a retry that finds no database is promised nothing",
        FACADE,
        ("return KeyUnreadable() if new.idempotency_key else NotStored()", "return NotStored()"),
        caught_by=("what was told about the refund stays true",),
    ),
    code(
        "a wake-up is only a hint",
        FACADE,
        (
            'return found if isinstance(found, TurnRecord) and found.state == "ended" else None',
            "return found if isinstance(found, TurnRecord) else None",
        ),
        caught_by=("only an ended turn is told",),
    ),
    code(
        "a facade gives up at its deadline",
        FACADE,
        (
            "seat.wait(deadline - self._clock.monotonic())",
            "seat.wait(deadline + 60 - self._clock.monotonic())",
        ),
        caught_by=("the facade answers by its deadline",),
    ),
    code(
        "whoever joins does not end another's turn",
        FACADE,
        ("return self._find_ended(turn_id) or StillRunning(turn_id)", "pass"),
        often={"web told to stop": 1.0},
        caught_by=("whoever joins a turn leaves it its time",),
    ),
    table(
        "one turn an idempotency key",
        ", \n\tUNIQUE (idempotency_key)",
        "",
        caught_by=("one request an idempotency key at most",),
    ),
    code(
        "a key stays with an attempted refund",
        TURNS,
        ("case((turns.c.refund_attempted, turns.c.idempotency_key))", "None"),
        often={"publish reply lost": 0.5},
        caught_by=("a key stays with an attempted refund", "one request an idempotency key at most"),
    ),
)
