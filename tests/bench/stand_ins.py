"""Both outside services as one process of their own, shared by all contenders; payments keeps the score."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.bench.started import first_lines, started

MODEL_DELAY_SECONDS = 0.2
PAYMENTS_DELAY_SECONDS = 0.05
REFUND_CENTS = 500


@dataclass(frozen=True)
class StandIns:
    """The addresses, the process, and payments' own list of what moved."""

    model_url: str
    payments_url: str
    pid: int
    session: requests.Session

    def reset(self) -> None:
        """Forget what has moved so far."""
        self.session.post(f"{self.payments_url}/reset", timeout=5.0).raise_for_status()

    def moved(self) -> Counter[str]:
        """Count what moved since the last reset, by order id; any other amount than 5.00 is a mistake."""
        ledger = self.session.get(f"{self.payments_url}/ledger.json", timeout=5.0).json()
        assert all(refund["amount_cents"] == REFUND_CENTS for refund in ledger["moved"])
        return Counter(refund["order_id"] for refund in ledger["moved"])


@contextmanager
def stand_ins(directory: Path) -> Generator[StandIns]:
    """Run the scripted model and payments with their delays until the context closes."""
    command = ["python", "-m", "sandbox", "--port", "0"]
    command += ["--model-delay", str(MODEL_DELAY_SECONDS), "--payments-delay", str(PAYMENTS_DELAY_SECONDS)]
    with (
        started(command, log=directory / "stand-ins.log", talks=True) as process,
        requests.Session() as session,
    ):
        session.trust_env = False
        printed = first_lines(process, "PAYMENTS_URL=")
        urls = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
        yield StandIns(urls["OPENAI_BASE_URL"], urls["PAYMENTS_URL"], process.pid, session)
