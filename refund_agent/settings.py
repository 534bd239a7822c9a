"""The only reader of the environment. Every name here is part of the interface; see README, "Operate it"."""

import logging
import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast, get_args

from environs import Env, EnvError, ValidationError
from marshmallow import validate

from refund_agent.prices import NotPrices, Price, read_prices
from refund_agent.providers import Provider
from refund_agent.settings_orders import OrderSettings, read_orders
from refund_agent.settings_support import SupportSettings, read_support

CONTRACT_MODEL: Final = "gpt-4o-mini-2024-07-18"
MAX_SECONDS: Final = 3600.0

AppEnv: TypeAlias = Literal["development", "production"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What one process was told. Times are seconds; secrets never appear in `repr`.

    `openai_*` are refund-chat's, whose model is pinned; `support` is the support agent's.
    """

    app_env: AppEnv = "development"
    database_url: str = field(default="sqlite:///.state/refunds.db", repr=False)
    redis_url: str = field(default="redis://127.0.0.1:6379/0", repr=False)
    llm_provider: Provider = "openai"
    openai_api_key: str = field(default="", repr=False)
    openai_base_url: str = "https://api.openai.com/v1"
    payments_url: str = ""
    payments_token: str = field(default="", repr=False)
    portal_tokens: tuple[str, ...] = field(default=(), repr=False)
    flower_basic_auth: str = field(default="", repr=False)
    turn_deadline_seconds: float = 120.0
    completion_timeout_seconds: float = 20.0
    backoff_seconds: float = 2.0
    payments_timeout_seconds: float = 10.0
    worker_concurrency: int = 32
    web_threads: int = 220
    port: int = 8000
    log_level: int = logging.INFO
    dyno: str = ""
    remap_sigterm: str = ""
    model_prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    support: SupportSettings = field(default_factory=SupportSettings)
    orders: OrderSettings = field(default_factory=OrderSettings)
    process_id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def lease_seconds(self) -> float:
        """How long a silent worker keeps its turns: an eighth of the deadline, 3 to 15 s."""
        return min(15.0, max(3.0, self.turn_deadline_seconds / 8))


def read_settings() -> Settings:
    """Read the environment; raise `environs.EnvError` naming the variable that is wrong."""
    env = Env()
    default = Settings()

    def text(name: str, otherwise: str) -> str:
        # Heroku shows an unset variable and an empty one alike; so do we.
        return env.str(name, "").strip() or otherwise

    def choice(name: str, otherwise: str, literal: object) -> str:
        return env.str(name, validate=validate.OneOf(get_args(literal))) if text(name, "") else otherwise

    def seconds(name: str, otherwise: float) -> float:
        return env.float(name, validate=_is_a_time) if text(name, "") else otherwise

    def whole(name: str, otherwise: int, *, least: int = 1, most: int = 10_000) -> int:
        return env.int(name, validate=validate.Range(min=least, max=most)) if text(name, "") else otherwise

    openai_base_url = text("OPENAI_BASE_URL", default.openai_base_url)
    return Settings(
        app_env=cast("AppEnv", choice("APP_ENV", default.app_env, AppEnv)),
        database_url=text("DATABASE_URL", default.database_url),
        redis_url=_with_platform_tls(text("REDIS_URL", default.redis_url)),
        llm_provider=cast("Provider", choice("LLM_PROVIDER", default.llm_provider, Provider)),
        openai_api_key=text("OPENAI_API_KEY", ""),
        openai_base_url=openai_base_url,
        payments_url=text("PAYMENTS_URL", ""),
        payments_token=text("PAYMENTS_TOKEN", ""),
        portal_tokens=tuple(
            token for part in env.str("PORTAL_TOKENS", "").split(",") if (token := part.strip())
        ),
        flower_basic_auth=text("FLOWER_BASIC_AUTH", ""),
        turn_deadline_seconds=seconds("TURN_DEADLINE_SECONDS", default.turn_deadline_seconds),
        completion_timeout_seconds=seconds("COMPLETION_TIMEOUT_SECONDS", default.completion_timeout_seconds),
        backoff_seconds=seconds("BACKOFF_SECONDS", default.backoff_seconds),
        payments_timeout_seconds=seconds("PAYMENTS_TIMEOUT_SECONDS", default.payments_timeout_seconds),
        worker_concurrency=whole("WORKER_CONCURRENCY", default.worker_concurrency),
        web_threads=whole("WEB_THREADS", default.web_threads),
        port=whole("PORT", default.port, least=0, most=65_535),
        log_level=env.log_level("LOG_LEVEL") if text("LOG_LEVEL", "") else default.log_level,
        dyno=text("DYNO", ""),
        remap_sigterm=text("REMAP_SIGTERM", ""),
        model_prices=_prices(env.str("MODEL_PRICES", "")),
        support=read_support(env, openai_base_url=openai_base_url),
        orders=read_orders(env),
    )


def _with_platform_tls(url: str) -> str:
    """Accept `rediss://` as Heroku hands it out: with a self-signed certificate, and no word about it.

    Celery and redis-py both refuse that by default. A URL that states `ssl_cert_reqs` itself is kept.
    """
    if not url.startswith("rediss://") or "ssl_cert_reqs" in url:
        return url
    return f"{url}{'&' if '?' in url else '?'}ssl_cert_reqs=none"


def _prices(listed: str) -> Mapping[str, Price]:
    try:
        return read_prices(listed)
    except NotPrices as error:
        raise EnvError(f'Environment variable "MODEL_PRICES" invalid: {error}') from None


def _is_a_time(value: float) -> None:
    if not (math.isfinite(value) and 0 < value <= MAX_SECONDS):
        raise ValidationError(f"must be more than 0 and at most {MAX_SECONDS} seconds")
