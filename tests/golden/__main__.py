"""`make golden`: run before a model is switched, with the keys and endpoints of the environment."""

import argparse
import sys

from refund_agent.adapters.openai_model import OpenAIModel
from refund_agent.ports import Model
from refund_agent.providers import Endpoint
from refund_agent.settings import CONTRACT_MODEL, read_settings
from refund_agent.wiring import NO_KEY
from tests.golden.golden import judge_refund_chat, judge_support


def main() -> int:
    """Print each case; 1 when a model got one wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--chat-model", default=CONTRACT_MODEL, help="instead of refund chat's snapshot")
    parser.add_argument("--support-model", default="", help="instead of LLM_MODEL")
    asked = parser.parse_args()
    settings = read_settings()
    chat = Endpoint("openai", settings.openai_base_url, asked.chat_model, settings.openai_api_key)
    results = [
        *judge_refund_chat(_open(chat, chat.model)),
        *judge_support(_open(settings.support.model, asked.support_model or settings.support.model.model)),
    ]
    for result in results:
        print(f"{'WRONG' if result.wrong else 'right'}  {result.case}")  # noqa: T201 - a report
        if result.wrong:
            print(f"       {result.wrong}")  # noqa: T201 - a report
    wrong = sum(bool(result.wrong) for result in results)
    print(f"{len(results) - wrong} right, {wrong} wrong")  # noqa: T201 - a report
    return 1 if wrong else 0


def _open(endpoint: Endpoint, model: str) -> Model:
    return OpenAIModel(
        api_key=endpoint.api_key or NO_KEY, base_url=endpoint.base_url, model=model, connections=1
    )


if __name__ == "__main__":
    sys.exit(main())
