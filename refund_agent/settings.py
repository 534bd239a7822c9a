"""The only reader of the environment. Every name here is part of the interface; see README, "Settings"."""

import logging
import math
import secrets
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast, get_args

from environs import Env, ValidationError
from marshmallow import validate

CONTRACT_MODEL: Final = "gpt-4o-mini-2024-07-18"
MAX_SECONDS: Final = 3600.0

AppEnv: TypeAlias = Literal["development", "production"]
Provider: TypeAlias = Literal["openai", "scripted"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What one process was told. Times are seconds; secrets never appear in `repr`."""

    app_env: AppEnv = "development"
    database_url: str = field(default="sqlite:///.state/refunds.db", repr=False)
    redis_url: str = field(default="redis://127.0.0.1:6379/0", repr=False)
    llm_provider: Provider = "openai"
    openai_api_key: str = field(default="", repr=False)
    openai_base_url: str = "https://api.openai.com/v1"
    payments_url: str = ""
    payments_token: str = field(default="", repr=False)
    portal_tokens: tuple[str, ...] = field(default=(), repr=False)
    turn_deadline_seconds: float = 120.0
    completion_timeout_seconds: float = 20.0
    backoff_seconds: float = 2.0
    payments_timeout_seconds: float = 10.0
    worker_concurrency: int = 32
    web_threads: int = 220
    port: int = 8000
    log_level: int = logging.INFO
    dyno: str = ""
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

    def seconds(name: str, otherwise: float) -> float:
        return env.float(name, otherwise, validate=_is_a_time)

    def count(name: str, otherwise: int) -> int:
        return env.int(name, otherwise, validate=validate.Range(min=1, max=10_000))

    return Settings(
        app_env=cast("AppEnv", env.str("APP_ENV", default.app_env, validate=_one_of(AppEnv))),
        database_url=text("DATABASE_URL", default.database_url),
        redis_url=text("REDIS_URL", default.redis_url),
        llm_provider=cast(
            "Provider", env.str("LLM_PROVIDER", default.llm_provider, validate=_one_of(Provider))
        ),
        openai_api_key=text("OPENAI_API_KEY", ""),
        openai_base_url=text("OPENAI_BASE_URL", default.openai_base_url),
        payments_url=text("PAYMENTS_URL", ""),
        payments_token=text("PAYMENTS_TOKEN", ""),
        portal_tokens=tuple(
            token for part in env.str("PORTAL_TOKENS", "").split(",") if (token := part.strip())
        ),
        turn_deadline_seconds=seconds("TURN_DEADLINE_SECONDS", default.turn_deadline_seconds),
        completion_timeout_seconds=seconds("COMPLETION_TIMEOUT_SECONDS", default.completion_timeout_seconds),
        backoff_seconds=seconds("BACKOFF_SECONDS", default.backoff_seconds),
        payments_timeout_seconds=seconds("PAYMENTS_TIMEOUT_SECONDS", default.payments_timeout_seconds),
        worker_concurrency=count("WORKER_CONCURRENCY", default.worker_concurrency),
        web_threads=count("WEB_THREADS", default.web_threads),
        port=env.int("PORT", default.port, validate=validate.Range(min=0, max=65_535)),
        log_level=env.log_level("LOG_LEVEL", logging.INFO),
        dyno=text("DYNO", ""),
    )


def _is_a_time(value: float) -> None:
    if not (math.isfinite(value) and 0 < value <= MAX_SECONDS):
        raise ValidationError(f"must be more than 0 and at most {MAX_SECONDS} seconds")


def _one_of(literal: object) -> validate.OneOf:
    return validate.OneOf(get_args(literal))
