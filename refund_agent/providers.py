"""The providers of the support agent's model: all speak OpenAI's Chat Completions, so one SDK asks them all.

Each line names where its figures come from. A model must take tools and `temperature: 0`.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Provider: TypeAlias = Literal["openai", "anthropic", "gemini", "oxlo", "omniroute", "scripted"]


@dataclass(frozen=True, slots=True)
class Preset:
    """What `LLM_PROVIDER` stands for. An empty `base_url` is what OPENAI_BASE_URL says."""

    base_url: str
    key_variable: str
    model: str
    key_optional: bool = False


PRESETS: Final[dict[Provider, Preset]] = {
    # The snapshot that refund-chat is pinned to, so that both agents are one bill and one behaviour.
    "openai": Preset("", "OPENAI_API_KEY", "gpt-4o-mini-2024-07-18"),
    # platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk. `strict` is ignored there (our own
    # validation does not rely on it), and Anthropic calls it a layer for evaluation rather than production.
    "anthropic": Preset("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "claude-haiku-4-5-20251001"),
    # ai.google.dev/gemini-api/docs/openai
    "gemini": Preset(
        "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", "gemini-3.8-flash"
    ),
    # The card of the OxloAI organisation on huggingface.co (README of the space OxloAI/README).
    "oxlo": Preset("https://api.oxlo.ai/v1", "OXLO_API_KEY", "qwen-3-32b"),
    # A gateway on one's own machine: docs/routing/AUTO-COMBO.md and the README of diegosouzapw/OmniRoute.
    # `auto` picks among the accounts connected to it. It asks for a key only when told to.
    "omniroute": Preset("http://localhost:20128/v1", "OMNIROUTE_API_KEY", "auto", key_optional=True),
    # A stand-in that plays what the customer types, wherever OPENAI_BASE_URL says it is.
    "scripted": Preset("", "OPENAI_API_KEY", "gpt-4o-mini-2024-07-18", key_optional=True),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one provider, as it will be asked."""

    provider: Provider
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)

    @property
    def lacks_key(self) -> bool:
        """Whether every completion would be refused for want of a key."""
        return not self.api_key and not PRESETS[self.provider].key_optional
