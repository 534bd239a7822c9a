"""The third-party retail cases: each executed once with exact cents, and each way to more refused."""

from pathlib import Path

import pytest

from tests.replay.replay import EXPECTED, replay


@pytest.mark.fault(252, 267, 268)
@pytest.mark.timeout(120)
def test_every_case_is_executed_once_and_every_way_to_more_is_refused(tmp_path: Path) -> None:
    assert dict(replay(f"sqlite:///{tmp_path / 'replay.db'}")) == EXPECTED
