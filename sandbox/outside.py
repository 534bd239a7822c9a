"""The two services outside, for the demo: stand-ins, or the real ones when the caller has set them."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sandbox.http import serve
from sandbox.model import Model
from sandbox.payments import Payments


@dataclass(frozen=True, slots=True)
class Outside:
    """Who plays the model and payments. `model_page` and `payments` are None where the real one is used.

    `env` tells web and worker how to reach them.
    """

    env: Mapping[str, str]
    model_page: str | None
    payments_page: str
    payments: Payments | None

    def warnings(self) -> Iterator[str]:
        """Say plainly what is real, and what that means."""
        if self.model_page is None:
            yield "REAL MODEL: OPENAI_API_KEY is set. Completions go to the provider and cost money."
        if self.payments is None:
            yield f"REAL PAYMENTS: PAYMENTS_URL is set. Refunds go to {_address(self.env)} and MOVE MONEY."
            if self.model_page is not None:
                yield "The model is a stand-in: it asks real payments for whatever the message says."


PRICES: Final = {"MODEL_PRICES": "gpt-4o-mini-2024-07-18=15/60"}
"""What the model that is stood in for costs: a demo shows costs as real ones would be."""


def is_real(caller: Mapping[str, str], name: str) -> bool:
    """Whether the caller has set this variable; an empty one is an unset one."""
    return bool(caller.get(name, "").strip())


@contextmanager
def outside(caller: Mapping[str, str]) -> Generator[Outside]:
    """Serve the stand-ins that the caller's environment leaves room for, each on a free loopback port."""
    with ExitStack() as stack:
        env: dict[str, str] = {}
        model_page, payments = None, None
        if is_real(caller, "OPENAI_API_KEY"):
            env |= _taken(caller, "OPENAI_API_KEY", "OPENAI_BASE_URL")
        else:
            server = stack.enter_context(serve(Model()))
            model_page = f"{server.url}/v1/"
            env |= {"LLM_PROVIDER": "scripted", "OPENAI_BASE_URL": f"{server.url}/v1"} | PRICES
        if is_real(caller, "PAYMENTS_URL"):
            env |= _taken(caller, "PAYMENTS_URL", "PAYMENTS_TOKEN")
        else:
            payments = Payments()
            env["PAYMENTS_URL"] = stack.enter_context(serve(payments)).url
        yield Outside(env, model_page, f"{env['PAYMENTS_URL']}/", payments)


def _taken(caller: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: caller[name] for name in names if name in caller}


def _address(env: Mapping[str, str]) -> str:
    """Return where refunds go, without what an address may hold of a password."""
    parts = urlsplit(env["PAYMENTS_URL"])
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
