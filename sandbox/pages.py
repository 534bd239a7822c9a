"""The stand-ins' pages. No script, no inline style, and every text escaped."""

from collections.abc import Mapping, Sequence
from html import escape

from sandbox.answers import Reply
from sandbox.payment_modes import MODES
from sandbox.payment_parts import Refund

SHOWN = 200
HEADERS = (
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884 }
td { overflow-wrap: anywhere }
td.amount { text-align: right; font-variant-numeric: tabular-nums }
"""


def payments_page(refunds: Sequence[Refund], *, mode: str, request_count: int) -> Reply:
    """List what moved, newest first, and offer the modes."""
    rows = "".join(
        f"<tr><td>{escape(refund.refund_id)}<td>{escape(refund.order_id)}"
        f'<td class="amount">{money(refund.amount_cents)}<td>{escape(refund.mode)}'
        for refund in reversed(refunds[-SHOWN:])
    )
    total = money(sum(refund.amount_cents for refund in refunds))
    options = "".join(
        f'<option value="{escape(row.name)}"{" selected" if row.name == mode else ""}>'
        f"{escape(row.name)}: {escape(row.about)} (moves: {escape(row.moves)})"
        for row in MODES.values()
    )
    return page(
        "Payments stand-in",
        f"<p>{request_count} requests came in, money moved {len(refunds)} times, {total} in all."
        f'<form method="post" action="mode"><label>Mode <select name="mode">{options}</select></label> '
        "<button>Set</button></form>"
        f"<table><thead><tr><th>Refund<th>Order<th>Amount<th>Mode<tbody>{rows}</table>"
        '<p><a href="ledger.json">ledger.json</a> · <a href="modes.json">modes.json</a>',
    )


def scripts_page(scripts: Mapping[str, str]) -> Reply:
    """List the model's scripts."""
    rows = "".join(f"<tr><td>[{escape(name)}]<td>{escape(about)}" for name, about in scripts.items())
    return page(
        "Model stand-in",
        "<p>A message may start with a script; without one the model follows plain English."
        f"<table><thead><tr><th>Script<th>What the model does<tbody>{rows}</table>",
    )


def index_page() -> Reply:
    """Lead to both stand-ins."""
    return page(
        "Sandbox",
        '<p><a href="payments/">Payments</a>: what moved, and how to make it misbehave.'
        '<p><a href="v1/">Model</a>: the scripts it plays.',
    )


def page(title: str, content: str) -> Reply:
    """Return a page around `content`, which is HTML."""
    html = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<link rel="stylesheet" href="style.css"></head>'
        f"<body><h1>{escape(title)}</h1>{content}</body></html>"
    )
    return Reply(200, html.encode(errors="replace"), "text/html; charset=utf-8", HEADERS)


def style() -> Reply:
    """Return the one style sheet."""
    return Reply(200, STYLE.encode(), "text/css; charset=utf-8", HEADERS[1:])


def money(cents: int) -> str:
    """Write cents as an amount, exactly."""
    return f"{cents // 100}.{cents % 100:02d}"
