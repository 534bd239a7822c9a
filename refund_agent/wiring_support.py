"""The support agent's part of the composition root: sign-in, limits and model."""

from functools import partial

from refund_agent import doctor
from refund_agent.adapters.dev_identity import DevIdentities, kept_secret
from refund_agent.adapters.jwks import Jwks, fetch_from
from refund_agent.adapters.jwt_identity import JwtIdentities, TokenRules
from refund_agent.adapters.redis_limits import RedisLimits
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.redis_sessions import RedisSessions
from refund_agent.adapters.redis_tickets import RedisTickets
from refund_agent.adapters.sql_approvals import SqlApprovals
from refund_agent.adapters.sql_casebook import SqlCasebook
from refund_agent.adapters.sql_conversations import SqlConversations
from refund_agent.adapters.sql_customers import list_customers
from refund_agent.adapters.sql_reveals import SqlReveals
from refund_agent.adapters.sql_usage import SqlUsage
from refund_agent.approval_desk import ApprovalDesk
from refund_agent.casebook import Casebook
from refund_agent.doctor_support import check_support
from refund_agent.fallback_model import FallbackModel
from refund_agent.identity import SignIn
from refund_agent.limits import Limiter
from refund_agent.ports import Model, Queue
from refund_agent.providers import Endpoint
from refund_agent.recorder import Recorder
from refund_agent.reveals import Reveals
from refund_agent.sessions import Sessions
from refund_agent.settings import Settings
from refund_agent.support_desk import SupportDesk
from refund_agent.wiring import NO_KEY, WORKER_ALIVE_SECONDS, Stores, open_journal
from refund_agent.wiring_orders import diagnose_orders


def build_sign_in(settings: Settings, stores: Stores) -> SignIn | None:
    """Build what knows customers and staff; None when there is no support agent, or start-up refuses it."""
    support, tickets = settings.support, RedisTickets(stores.redis)
    findings = [*check_support(settings), *diagnose_orders(settings)]
    if not support.enabled or doctor.refusals(findings):
        return None
    if support.auth_mode == "dev":
        secret = kept_secret(support.auth_dev_secret_file)
        dev = DevIdentities(secret=secret, customers=partial(list_customers, stores.database))
        return SignIn(dev, tickets, picker=dev)
    rules = TokenRules(support.auth_issuer, support.auth_audience, support.auth_max_token_seconds)
    public_keys = Jwks(fetch_from(support.auth_jwks)) if support.auth_jwks else None
    return SignIn(JwtIdentities(rules, secrets=support.auth_jwt_secrets, public_keys=public_keys), tickets)


def build_sessions(stores: Stores) -> Sessions:
    """Build where the console's sign-ins are kept."""
    return RedisSessions(stores.redis)


def build_casebook(stores: Stores) -> Casebook:
    """Build what the console looks through."""
    return SqlCasebook(stores.database)


def build_reveals(stores: Stores) -> Reveals:
    """Build where it is recorded who was shown what."""
    return SqlReveals(stores.database)


def build_limiter(settings: Settings, stores: Stores) -> Limiter:
    """Build the support agent's limits."""
    workers = RedisPresence(stores.redis, kind="worker")
    return RedisLimits(
        stores.redis,
        limits=settings.support.limits,
        usage=SqlUsage(stores.database),
        workers=lambda: workers.alive(within_seconds=WORKER_ALIVE_SECONDS),
        seats=settings.worker_concurrency,
    )


def build_recorded_queue(stores: Stores, queue: Queue) -> Queue:
    """Build the broker as the support agent sees it: what is queued is an event of its turn."""
    return Recorder(open_journal(stores)).queue(queue)


def build_approval_desk(stores: Stores, *, queue: Queue) -> ApprovalDesk:
    """Build where staff decide."""
    recorded = build_recorded_queue(stores, queue)
    return ApprovalDesk(SqlApprovals(stores.database), SqlConversations(stores.database), recorded)


def build_support_desk(settings: Settings, stores: Stores) -> SupportDesk:
    """Build where customers write."""
    limiter = build_limiter(settings, stores)
    return SupportDesk(SqlConversations(stores.database), limiter, stores.turns.knows_key)


def build_support_model(settings: Settings, stores: Stores) -> Model:
    """Build the support agent's model, with its fallback if there is one."""
    first = _model_at(settings, settings.support.model)
    if settings.support.fallback is None:
        return first
    return FallbackModel(first, _model_at(settings, settings.support.fallback), clock=stores.clock)


def build_reply_model(settings: Settings) -> Model | None:
    """Build the model that rewrites replies; None when they stand as they are."""
    chosen = settings.support.reply_model
    return None if chosen is None else _model_at(settings, chosen)


def _model_at(settings: Settings, endpoint: Endpoint) -> Model:
    from refund_agent.adapters.openai_model import OpenAIModel  # noqa: PLC0415 - 20 MB, for workers only

    return OpenAIModel(
        api_key=endpoint.api_key or NO_KEY,
        base_url=endpoint.base_url,
        model=endpoint.model,
        connections=settings.worker_concurrency,
        price=settings.model_prices.get(endpoint.model),
    )
