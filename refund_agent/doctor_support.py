"""What is unsafe or cannot work in the support agent's settings. Nothing, while it is not turned on."""

import re
from typing import Final
from urllib.parse import urlsplit

from refund_agent.doctor import LOOPBACK_HOSTS, Finding, is_in_the_clear, severity_of_a_risk
from refund_agent.identity import MIN_SECRET_BYTES
from refund_agent.providers import PRESETS, Endpoint
from refund_agent.settings import Settings

_ORIGIN_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")


def check_support(settings: Settings) -> list[Finding]:
    """Judge the support agent's settings of one process by every rule."""
    if not settings.support.enabled:
        return []
    rules = (
        _dev_in_production,
        _claims,
        _short_secrets,
        _jwks_in_the_clear,
        _no_origins,
        _origins_in_the_clear,
    )
    findings = [finding for rule in rules if (finding := rule(settings))]
    endpoints = [("LLM_PROVIDER", settings.support.model)]
    if settings.support.fallback:
        endpoints.append(("LLM_FALLBACK_PROVIDER", settings.support.fallback))
    for variable, endpoint in endpoints:
        findings += _endpoint(settings, variable, endpoint)
    return findings


def _dev_in_production(settings: Settings) -> Finding | None:
    if settings.support.auth_mode != "dev" or settings.app_env != "production":
        return None
    why = "Anybody could sign in as any customer, or as staff"
    return Finding("refuse", "AUTH_MODE is dev", why, "Unset it, and set AUTH_JWT_SECRETS or AUTH_JWKS")


def _claims(settings: Settings) -> Finding | None:
    support = settings.support
    named = {"AUTH_ISSUER": support.auth_issuer, "AUTH_AUDIENCE": support.auth_audience}
    missing = [name for name, value in named.items() if not value]
    if support.auth_mode == "dev" or not missing:
        return None
    # In every environment: without them no token can be checked.
    why = "A token that was made for another site or by another tenant would pass"
    return Finding("refuse", f"{' and '.join(missing)} not set", why, "Set what the host site signs")


def _short_secrets(settings: Settings) -> Finding | None:
    if all(len(secret.encode()) >= MIN_SECRET_BYTES for _, secret in settings.support.auth_jwt_secrets):
        return None
    what = f"AUTH_JWT_SECRETS has a secret of fewer than {MIN_SECRET_BYTES} bytes"
    why = "It could be guessed from one token, so tokens signed with it are refused"
    return Finding(severity_of_a_risk(settings), what, why, "Make secrets with `openssl rand -hex 32`")


def _jwks_in_the_clear(settings: Settings) -> Finding | None:
    if not is_in_the_clear(settings.support.auth_jwks):
        return None
    why = "Whoever is on the way could put their own key in"
    return Finding(severity_of_a_risk(settings), "AUTH_JWKS is not https", why, "Use https, or a file")


def _no_origins(settings: Settings) -> Finding | None:
    if all(_is_origin(given) for given in settings.support.chat_origins):
        return None
    # In every environment: `*` would let any page ask in a customer's name, and the rest would match nothing.
    why = "Only pages of exactly these origins may embed the chat; `*`, a path or a missing scheme names none"
    fix = "Write each as a browser does, such as https://shop.example"
    return Finding("refuse", "CHAT_ORIGINS has something that is no origin", why, fix)


def _is_origin(given: str) -> bool:
    """Whether it is an origin exactly as browsers send it: scheme, host, and a port only if it is another."""
    try:
        place = urlsplit(given)
        port = place.port
    except ValueError:
        return False
    usual = {"https": 443, "http": 80}
    host = _ORIGIN_HOST.fullmatch(place.netloc.rpartition(":")[0] if port else place.netloc)
    return (
        place.scheme in usual
        and host is not None
        and port != usual[place.scheme]
        and given == f"{place.scheme}://{place.netloc}"
    )


def _origins_in_the_clear(settings: Settings) -> Finding | None:
    if all(given.startswith("https://") for given in settings.support.chat_origins if _is_origin(given)):
        return None
    if settings.app_env != "production":
        return None
    why = "Whoever is on the way could change the page that holds the customer's token"
    return Finding("refuse", "CHAT_ORIGINS has an origin that is not https", why, "Serve the portal by https")


def _endpoint(settings: Settings, variable: str, endpoint: Endpoint) -> list[Finding]:
    findings: list[Finding] = []
    if endpoint.provider == "scripted" and settings.app_env == "production" and variable != "LLM_PROVIDER":
        why = "It is a stand-in that plays what the customer types"
        findings.append(Finding("refuse", f"{variable} is scripted", why, "Set it to a real provider"))
    # Without OPENAI_API_KEY refund-chat cannot work either, and `doctor.check` says so.
    if endpoint.lacks_key and endpoint.provider != "openai":
        names = PRESETS[endpoint.provider].key_variable
        why = f"Every completion of {endpoint.provider} would be refused"
        findings.append(Finding(severity_of_a_risk(settings), f"{names} is not set", why, "Set it"))
    address = urlsplit(endpoint.base_url)
    if address.scheme != "https" and address.hostname not in LOOPBACK_HOSTS:
        why = "The key and the customer's words would travel in the clear"
        what = f"the address of {variable} is not https"
        findings.append(
            Finding(severity_of_a_risk(settings), what, why, "Set LLM_BASE_URL to an https address")
        )
    return findings
