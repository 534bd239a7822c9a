"""What processes and Redis cost, as the kernel and the server tell it. Linux only."""

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import redis

TICKS_PER_MS = os.sysconf("SC_CLK_TCK") / 1000
SAMPLE_SECONDS = 0.5


@dataclass(slots=True)
class Usage:
    """One role's share in one run. `pss_mb` counts shared pages once, `rss_mb` in every process again."""

    cpu_ms: float = 0.0
    pss_mb: float = 0.0
    rss_mb: float = 0.0


@dataclass(slots=True)
class Watch:
    """Watches process trees and one Redis database while a run lasts; memory and connections are peaks."""

    roots: Mapping[str, int]
    client: redis.Redis | None = None
    usage: dict[str, Usage] = field(default_factory=dict[str, Usage])
    redis_connections: int = 0
    lasted_ms: float = 0.0
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Self:
        self.usage = {role: Usage(cpu_ms=-_cpu_ms(root)) for role, root in self.roots.items()}
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        self.lasted_ms = -time.monotonic() * 1000
        return self

    def __exit__(self, *_: object) -> None:
        self.lasted_ms += time.monotonic() * 1000
        self._over.set()
        self._thread.join()
        for role, root in self.roots.items():
            self.usage[role].cpu_ms += _cpu_ms(root)

    def _sample(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            for role, root in self.roots.items():
                pss, rss = _memory_mb(root)
                seen = self.usage[role]
                seen.pss_mb, seen.rss_mb = max(seen.pss_mb, pss), max(seen.rss_mb, rss)
            if self.client is not None:
                self.redis_connections = max(self.redis_connections, _connections(self.client))


def machine_cpu_ms() -> float:
    """Milliseconds of CPU that the whole machine has used, all cores together."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_MS


def process_cpu_ms() -> float:
    """Milliseconds of CPU that this process has used."""
    return sum(os.times()[:2]) * 1000


def _tree(root: int) -> list[int]:
    """Return the process and its living descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (stat := _stat(int(entry.name))):
            children.setdefault(int(stat[1]), []).append(int(entry.name))
    found, waiting = list[int](), [root]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(children.get(found[-1], ()))
    return found


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat after the name, which may hold anything; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu_ms(root: int) -> float:
    """Sum user and system time of the tree, children that have ended included."""
    total = 0
    for pid in _tree(root):
        # utime, stime, and what ended children have left behind (cutime, cstime): proc(5), fields 14 to 17
        total += sum(int(value) for value in _stat(pid)[11:15])
    return total / TICKS_PER_MS


def _memory_mb(root: int) -> tuple[float, float]:
    pss = rss = 0
    for pid in _tree(root):
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        sizes = dict(line.split(":", 1) for line in text.splitlines()[1:])
        pss += int(sizes["Pss"].split()[0])
        rss += int(sizes["Rss"].split()[0])
    return pss / 1024, rss / 1024


def _connections(client: redis.Redis) -> int:
    """Count the connections to the client's database but its own."""
    own_id, own_db = client.client_id(), client.get_connection_kwargs().get("db", 0)
    return sum(int(entry["id"]) != own_id and int(entry["db"]) == own_db for entry in client.client_list())
