"""There is one way from a request to payments, and one place on it that sends."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def production() -> Iterator[tuple[str, ast.Module]]:
    for package in ("refund_agent", "tasks", "web"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def calls(method: str) -> list[str]:
    """Name the module of every call of a method with this name."""
    return [
        name
        for name, tree in production()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]


def importers(library: str) -> set[str]:
    """Name every module that imports from this library."""
    return {
        name
        for name, tree in production()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(a.name.split(".")[0] == library for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == library)
    }


def test_only_the_payments_adapter_and_its_wall_know_requests_and_one_place_posts() -> None:
    assert importers("requests") == {
        "refund_agent/adapters/http_payments.py",
        "refund_agent/adapters/wall.py",
    }
    assert calls("post").count("refund_agent/adapters/http_payments.py") == 1


def test_nothing_but_payments_and_the_model_is_posted_to() -> None:
    assert set(calls("post")) == {
        "refund_agent/adapters/http_payments.py",
        "refund_agent/adapters/openai_model.py",
    }


def test_only_refunds_asks_payments_and_in_one_place() -> None:
    assert calls("refund") == ["refund_agent/refunds.py"]


def test_a_claim_is_made_in_one_place() -> None:
    # The recorder passes a claim on to the ledger that it wraps; the seeds of a trial claim one for show.
    assert calls("claim") == ["refund_agent/recorder.py", "refund_agent/refunds.py", "refund_agent/seeds.py"]
