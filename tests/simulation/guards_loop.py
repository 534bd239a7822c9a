"""The guards of the loop, of its tools, and of what a provider's answer may do."""

from tests.simulation.guards import code

LOOP = "loop"
TOOLS = "tools"
COMPLETION_ANSWER = "adapters.completion_answer"

_READ = ("a completion is read as what it is",)
_NOT_RUN = ("only a valid, whole call of the model is executed",)
_CHECKPOINT = "        if not self._turns.checkpoint(turn):\n            return Superseded()\n"
_BUDGET = "        if turn.budget_is_used_up:\n            return BudgetExhausted()\n"

LOOP_GUARDS = (
    code(
        "an amount is positive",
        TOOLS,
        ("if value < 1:", "if False:"),
        caught_by=(*_NOT_RUN, "the core raises nothing"),
    ),
    code(
        "only the first choice is read",
        COMPLETION_ANSWER,
        ('cast("list[object]", choices)[0]', 'cast("list[object]", choices)[-1]'),
        caught_by=_NOT_RUN,
    ),
    code(
        "a call is a function's",
        COMPLETION_ANSWER,
        ('if call.get("type", "function") != "function" or not known:', "if not known:"),
        caught_by=_NOT_RUN,
    ),
    code(
        "what ended for its length was cut",
        COMPLETION_ANSWER,
        ('truncated=finish == "length" or _used_all(usage)', "truncated=_used_all(usage)"),
        caught_by=_NOT_RUN,
    ),
    code(
        "an error is no completion",
        COMPLETION_ANSWER,
        ('if fields.get("error"):', "if False:"),
        caught_by=_READ,
    ),
    code(
        "no message has more calls than can be answered",
        COMPLETION_ANSWER,
        ("if len(entries) > MAX_TOOL_CALLS:", "if False:"),
        caught_by=(*_READ, "the core raises nothing"),
    ),
    code(
        "a completion is counted before it is made",
        LOOP,
        (
            f"{_CHECKPOINT}        self._hints",
            "        self._hints",
        ),
        caught_by=("a completion is counted before it is made",),
    ),
    code(
        "no completion past the deadline",
        LOOP,
        ("if left <= 0:", "if False:"),
        often={"thread stuck": 0.02, "web killed": 0.005},
        caught_by=("no completion outlives the deadline",),
    ),
    code(
        "a completion is cut at the deadline",
        LOOP,
        (
            "timeout_seconds=min(self._completion_timeout_seconds, left)",
            "timeout_seconds=self._completion_timeout_seconds",
        ),
        caught_by=("no completion outlives the deadline",),
    ),
    code(
        "a cut message is not executed",
        LOOP,
        ("if answer.truncated:", "if False:"),
        caught_by=_NOT_RUN,
    ),
    code(
        "the fifth completion's calls are not kept",
        LOOP,
        (
            f"{_BUDGET}        turn.messages.append",
            "        turn.messages.append",
        ),
        caught_by=("an ended turn leaves no call open",),
    ),
    code(
        "a resumed turn without budget ends",
        LOOP,
        (
            f"{_BUDGET}        if lost",
            "        if lost",
        ),
        caught_by=(
            "the core raises nothing",
            "five completions and two attempts at most",
            "the fifth completion's calls are not executed",
        ),
    ),
    code(
        "a time-out of the fifth completion is not retried",
        LOOP,
        (
            f"{_BUDGET}        if turn.attempts",
            "        if turn.attempts",
        ),
        caught_by=("a turn ends as the contract says",),
    ),
    code(
        "two attempts",
        LOOP,
        ("if turn.attempts >= MAX_ATTEMPTS:", "if False:"),
        caught_by=("the core raises nothing", "one time-out is retried, once"),
    ),
    code(
        "the second attempt is kept before its backoff",
        LOOP,
        (
            f"{_CHECKPOINT}        self._clock",
            "        self._clock",
        ),
        caught_by=("the second attempt is kept before its backoff",),
    ),
    code(
        "the backoff",
        LOOP,
        ("        self._clock.sleep(pause)\n", ""),
        caught_by=("the backoff is kept",),
    ),
    code("a call with a problem never runs", TOOLS, ("if call.problem:", "if False:"), caught_by=_NOT_RUN),
    code(
        "an unknown tool never runs",
        TOOLS,
        ("tool = self._tools.get(call.name)", 'tool = self._tools.get("issue_refund")'),
        caught_by=_NOT_RUN,
    ),
    code(
        "an amount is a whole number",
        TOOLS,
        ("if type(value) is not int:", "if not isinstance(value, int):"),
        caught_by=_NOT_RUN,
    ),
    code(
        "no more arguments than declared",
        TOOLS,
        ("unknown = RAISE", "unknown = 'exclude'"),
        caught_by=_NOT_RUN,
    ),
    code(
        "each call of a message has an id of its own",
        COMPLETION_ANSWER,
        ("if not call_id or call_id in given[:index]:", "if not call_id:"),
        caught_by=("each tool call is answered once, in order",),
    ),
    code(
        "kept text can be sent and stored",
        COMPLETION_ANSWER,
        ('return _UNSAFE.sub("\\ufffd", text)', "return text"),
        caught_by=("the history can be sent and stored", "the core raises nothing"),
    ),
    code(
        "a completion that used all its tokens is cut",
        COMPLETION_ANSWER,
        (" or _used_all(usage)", ""),
        caught_by=_NOT_RUN,
    ),
)
