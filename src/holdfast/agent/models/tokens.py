"""How many tokens a text is, which only its model knows: estimated, the same for all."""

from holdfast.agent.models.anthropic_messages import anthropic_tool
from holdfast.agent.models.chat_messages import chat_tool
from holdfast.agent.models.wire import encoded
from holdfast.contract.model import ModelTool

_CHARACTERS_A_TOKEN = 4


def tokens_of(text: str | bytes) -> int:
    """A quarter of its characters, rounded up, and one at least."""
    characters = len(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    return max(-(-characters // _CHARACTERS_A_TOKEN), 1)


def tool_tokens(tool: ModelTool, provider: str = "openai") -> int:
    """What it costs to tell a model of a tool, by what is really sent to that provider."""
    sent = anthropic_tool(tool) if provider == "anthropic" else chat_tool(tool)
    return tokens_of(encoded(sent))
