"""The guards that give a turn one owner at a time, and leave nothing behind when one dies."""

from tests.simulation.guards import code

SWEEPER = "sweeper"
TURNS = "adapters.sql_turns"
SWEEPS = "adapters.sql_sweeps"

_STALE = (
    "a stale owner writes nothing",
    "turn states only go forward",
    "counts and flag never go back",
    "the stored transcript only grows",
)
_UNFENCED = "(turns.c.id == OWN_TURN) & bindparam('own_epoch').is_not(None)"
_STATELESS = "(turns.c.id == OWN_TURN) & (turns.c.epoch == bindparam('own_epoch'))"

OWNER_GUARDS = (
    code(
        "only a claim lapses",
        SWEEPS,
        ('.where(refunds.c.state == "claimed", or_(', '.where(refunds.c.state != "closed", or_('),
        caught_by=("a sweeper only ever makes a claim unknown", "the core raises nothing"),
    ),
    code(
        "a database that is away ends no turn",
        "runner",
        (
            "        except StoreUnavailable:\n            raise\n        except Exception as bug",
            "        except Exception as bug",
        ),
        caught_by=("a turn ends as the contract says", "the core raises nothing"),
    ),
    code(
        "a turn is taken only while it waits",
        TURNS,
        ('turns.c.state.in_(("stored", "queued")) & ', ""),
        caught_by=("turn states only go forward", "a stale owner writes nothing", "the core raises nothing"),
    ),
    code(
        "no turn is taken past its deadline",
        TURNS,
        (" & (turns.c.deadline_at_ms > now_ms())\n)", "\n)"),
        often={"message delayed": 0.5, "message doubled later": 0.5, "web killed": 0.005},
        caught_by=("no turn begins after its deadline",),
    ),
    code(
        "the deadline is not postponed by a slow database",
        TURNS,
        ("deadline=asked_at +", "deadline=self._clock.monotonic() +"),
        caught_by=("no completion outlives the deadline", "a claim leaves time for its answer"),
    ),
    code(
        "a checkpoint is fenced by the epoch",
        TURNS,
        (
            "_CHECKPOINT = update(turns).where(OWNED)",
            f"_CHECKPOINT = update(turns).where({_UNFENCED} & (turns.c.state == 'running'))",
        ),
        often={"upkeep stuck": 0.03},
        caught_by=_STALE,
    ),
    code(
        "a checkpoint is fenced by the state",
        TURNS,
        ("_CHECKPOINT = update(turns).where(OWNED)", f"_CHECKPOINT = update(turns).where({_STATELESS})"),
        often={"worker frozen": 0.01},
        caught_by=_STALE,
    ),
    code(
        "an ending is fenced by the epoch",
        TURNS,
        (
            "_END = update(turns).where(OWNED)",
            f"_END = update(turns).where({_UNFENCED} & (turns.c.state == 'running'))",
        ),
        often={"upkeep stuck": 0.03},
        caught_by=_STALE,
    ),
    code(
        "an ending is fenced by the state",
        TURNS,
        ("_END = update(turns).where(OWNED)", f"_END = update(turns).where({_STATELESS})"),
        often={"worker frozen": 0.01},
        caught_by=_STALE,
    ),
    code(
        "an open claim is decided before a hand-over",
        SWEEPS,
        (".where(which, _NO_OPEN_CLAIM)", ".where(which)"),
        often={"worker told to stop": 1.0, "thread stuck": 0.02},
        caught_by=("an open claim is decided before a hand-over",),
    ),
    code(
        "a turn is taken over only from the silent",
        SWEEPS,
        ("_LAPSED = _RUNNING & (turns.c.lease_until_ms < now_ms())", "_LAPSED = _RUNNING"),
        caught_by=("a healthy worker keeps its turns",),
    ),
    code(
        "leases are renewed",
        SWEEPS,
        ("        if not turn_ids:\n", "        if True:\n"),
        caught_by=("a healthy worker keeps its turns", "a living worker's claim never lapses"),
    ),
    code(
        "a process holds its turns by run",
        "runner",
        ("held = (turn_id, object())", "held = (turn_id, 0)"),
        often={"upkeep stuck": 0.01},
        caught_by=("a process knows the turns in its hands", "a healthy worker keeps its turns"),
    ),
    code(
        "a turn that costs too many workers ends",
        SWEEPS,
        ("MAX_OWNERS = 4", "MAX_OWNERS = 40"),
        often={"worker killed": 0.008},
        caught_by=("a turn costs four workers at most",),
    ),
    code(
        "a hand-over moves the epoch",
        SWEEPS,
        ("epoch=turns.c.epoch + 1,", "epoch=turns.c.epoch,"),
        often={"worker killed": 0.02},
        caught_by=("a turn costs four workers at most", *_STALE),
    ),
    code(
        "a delivery moves the epoch",
        TURNS,
        ('"epoch": turns.c.epoch + 1,', '"epoch": turns.c.epoch,'),
        often={"worker killed": 0.02},
        caught_by=("a turn costs four workers at most", *_STALE),
    ),
    code(
        "lapsed claims are swept",
        SWEEPER,
        ("            self._lapse_claims()\n", ""),
        caught_by=("no claim stays open",),
    ),
    code(
        "overdue turns are swept",
        SWEEPER,
        ("        self._end(self._sweeps.overdue(), DeadlinePassed())\n", ""),
        caught_by=("every turn ends",),
    ),
    code(
        "the mirror is caught up",
        SWEEPER,
        ("        self._mirror()\n", ""),
        caught_by=("the mirror catches up",),
    ),
)
