"""Serve both stand-ins on one port: `python -m sandbox --port 9000`. SIGTERM and Ctrl-C end it at once."""

import signal
import threading
from types import FrameType

import click

from sandbox.both import Both
from sandbox.http import serve
from sandbox.model import Model
from sandbox.payment_modes import MODES
from sandbox.payments import Payments


@click.command(context_settings={"auto_envvar_prefix": "SANDBOX"})
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=9000, show_default=True, help="0 takes a free one.")
@click.option("--mode", default="ok", type=click.Choice(list(MODES)), metavar="NAME", help="Payments mode.")
@click.option("--model-delay", default=0.0, show_default=True, help="Seconds a completion takes.")
@click.option("--payments-delay", default=0.0, show_default=True, help="Seconds a refund's answer takes.")
def main(host: str, port: int, mode: str, model_delay: float, payments_delay: float) -> None:
    """Serve a scripted model and a payments service. Each option can be set as SANDBOX_<OPTION>, too."""
    stop = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    both = Both(
        model=Model(delay_seconds=model_delay), payments=Payments(mode=mode, delay_seconds=payments_delay)
    )
    with serve(both, host=host, port=port) as server:
        click.echo(f"sandbox      {server.url}/")
        click.echo(f"OPENAI_BASE_URL={server.url}/v1")
        click.echo(f"PAYMENTS_URL={server.url}/payments")
        stop.wait()


main()
