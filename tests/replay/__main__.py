"""`make replay-tau2`: the retail cases through the tool layer, with no model."""

import sys
import tempfile
from pathlib import Path

from tests.replay.replay import EXPECTED, replay


def main() -> int:
    """Print how often each expectation was met; 0 only if it always was."""
    with tempfile.TemporaryDirectory() as folder:
        count = replay(f"sqlite:///{Path(folder) / 'replay.db'}")
    for what, wanted in EXPECTED.items():
        sys.stdout.write(f"{count[what]:>4} of {wanted:>4}  {what}\n")
    return 0 if dict(count) == EXPECTED else 1


if __name__ == "__main__":
    sys.exit(main())
