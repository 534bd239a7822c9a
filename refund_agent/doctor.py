"""Which configurations are unsafe, and why. Start-up refuses by the same list that `flask doctor` prints."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from refund_agent.refunds import CLAIM_MARGIN_SECONDS
from refund_agent.settings import Settings

Severity: TypeAlias = Literal["refuse", "warn", "note"]
"""`note`: nothing is wrong; it is said because an operator wants to see it."""

HEROKU_ROUTER_SECONDS: Final = 30.0
COMPLETION_NEEDS_SECONDS: Final = 1.0
MIN_TOKEN_LENGTH: Final = 16
DATABASE_SCHEMES: Final = ("postgres", "postgresql", "postgresql+psycopg")
LOOPBACK_HOSTS: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: what, why it matters, and how to fix it. Never quotes a secret or a URL."""

    severity: Severity
    what: str
    why: str
    fix: str

    def __str__(self) -> str:
        """Give the line that a person reads."""
        return f"{self.severity}: {self.what}. {self.why}. {self.fix}."


def severity_of_a_risk(settings: Settings) -> Severity:
    """Return how bad is what a developer's machine may do and production may not."""
    return "refuse" if settings.app_env == "production" else "warn"


def is_in_the_clear(url: str) -> bool:
    """Whether what goes to this address can be read on its way: plain HTTP to another machine."""
    address = urlsplit(url)
    return address.scheme == "http" and address.hostname not in LOOPBACK_HOSTS


class UnsafeConfiguration(Exception):
    """The process must not start; the message names every reason."""


LiveCheck: TypeAlias = Callable[[], Finding | None]
"""Asks something that runs. None: all is well. Any exception: it could not be asked."""


def check(settings: Settings) -> list[Finding]:
    """Judge the settings of one process by every rule."""
    rules = (*_ALWAYS, *(_IN_PRODUCTION if settings.app_env == "production" else ()))
    return [finding for rule in rules if (finding := rule(settings))]


def check_live(checks: Mapping[str, LiveCheck]) -> list[Finding]:
    """Ask what the settings point at, each by its name."""
    return [finding for name, ask in checks.items() if (finding := _ask(name, ask))]


def refusals(findings: Iterable[Finding]) -> list[Finding]:
    """Return those that start-up does not accept."""
    return [finding for finding in findings if finding.severity == "refuse"]


def refuse_unsafe(settings: Settings, others: Iterable[Finding] = ()) -> None:
    """Raise `UnsafeConfiguration`, naming all that is unsafe in the settings and in `others`."""
    unsafe = refusals([*check(settings), *others])
    if unsafe:
        raise UnsafeConfiguration("\n".join(["this configuration is unsafe:", *map(str, unsafe)]))


def judge_maxmemory_policy(policy: str) -> Finding | None:
    """Judge the broker's `maxmemory-policy`: one that evicts loses messages."""
    if policy == "noeviction":
        return None
    return Finding(
        "refuse",
        f"Redis has maxmemory-policy {policy}",
        "A full Redis would silently drop queued turns",
        "Set maxmemory-policy to noeviction",
    )


def judge_migration(*, current: str | None, head: str | None) -> Finding | None:
    """Compare the database's migration with the code's."""
    if current == head:
        return None
    return Finding(
        "refuse",
        f"the database is at migration {current or 'none'}, the code needs {head}",
        "The ledger's table is the gate; it must be the one the code knows",
        "Run the release step: alembic upgrade head",
    )


def _ask(name: str, ask: LiveCheck) -> Finding | None:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - whatever it is, the thing could not be asked
        why = f"It failed with {type(error).__name__}"
        return Finding("refuse", f"{name} cannot be asked", why, "See that it runs and that its URL is right")


# --- Rules for every environment ------------------------------------------------------------------


def _deadline_on_heroku(settings: Settings) -> Finding | None:
    if not settings.dyno or settings.turn_deadline_seconds < HEROKU_ROUTER_SECONDS:
        return None
    return Finding(
        "refuse",
        f"TURN_DEADLINE_SECONDS is {settings.turn_deadline_seconds:g} on Heroku",
        "The router answers for us after 30 s, and the portal would never learn what became of the refund",
        "Set it to 28",
    )


def _deadline_too_short_for_a_refund(settings: Settings) -> Finding | None:
    needed = settings.payments_timeout_seconds + CLAIM_MARGIN_SECONDS + COMPLETION_NEEDS_SECONDS
    if settings.turn_deadline_seconds >= needed:
        return None
    return Finding(
        "refuse" if settings.app_env == "production" else "warn",
        f"TURN_DEADLINE_SECONDS is {settings.turn_deadline_seconds:g}",
        "A refund is claimed only while the payments time-out still fits, so none could ever be made",
        f"Set it to at least {needed:g}",
    )


def _workers_stop_cold(settings: Settings) -> Finding | None:
    if not settings.remap_sigterm:
        return None
    return Finding(
        "refuse",
        "REMAP_SIGTERM is set",
        "Celery would stop cold: with threads that fails, and no turn is handed over before a restart",
        "Unset it",
    )


def _database_scheme(settings: Settings) -> Finding | None:
    if urlsplit(settings.database_url).scheme in {*DATABASE_SCHEMES, "sqlite"}:
        return None
    return Finding(
        "refuse",
        "DATABASE_URL names a database that is not supported",
        "The gate relies on what PostgreSQL and SQLite promise",
        "Use postgres:// or, in development, sqlite://",
    )


def _redis_scheme(settings: Settings) -> Finding | None:
    if urlsplit(settings.redis_url).scheme in {"redis", "rediss"}:
        return None
    return Finding(
        "refuse", "REDIS_URL is not a Redis URL", "Redis is the broker", "Use redis:// or rediss://"
    )


def _payments_url_shape(settings: Settings) -> Finding | None:
    parts = urlsplit(settings.payments_url)
    if not settings.payments_url or (
        parts.scheme in {"http", "https"} and parts.hostname and not parts.query
    ):
        return None
    return Finding(
        "refuse",
        "PAYMENTS_URL is not a plain http(s) address",
        "Refunds are sent to PAYMENTS_URL/refunds",
        "Give scheme, host and, if need be, a path",
    )


def _payments_in_the_clear(settings: Settings) -> Finding | None:
    if _payments_url_shape(settings) or not is_in_the_clear(settings.payments_url):
        return None
    why = "Whoever is on the way could read the token, ask for refunds of their own, and forge answers"
    return Finding(severity_of_a_risk(settings), "PAYMENTS_URL is not https", why, "Use https")


def _model_in_the_clear(settings: Settings) -> Finding | None:
    url = settings.openai_base_url
    # A model on the same machine is a stand-in, which is nothing for production.
    if urlsplit(url).scheme == "https" or not (settings.app_env == "production" or is_in_the_clear(url)):
        return None
    why = "The key and the customer's words would travel in the clear"
    fix = "Unset it, or use an https address"
    return Finding(severity_of_a_risk(settings), "OPENAI_BASE_URL is not https", why, fix)


def _model_key_missing(settings: Settings) -> Finding | None:
    if settings.llm_provider == "scripted" or settings.openai_api_key:
        return None
    return Finding(
        "refuse" if settings.app_env == "production" else "warn",
        "OPENAI_API_KEY is not set",
        "Every turn would end with 502",
        "Set it",
    )


# --- Rules for production -------------------------------------------------------------------------


def _sqlite(settings: Settings) -> Finding | None:
    if urlsplit(settings.database_url).scheme != "sqlite":
        return None
    return Finding(
        "refuse",
        "DATABASE_URL is not set, or names SQLite",
        "The ledger must outlive a dyno and be shared by all of them",
        "Set it to a PostgreSQL URL",
    )


def _redis_default(settings: Settings) -> Finding | None:
    if settings.redis_url == Settings().redis_url:
        why = "The default is the embedded Redis of a developer's machine"
        return Finding("refuse", "REDIS_URL is not set", why, "Set it to the broker's URL")
    if urlsplit(settings.redis_url).hostname in LOOPBACK_HOSTS:
        why = "Other dynos cannot reach it, and an embedded Redis keeps nothing"
        return Finding("warn", "REDIS_URL names this machine", why, "Set it to the shared broker's URL")
    return None


def _portal_tokens(settings: Settings) -> Finding | None:
    if not settings.portal_tokens:
        why = "Whoever finds the address could ask for refunds"
        return Finding("refuse", "PORTAL_TOKENS is not set", why, "Set it to one or more long random tokens")
    if any(len(token) < MIN_TOKEN_LENGTH for token in settings.portal_tokens):
        what = f"PORTAL_TOKENS has a token of fewer than {MIN_TOKEN_LENGTH} characters"
        return Finding(
            "warn", what, "A short token can be guessed", "Make tokens with `openssl rand -hex 32`"
        )
    return None


def _scripted_model(settings: Settings) -> Finding | None:
    if settings.llm_provider != "scripted":
        return None
    why = "It is a stand-in that plays what the customer types"
    return Finding("refuse", "LLM_PROVIDER is scripted", why, "Set it to openai")


def _model_address(settings: Settings) -> Finding | None:
    if settings.openai_base_url == Settings().openai_base_url or _model_in_the_clear(settings):
        return None
    why = "The contract names OpenAI's model; is another address meant, or left over"
    return Finding("warn", "OPENAI_BASE_URL is not OpenAI's", why, "Unset it if it is not meant")


def _payments_address(settings: Settings) -> Finding | None:
    if settings.payments_url:
        return None
    return Finding("refuse", "PAYMENTS_URL is not set", "No refund could be sent", "Set it")


def _payments_token(settings: Settings) -> Finding | None:
    if settings.payments_token:
        return None
    return Finding("refuse", "PAYMENTS_TOKEN is not set", "Payments would refuse every refund", "Set it")


def _contract_numbers(settings: Settings) -> Finding | None:
    contract = Settings()
    changed = [
        name.upper()
        for name in ("completion_timeout_seconds", "backoff_seconds", "payments_timeout_seconds")
        if getattr(settings, name) != getattr(contract, name)
    ]
    if not changed:
        return None
    why = "The contract fixes 20 s a completion, 2 s of backoff an attempt and 10 s for payments"
    return Finding("refuse", f"{', '.join(changed)} differs from the contract", why, "Unset it")


_ALWAYS = (
    _deadline_on_heroku,
    _deadline_too_short_for_a_refund,
    _workers_stop_cold,
    _database_scheme,
    _redis_scheme,
    _payments_url_shape,
    _payments_in_the_clear,
    _model_in_the_clear,
    _model_key_missing,
)
_IN_PRODUCTION = (
    _sqlite,
    _redis_default,
    _portal_tokens,
    _scripted_model,
    _model_address,
    _payments_address,
    _payments_token,
    _contract_numbers,
)
