"""The names that spans and metrics bear: those of OpenTelemetry's GenAI conventions, and our own.

They are written out here: OpenTelemetry's own package of names changes with every release.
"""

from collections.abc import Mapping

from opentelemetry.util.types import AttributeValue

Attributes = Mapping[str, AttributeValue]

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CONVERSATION = "gen_ai.conversation.id"
AGENT_NAME = "gen_ai.agent.name"
AGENT_ID = "gen_ai.agent.id"
REQUEST_MODEL = "gen_ai.request.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL_ID = "gen_ai.tool.call.id"
ERROR_TYPE = "error.type"

# What somebody said or a tool told: only where the configuration says so.
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
OUTPUT_MESSAGES = "gen_ai.output.messages"

WAKE_ID = "holdfast.wake.id"
WAKE_RESULT = "holdfast.wake.result"
WAKE_STOP = "holdfast.wake.stop_reason"
CALL_ID = "holdfast.call.id"
PURPOSE = "holdfast.model.purpose"
ATTEMPT = "holdfast.model.attempt"
DURATION = "holdfast.tool.duration_ms"
TRUNCATED = "holdfast.tool.truncated"
REPAIRS = "holdfast.tool.repairs"
UNFINISHED = "holdfast.unfinished"
ACTION = "holdfast.permission.action"
SOURCE = "holdfast.permission.source"
GROUNDS = "holdfast.permission.grounds"
CAPABILITIES = "holdfast.permission.capabilities"
ALLOWED = "holdfast.permission.allowed"
REMEMBER = "holdfast.permission.remember"
PATTERN = "holdfast.permission.pattern"
REASON = "holdfast.permission.reason"
BY = "holdfast.permission.by"


def known(attributes: Mapping[str, AttributeValue | None]) -> dict[str, AttributeValue]:
    """Those that have a value."""
    return {name: value for name, value in attributes.items() if value is not None}
