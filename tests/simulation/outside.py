"""Redis as the service uses it: a broker that doubles, delays and loses, wake-ups, and the audit mirror."""

from collections.abc import Callable
from dataclasses import dataclass

from refund_agent.outcomes import RefundRecord
from refund_agent.ports import QueueUnavailable
from tests.simulation.stage import Stage


@dataclass(frozen=True, slots=True)
class Message:
    """One copy of one turn's message."""

    turn_id: str
    expires_at: float


class Redis:
    """Whether it can be reached at all; all three things below live in it."""

    def __init__(self) -> None:
        self.away_until = 0.0
        self.was_emptied = False


class Broker:
    """Implements the port `Queue`, and hands messages to whichever worker process has room."""

    def __init__(self, stage: Stage, redis: Redis, *, expires_seconds: float) -> None:
        self._stage = stage
        self._redis = redis
        self._expires_seconds = expires_seconds
        self.ready: list[Message] = []
        self.under_way: list[Message] = []
        self.deliver: Callable[[str], bool] = lambda _: False
        self.published: Callable[[str], None] = lambda _: None
        self.failed: Callable[[str], None] = lambda _: None

    def put(self, turn_id: str) -> None:
        """Publish, or fail with the message taken or not."""
        stage = self._stage
        stage.step("before publishing")
        if stage.scheduler.now < self._redis.away_until or stage.faults.strike("publish refused"):
            stage.note("publish refused")
            self.failed(turn_id)
            stage.trouble(stage.faults.seconds(0.01, 3.0))
            raise QueueUnavailable("refused")
        self.published(turn_id)
        stage.note_for(turn_id, "published")
        self._take(turn_id)
        if stage.faults.strike("publish reply lost"):
            stage.note("the reply to the publish was lost")
            self.failed(turn_id)
            stage.trouble(stage.faults.seconds(0.5, 3.0))
            raise QueueUnavailable("reply lost")
        stage.step("after publishing")

    def is_empty(self) -> bool:
        """Whether no message waits for a worker."""
        self._stage.step("asking the broker's length")
        if self._stage.scheduler.now < self._redis.away_until:
            raise QueueUnavailable("away")
        return not self.ready

    def _take(self, turn_id: str) -> None:
        faults = self._stage.faults
        message = Message(turn_id, self._stage.scheduler.now + self._expires_seconds)
        if faults.strike("message lost"):
            self._stage.note("message lost")
        elif faults.strike("message delayed"):
            self._send(message, faults.seconds(0.1, 60.0))
        else:
            self._send(message, 0.0005)
        if faults.strike("message doubled at once"):
            self._send(message, 0.001)
        if faults.strike("message doubled later"):
            self._send(message, faults.seconds(0.01, 30.0))
        if faults.strike("message doubled long after"):
            self._send(message, faults.seconds(30.0, 3600.0))
        if faults.strike("message for no turn"):
            self._send(Message("never-stored", message.expires_at), 0.0005)

    def _send(self, message: Message, seconds: float) -> None:
        self.under_way.append(message)
        self._stage.scheduler.at(self._stage.scheduler.now + seconds, lambda: self._arrive(message))

    def _arrive(self, message: Message) -> None:
        if message in self.under_way:
            self.under_way.remove(message)
            where = self._stage.rng.randrange(len(self.ready) + 1) if self._overtakes() else len(self.ready)
            self.ready.insert(where, message)
            self.pump()

    def _overtakes(self) -> bool:
        return bool(self.ready) and self._stage.faults.strike("message overtaken")

    def pump(self) -> None:
        """Hand out what is ready while somebody has room."""
        while self.ready:
            message = self.ready[0]
            late = self._stage.scheduler.now > message.expires_at
            expired = late and not self._stage.faults.strike("message not expired by a wrong clock")
            if not expired and not self.deliver(message.turn_id):
                return
            self.ready.pop(0)

    def lose_everything(self) -> None:
        """Restart empty, as after a flush or a failover."""
        self.ready.clear()
        self.under_way.clear()
        self._redis.was_emptied = True

    def deliver_the_rest(self) -> None:
        """Let every copy that is still somewhere arrive now."""
        for message in list(self.under_way):
            self._arrive(message)

    @property
    def is_idle(self) -> bool:
        """Whether no copy is anywhere."""
        return not self.ready and not self.under_way


_STEPS = {"claimed": 1, "unknown": 2}


class Mirror:
    """Implements the port `Audit`, with the rule of the script that runs in Redis."""

    def __init__(self, stage: Stage, redis: Redis) -> None:
        self._stage = stage
        self._redis = redis
        self.rows: dict[str, RefundRecord] = {}
        self.mirrored: Callable[[RefundRecord], None] = lambda _: None

    def mirror(self, record: RefundRecord) -> bool:
        """Copy a row, unless Redis is away."""
        stage = self._stage
        stage.step("before mirroring")
        if stage.scheduler.now < self._redis.away_until or stage.faults.strike("mirror away"):
            return False
        self.mirrored(record)
        known = self.rows.get(record.turn_id)
        if known is None or _STEPS.get(record.state, 3) > _STEPS.get(known.state, 3):
            self.rows[record.turn_id] = record
        stage.step("after mirroring")
        return True


class Wires:
    """Implements the port `Hints`: wake-ups to every web process, some lost, late or false."""

    def __init__(self, stage: Stage, redis: Redis) -> None:
        self._stage = stage
        self._redis = redis
        self.wake: Callable[[str], None] = lambda _: None
        self.some_turn: Callable[[], str] = str

    def phase(self, turn_id: str, phase: str) -> None:
        """Tell nobody; it is a step all the same."""
        self._stage.step(f"telling phase {phase}")

    def ended(self, turn_id: str) -> None:
        """Wake whoever waits, or somebody else."""
        stage = self._stage
        stage.step("before a wake-up")
        if stage.scheduler.now < self._redis.away_until or stage.faults.strike("wake-up lost"):
            return
        late = stage.faults.strike("wake-up late")
        seconds = stage.faults.seconds(0.01, 20.0) if late else 0.0005
        stage.scheduler.at(stage.scheduler.now + seconds, lambda: self.wake(turn_id))
        if stage.faults.strike("wake-up false"):
            other = self.some_turn()
            stage.scheduler.at(stage.scheduler.now + seconds, lambda: self.wake(other))
