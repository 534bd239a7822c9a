"""The support agent's part of the settings: identity, limits and provider. Off unless AUTH_* turns it on."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from environs import Env, EnvError
from marshmallow import validate

from refund_agent.limits import Limits
from refund_agent.providers import PRESETS, Endpoint, Provider

AuthMode: TypeAlias = Literal["jwt", "dev"]

_RATE: Final = re.compile(r"[1-9][0-9]{0,4}/(second|minute|hour|day)")
_MOST: Final = 10_000_000
OPENAI_URL: Final = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class SupportSettings:
    """Who may talk with the support agent, how much, and which model answers."""

    auth_mode: AuthMode = "jwt"
    auth_jwt_secrets: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    auth_jwks: str = ""
    auth_issuer: str = ""
    auth_audience: str = ""
    auth_max_token_seconds: int = 3600
    auth_dev_secret_file: Path = Path(".state/dev-identity.key")
    limits: Limits = field(default_factory=Limits)
    retention_days: int = 365
    chat_origins: tuple[str, ...] = ()
    model: Endpoint = field(default_factory=lambda: Endpoint("openai", OPENAI_URL, PRESETS["openai"].model))
    fallback: Endpoint | None = None
    reply_model: Endpoint | None = None
    """Rewrites replies; None: they stand as they are."""

    @property
    def enabled(self) -> bool:
        """Whether the support routes exist; without a way to sign in they answer 404."""
        return self.auth_mode == "dev" or bool(self.auth_jwt_secrets or self.auth_jwks)


def read_support(env: Env, *, openai_base_url: str) -> SupportSettings:
    """Read the support agent's variables; raise `EnvError` naming the one that is wrong."""

    def text(name: str, otherwise: str = "") -> str:
        return env.str(name, "").strip() or otherwise

    def choice(name: str, otherwise: str, literal: object) -> str:
        return env.str(name, validate=validate.OneOf(get_args(literal))) if text(name) else otherwise

    def whole(name: str, otherwise: int, *, most: int = _MOST) -> int:
        return env.int(name, validate=validate.Range(min=1, max=most)) if text(name) else otherwise

    def endpoint(provider: Provider, *, base_url: str, model: str, key: str) -> Endpoint:
        preset = PRESETS[provider]
        return Endpoint(
            provider,
            base_url or preset.base_url or openai_base_url,
            model or preset.model,
            key or text(preset.key_variable),
        )

    provider = cast("Provider", choice("LLM_PROVIDER", "openai", Provider))
    second = cast("Provider | Literal['']", choice("LLM_FALLBACK_PROVIDER", "", Provider))
    default = Limits()
    model = endpoint(
        provider, base_url=text("LLM_BASE_URL"), model=text("LLM_MODEL"), key=text("LLM_API_KEY")
    )
    return SupportSettings(
        auth_mode=cast("AuthMode", choice("AUTH_MODE", "jwt", AuthMode)),
        auth_jwt_secrets=_secrets(text("AUTH_JWT_SECRETS")),
        auth_jwks=text("AUTH_JWKS"),
        auth_issuer=text("AUTH_ISSUER"),
        auth_audience=text("AUTH_AUDIENCE"),
        auth_max_token_seconds=whole("AUTH_MAX_TOKEN_SECONDS", 3600, most=86_400),
        auth_dev_secret_file=Path(text("AUTH_DEV_SECRET_FILE", ".state/dev-identity.key")),
        limits=Limits(
            customer_rate=_rate(text("CUSTOMER_RATE", default.customer_rate)),
            max_open_turns=whole("MAX_OPEN_TURNS", 0) or None,
            conversation_tokens=whole("CONVERSATION_TOKENS", default.conversation_tokens),
            customer_daily_tokens=whole("CUSTOMER_DAILY_TOKENS", default.customer_daily_tokens),
            conversation_turns=whole("CONVERSATION_TURNS", default.conversation_turns),
        ),
        chat_origins=tuple(origin.strip() for origin in text("CHAT_ORIGINS").split(",") if origin.strip()),
        retention_days=whole("RETENTION_DAYS", 365, most=36_500),
        model=model,
        reply_model=replace(model, model=text("REPLY_MODEL")) if text("REPLY_MODEL") else None,
        # LLM_BASE_URL and LLM_API_KEY belong to the first: a key must not travel to another provider.
        fallback=endpoint(second, base_url="", model=text("LLM_FALLBACK_MODEL"), key="") if second else None,
    )


def _secrets(listed: str) -> tuple[tuple[str, str], ...]:
    """Read `kid1:secret1,kid2:secret2`. The message quotes nothing of it."""
    pairs = [tuple(part.strip().partition(":")[::2]) for part in listed.split(",") if part.strip()]
    if not all(kid and secret for kid, secret in pairs) or len({kid for kid, _ in pairs}) < len(pairs):
        raise EnvError('Environment variable "AUTH_JWT_SECRETS" invalid: must be kid:secret,kid:secret')
    return tuple((kid, secret) for kid, secret in pairs)


def _rate(given: str) -> str:
    if not _RATE.fullmatch(given):
        raise EnvError('Environment variable "CUSTOMER_RATE" invalid: must be like 20/minute')
    return given
