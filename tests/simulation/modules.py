"""The production modules that the simulator builds its services from, and how one guard is taken out of them.

A guard is removed by changing its very text: the module's source is compiled anew with one piece replaced.
A piece that is no longer there fails loudly, so that the table of guards cannot outlive the code.
"""

import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

CORE = (
    "refund_agent.policy",
    "refund_agent.policy_text",
    "refund_agent.eligibility",
    "refund_agent.transcripts",
    "refund_agent.replies",
    "refund_agent.approvals",
    "refund_agent.tools",
    "refund_agent.recorder",
    "refund_agent.refunds",
    "refund_agent.loop",
    "refund_agent.runner",
    "refund_agent.facade",
    "refund_agent.sweeper",
    "refund_agent.support_tools",
    "refund_agent.support_agent",
    "refund_agent.approval_agent",
    "refund_agent.support_desk",
    "refund_agent.approval_desk",
    "refund_agent.adapters.sql_rows",
    "refund_agent.adapters.sql_entries",
    "refund_agent.adapters.sql_order_rows",
    "refund_agent.adapters.sql_orders",
    "refund_agent.adapters.sql_conversations",
    "refund_agent.adapters.sql_approvals",
    "refund_agent.adapters.sql_turns",
    "refund_agent.adapters.sql_ledger",
    "refund_agent.adapters.sql_sweeps",
    "refund_agent.adapters.payment_answer",
    "refund_agent.adapters.completion_answer",
)
"""What a guard may stand in; a module comes after those that it imports."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One piece of text of one module, and what stands there once the guard is gone."""

    module: str
    old: str
    new: str


class Modules:
    """Gives a module by its name, without the guards that `patches` take out."""

    def __init__(self, patches: Sequence[Patch] = ()) -> None:
        self._changed: dict[str, ModuleType] = {}
        for name in CORE:
            own = [patch for patch in patches if patch.module == name]
            source = inspect.getsource(importlib.import_module(name))
            # Whoever imports a changed module is compiled anew as well, or it would keep the guard.
            if own or any(f"from {changed} import" in source for changed in self._changed):
                self._changed[name] = self._compiled(name, _without(name, source, own))

    def __getitem__(self, name: str) -> Any:
        return self._changed.get(name) or importlib.import_module(name)

    def _compiled(self, name: str, source: str) -> ModuleType:
        module = ModuleType(name)
        with _standing_in(self._changed):
            exec(compile(source, f"{name} without a guard", "exec"), module.__dict__)  # noqa: S102 - our own source
        return module


def _without(name: str, source: str, patches: Sequence[Patch]) -> str:
    for patch in patches:
        count = source.count(patch.old)
        assert count == 1, f"{name} holds this guard {count} times, not once:\n{patch.old}"
        source = source.replace(patch.old, patch.new)
    return source


@contextmanager
def _standing_in(modules: dict[str, ModuleType]) -> Iterator[None]:
    """Let imports find these modules in the place of the real ones."""
    real = {name: sys.modules[name] for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        sys.modules.update(real)
