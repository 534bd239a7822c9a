"""Where orders are kept and which policy is applied, as the environment says."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from environs import Env, EnvError
from marshmallow import validate

MAX_ORDERS_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class OrderSettings:
    """Without a `url` orders are in our own tables; without a `policy_file` the newest dated one holds."""

    url: str = ""
    token: str = field(default="", repr=False)
    timeout_seconds: float = 3.0
    policy_file: Path | None = None


def read_orders(env: Env) -> OrderSettings:
    """Read the variables; raise `EnvError` naming the one that is wrong."""

    def text(name: str) -> str:
        return env.str(name, "").strip()

    within = validate.Range(min=0, min_inclusive=False, max=MAX_ORDERS_SECONDS)
    seconds = "ORDERS_TIMEOUT_SECONDS"
    return OrderSettings(
        url=_address(text("ORDERS_URL")),
        token=text("ORDERS_TOKEN"),
        timeout_seconds=env.float(seconds, validate=within)
        if text(seconds)
        else OrderSettings().timeout_seconds,
        policy_file=Path(text("POLICY_FILE")) if text("POLICY_FILE") else None,
    )


def _address(url: str) -> str:
    """A query or a fragment would swallow the path that is added to it."""
    parts = urlsplit(url)
    if url and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment):
        raise EnvError('Environment variable "ORDERS_URL" invalid: must be like https://shop.example/api')
    return url
