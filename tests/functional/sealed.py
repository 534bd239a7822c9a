"""A service as on a platform: Redis behind a password and a self-signed certificate, and Flower beside it."""

import datetime as dt
import ssl
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from sandbox.embedded_redis import free_port
from sandbox.model import Model
from sandbox.payments import Payments
from sandbox.processes import Process
from tests.functional.fragile_redis import FragileRedis
from tests.functional.proxy import TcpProxy
from tests.functional.stand import Stand, run_stand

REDIS_PASSWORD = "redis-password-canary"
FLOWER_LOGIN = ("operator", "flower-password-canary")
FLOWER_AUTH = ":".join(FLOWER_LOGIN)


@dataclass(frozen=True)
class Sealed:
    """`flower_url` has no trailing slash."""

    stand: Stand
    flower: Process
    flower_url: str

    def ask_flower(self, path: str, login: tuple[str, str] | None = FLOWER_LOGIN) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            return session.get(self.flower_url + path, auth=login, timeout=10.0)


@contextmanager
def run_sealed(
    env: Mapping[str, str], *, make_database: Callable[[], str], model: Model, payments: Payments, logs: Path
) -> Generator[Sealed]:
    """Start all of it; the service is told nothing but the two URLs that a platform would hand out."""
    with ExitStack() as stack:
        redis = stack.enter_context(FragileRedis(REDIS_PASSWORD))
        way_in = stack.enter_context(TcpProxy(redis.port, tls=self_signed(logs)))
        database_url = make_database()
        flower_port = free_port()
        whole = {
            **env,
            "REDIS_URL": f"rediss://:{REDIS_PASSWORD}@127.0.0.1:{way_in.port}/0",
            "DATABASE_URL": database_url.replace("postgresql+psycopg://", "postgres://"),
        }
        flower_env = {**whole, "FLOWER_BASIC_AUTH": FLOWER_AUTH, "PORT": str(flower_port)}
        flower = Process("flower", env=flower_env, log=logs / "flower.log")
        stack.callback(flower.kill)
        stand = stack.enter_context(
            run_stand(
                whole,
                database_url=database_url,
                redis_url=redis.url,
                model=model,
                payments=payments,
                logs=logs,
            )
        )
        sealed = Sealed(stand, flower, f"http://127.0.0.1:{flower_port}")
        flower.wait_until(lambda: _answers(sealed))
        yield sealed


def self_signed(folder: Path) -> ssl.SSLContext:
    """Make a server's TLS context with a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somewhere.example")])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(days=365 * 50))
        .sign(key, hashes.SHA256())
    )
    pem = folder / "self-signed.pem"
    pem.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate.public_bytes(Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


def _answers(sealed: Sealed) -> bool:
    try:
        return sealed.ask_flower("/healthcheck").ok
    except requests.RequestException:
        return False
