"""One episode: some hundred turns in a world of their own, with its own faults, until all is quiet again."""

import random
from collections.abc import Callable, Mapping

from tests.simulation.core import Core
from tests.simulation.customers import Portal
from tests.simulation.database import SimulatedDatabase
from tests.simulation.faults import Tally
from tests.simulation.hostile_calls import Calls
from tests.simulation.hostile_model import HostileModel
from tests.simulation.hostile_payments import HostilePayments
from tests.simulation.lives import Life
from tests.simulation.modules import Modules
from tests.simulation.outside import Broker, Mirror, Redis, Wires
from tests.simulation.scheduler import Process
from tests.simulation.stage import Breach, Stage
from tests.simulation.timing import timing
from tests.simulation.trace import Trace
from tests.simulation.webs import WebProcess
from tests.simulation.witness import Witness
from tests.simulation.workers import WorkerProcess

DEADLINES_SECONDS = (120.0, 120.0, 60.0, 28.0, 28.0, 15.0)
QUIET_SECONDS = 150.0
"""How long after the last deadline a healthy service may take until nothing is open any more."""


class World:
    """Builds the actors of one episode, lets them run, and asks the witness at the end."""

    def __init__(
        self,
        seed: str,
        *,
        turns: int,
        database: SimulatedDatabase,
        modules: Modules,
        tally: Tally,
        trace: Trace | None,
        often: Mapping[str, float],
    ) -> None:
        self.rng = random.Random(seed)
        self.stage = Stage(self.rng, tally, trace, often)
        self._timing = timing(self.rng.choice(DEADLINES_SECONDS))
        self._database = database
        calls = self._make_calls(turns)
        self.witness = self._make_witness(calls)
        database.set_up(self.stage, self.witness)
        self._redis = Redis()
        self._broker = Broker(self.stage, self._redis, expires_seconds=self._timing.deadline_seconds)
        self._mirror = Mirror(self.stage, self._redis)
        self._wires = Wires(self.stage, self._redis)
        self._payments = HostilePayments(self.stage, modules, self.witness)
        self._core = self.CORE(
            modules,
            self._timing,
            database=database,
            model=HostileModel(self.stage, modules, calls, self.witness),
            payments=self._payments,
            broker=self._broker,
            mirror=self._mirror,
            wires=self._wires,
        )
        self._broker.deliver, self._broker.published = self._deliver, self.witness.published
        self._broker.failed = self.witness.publish_failed
        self._mirror.mirrored = self.witness.mirrored
        self._wires.wake, self._wires.some_turn = self._wake, self._some_turn
        self._webs: list[WebProcess] = []
        self._workers: list[WorkerProcess] = []
        self._started = 0
        self._portal = self._make_portal()
        self._people(turns)

    CORE = Core
    """What builds the service's parts."""

    def _make_calls(self, turns: int) -> Calls:
        return Calls(self.rng, orders=self.rng.choice((turns // 10, turns, 20 * turns)))

    def _make_witness(self, calls: Calls) -> Witness:
        return Witness(self.stage, self._database, calls, self._timing)

    def _make_portal(self) -> Portal:
        return Portal(self.stage, self.witness.lives, self._webs)

    def _make_web(self, process: Process) -> WebProcess:
        return WebProcess(self.stage, process, self._core, self.witness)

    # --- the cast ---------------------------------------------------------------------------------

    def _people(self, turns: int) -> None:
        """Start the processes, and plan when each customer comes and when the weather turns."""
        rng, at = self.rng, self.stage.scheduler.at
        start = self.stage.scheduler.now
        span = self.stage.faults.seconds(2.0, 90.0)
        self.last_arrival = start + span
        for _ in range(rng.choice((1, 2))):
            self._start_web()
        for _ in range(rng.choice((1, 2, 2, 3))):
            self._start_worker()
        for number in range(turns):
            self._portal.expect(f"turn-{number}", start + rng.random() * span)
        self.witness.lives.of["never-stored"] = Life("never-stored", "", start)
        for kind, strikes in (
            ("database away for a while", self._lose_database),
            ("redis away for a while", self._lose_redis),
            ("broker emptied", self._broker.lose_everything),
            ("worker told to stop", self._stop_a_worker),
            ("web told to stop", self._stop_a_web),
        ):
            for _ in range(3):
                if not self.stage.faults.strike(kind):
                    break
                at(start + rng.random() * span * 1.5, self._weather(kind, strikes))

    def _weather(self, kind: str, strikes: Callable[[], None]) -> Callable[[], None]:
        def turn() -> None:
            self.stage.note_for("", kind)
            strikes()

        return turn

    def _start_web(self) -> None:
        process = self._process("web")
        web = self._make_web(process)
        self._webs.append(web)
        self.stage.scheduler.spawn("look", process, web.look)

    def _start_worker(self) -> None:
        process = self._process("worker")
        self.stage.workers.append(process)
        threads = self.rng.choice((2, 8, 32))
        worker = WorkerProcess(self.stage, process, self._core, self.witness, threads=threads)
        worker.freed = self._broker.pump
        self._workers.append(worker)
        self._broker.pump()

    def _process(self, kind: str) -> Process:
        self._started += 1
        name = f"{kind}-{self._started}"
        return Process(name, kind=kind, clock_offset=self.rng.random() * 1e6)

    # --- the weather ------------------------------------------------------------------------------

    def _lose_database(self) -> None:
        self._database.away_until = self.stage.scheduler.now + self.stage.faults.seconds(0.5, 60.0)

    def _lose_redis(self) -> None:
        self._redis.away_until = self.stage.scheduler.now + self.stage.faults.seconds(0.5, 60.0)

    def _stop_a_worker(self) -> None:
        self.rng.choice(self._workers).stop()

    def _stop_a_web(self) -> None:
        self.rng.choice(self._webs).stop()

    def _deliver(self, turn_id: str) -> bool:
        """Give a message to any worker with room; one that is frozen may have it too."""
        return any(worker.take(turn_id) for worker in self.rng.sample(self._workers, len(self._workers)))

    def _wake(self, turn_id: str) -> None:
        for web in self._webs:
            web.wake(turn_id)

    def _some_turn(self) -> str:
        return self.rng.choice(list(self.witness.lives.of))

    # --- the course of an episode -----------------------------------------------------------------

    def run(self) -> list[Breach]:
        """Let everybody come and everything fail; then be healthy, and wait until all is quiet."""
        scheduler = self.stage.scheduler
        self.stage.scheduler.at(scheduler.now, self._keep_alive)
        trouble_ends = self.last_arrival + self._timing.deadline_seconds / 2
        scheduler.run(until=trouble_ends, done=self._is_quiet)
        self._heal()
        latest = scheduler.now + self._timing.deadline_seconds + QUIET_SECONDS
        while not scheduler.run(until=latest, done=self._is_quiet) and scheduler.now < latest:
            if self.stage.breaches:
                break
        if not self.stage.breaches:
            self.witness.conclude(self._mirror, self._redis, waiting=self._portal.busy)
        self._close()
        return self.stage.breaches

    def _keep_alive(self) -> None:
        """Restart what died, as a platform does, after a moment."""
        for web in [web for web in self._webs if not web.process.is_alive]:
            self._webs.remove(web)
            for caller in web.callers:
                caller.cut_off()
        for worker in [worker for worker in self._workers if not worker.process.is_alive]:
            self._workers.remove(worker)
            self.stage.workers.remove(worker.process)
        if not any(not web.closing for web in self._webs):
            self._start_web()
        if len(self._workers) < 1 or (len(self._workers) < 3 and self.rng.random() < 0.3):
            self._start_worker()
        self.stage.scheduler.at(
            self.stage.scheduler.now + self.stage.faults.seconds(0.5, 5.0), self._keep_alive
        )

    def _heal(self) -> None:
        self.stage.faults.healthy = True
        self.stage.note_for("", "from here on everything is healthy")
        self._database.away_until = self._redis.away_until = 0.0
        self._payments.pay_what_is_due()
        self._broker.deliver_the_rest()

    def _is_quiet(self) -> bool:
        """Whether every caller is answered, nobody is at work, and nothing is left to mend."""
        if self._portal.busy or self.witness.lives.unended or not self._broker.is_idle:
            return False
        if any(worker.busy for worker in self._workers if worker.process.is_alive):
            return False
        return self.witness.is_quiet(self._mirror, self._redis)

    def _close(self) -> None:
        for process in [web.process for web in self._webs] + [worker.process for worker in self._workers]:
            if process.is_alive:
                self.stage.scheduler.kill(process)
