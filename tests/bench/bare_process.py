"""The limit: the same calls in threads of one process, with no service around them.

Started by the benchmark, which writes one JSON object a line to its standard input, the arguments of
`drive`, and reads back what was driven.
"""

import json
import sys
from dataclasses import asdict

from tests.bench.agent_loop import cheapest_calls, run_turn
from tests.bench.drive import OneTurn, drive


def main(base_url: str, payments_url: str) -> None:
    """Drive whatever is asked for until the input ends."""
    complete, refund = cheapest_calls(base_url, payments_url)

    def one_turn(text: str) -> None:
        if not run_turn(text, complete=complete, refund=refund):
            raise AssertionError("an empty reply")

    def make_caller() -> OneTurn:
        return one_turn

    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        driven = drive(make_caller, **json.loads(line))
        sys.stdout.write(json.dumps(asdict(driven)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
