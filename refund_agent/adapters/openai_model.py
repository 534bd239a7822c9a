"""The model, through the openai SDK: one request, one answer, within one total time.

The SDK makes the call and names what went wrong; what comes back is read from its JSON by
`completion_answer`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import httpx
import openai
import structlog

from refund_agent.adapters.completion_answer import MAX_COMPLETION_TOKENS, read_completion
from refund_agent.adapters.httpx_wall import WalledTransport
from refund_agent.adapters.wall import outside_call, tls_context
from refund_agent.ports import (
    Completed,
    CompletionAnswer,
    CompletionFailed,
    CompletionTimedOut,
    ToolDeclaration,
)
from refund_agent.prices import Price
from refund_agent.turn import AssistantMessage, Message, SystemMessage, ToolCall, ToolResult, UserMessage

log = structlog.stdlib.get_logger(__name__)

NEEDS_A_PERSON = frozenset({401, 403, 404})
"""A wrong key, no permission, or a model that is gone: nothing gets better by itself."""


class OpenAIModel:
    """Asks `model` at `base_url`; safe to share among threads, `connections` of which can ask at once.

    `ca_file` replaces the usual certificate authorities, for a gateway with its own. Without a `price` the
    cost of completions is not known.
    """

    def __init__(  # noqa: PLR0913 - where and how to ask, and what it costs
        self,
        *,
        api_key: str,
        base_url: str,
        model: str,
        connections: int,
        ca_file: str | None = None,
        price: Price | None = None,
    ) -> None:
        self._model = model
        self._price = price
        tls = tls_context(ca_file) if base_url.lower().startswith("https:") else None
        self._http = httpx.Client(
            transport=WalledTransport(connections=connections, tls=tls),
            trust_env=False,
            follow_redirects=False,
        )
        self._client = openai.OpenAI(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            http_client=self._http,
            default_headers={"Accept-Encoding": "identity"},
        )
        # The SDK takes these two from the environment, and no argument says "none".
        self._client.organization = self._client.project = None
        if self._client.max_retries != 0:
            raise AssertionError("the SDK must never send a completion twice")

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        request_id: str,
        timeout_seconds: float,
    ) -> CompletionAnswer:
        """Ask once. `request_id` names the call at the provider (`<turn id>-<completion number>`)."""
        asked: dict[str, object] = {
            "model": self._model,
            "messages": [_write(message) for message in messages],
            "n": 1,
            "temperature": 0,
            "max_tokens": MAX_COMPLETION_TOKENS,
        }
        if tools:
            asked["tools"] = [_declare(tool) for tool in tools]
        try:
            with outside_call(timeout_seconds):
                # `chat.completions.create` would send the same bytes and get the same answer, after walking
                # every message twice by its type: half of a completion's CPU (measured 4.3 ms, here 2.2).
                answer = self._client.post(
                    "/chat/completions",
                    body=asked,
                    cast_to=httpx.Response,
                    options={"headers": {"X-Client-Request-Id": request_id}, "timeout": timeout_seconds},
                )
            return self._with_its_cost(read_completion(answer.content))
        # A time-out is also a connection error: its handler comes first.
        except openai.APITimeoutError:
            return CompletionTimedOut()
        except openai.APIConnectionError as error:
            return CompletionFailed(f"no answer: {type(error.__cause__ or error).__name__}")
        except openai.APIStatusError as error:
            return _refused(error.status_code)
        except Exception as error:  # noqa: BLE001 - whatever a provider does to the SDK has a named ending
            log.warning("completion_broke", error=type(error).__name__)  # its text may hold the key
            return CompletionFailed(type(error).__name__)

    def _with_its_cost(self, answer: Completed | CompletionFailed) -> CompletionAnswer:
        if isinstance(answer, CompletionFailed):
            return answer
        price, counted = self._price, {"tokens": answer.tokens, "read_tokens": answer.read_tokens}
        return replace(
            answer, model=self._model, cost_microdollars=None if price is None else price.of(**counted)
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._http.close()


def _refused(status: int) -> CompletionFailed:
    if status in NEEDS_A_PERSON:
        log.error("provider_refuses_us", status=status)
    return CompletionFailed(f"HTTP {status}")


def _declare(tool: ToolDeclaration) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _write(message: Message) -> dict[str, object]:
    """Write one message as the provider reads it."""
    match message:
        case SystemMessage(content):
            return {"role": "system", "content": content}
        case UserMessage(content):
            return {"role": "user", "content": content}
        case ToolResult(call_id, content):
            return {"role": "tool", "tool_call_id": call_id, "content": content}
        case AssistantMessage(content, ()):
            return {"role": "assistant", "content": content}
        case AssistantMessage(content, calls):
            # An empty text beside calls is said as null; an empty list of calls is refused, so left out.
            return {
                "role": "assistant",
                "content": content or None,
                "tool_calls": [_write_call(c) for c in calls],
            }
        case _:
            assert_never(message)


def _write_call(call: ToolCall) -> dict[str, object]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
