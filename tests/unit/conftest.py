"""What every unit test gets: no network, a quick hypothesis profile, and a desk to run turns at."""

from pathlib import Path

import hypothesis
import pytest
from pytest_socket import disable_socket, socket_allow_hosts

from tests.unit.desk import Desk

hypothesis.settings.register_profile("unit", deadline=None, max_examples=100)
hypothesis.settings.load_profile("unit")

HERE = Path(__file__).parent
MAY_USE_LOOPBACK = (HERE / "adapters", HERE / "sandbox")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Block sockets; the adapters and the sandbox may talk to a server of their own on loopback."""
    if any(folder in item.path.parents for folder in MAY_USE_LOOPBACK):
        socket_allow_hosts(["127.0.0.1", "localhost"], allow_unix_socket=True)
    elif HERE in item.path.parents:
        disable_socket(allow_unix_socket=True)


@pytest.fixture
def desk() -> Desk:
    return Desk()
