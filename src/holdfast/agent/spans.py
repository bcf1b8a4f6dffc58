"""The spans and uses of managed calls: what surrounds each of them in the journal."""

from holdfast.agent.replies import TurnCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import Payload, SpanCompleted, SpanResult, SpanStarted, ToolUse
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonValue, decode_json
from holdfast.contract.person import Postponed
from holdfast.contract.tool import Tool
from holdfast.runtime.recovery import answer_text

WAKE_SPAN = "session_run"
_DENIED = frozenset({FailureKind.REJECTED, FailureKind.USER_DENIED})


def span_begun(call: TurnCall, tool: Tool | None, wake_id: str | None) -> SpanStarted:
    """A call begins; nothing has happened yet."""
    return SpanStarted(
        span_id=call.id,
        parent_span_id=wake_id,
        span_kind="tool",
        name=call.name,
        summary=summary_of(tool),
    )


def span_ended(
    call: TurnCall, tool: Tool | None, found: Envelope | Postponed, wake_id: str | None
) -> list[Payload]:
    """It ended or was blocked; what was refused used nothing."""
    result = _result(found)
    span = SpanCompleted(
        span_id=call.id,
        parent_span_id=wake_id,
        span_kind="tool",
        name=call.name,
        summary=_problem(found) or summary_of(tool),
        result=result,
    )
    if result == "blocked" or isinstance(found, Postponed):
        return [span]
    return [span, use_of(call, tool, answer_text(found))]


def use_of(
    call: TurnCall, tool: Tool | None, output: str | None, request_id: str | None = None
) -> ToolUse:
    """The use of a tool; without an output it waits for a person under the name of a request."""
    return ToolUse(
        request_id=request_id,
        tool_name=call.name,
        ownership="managed" if tool is None else tool.ownership,
        permission_policy="always_allow" if tool is None else tool.permission_policy,
        input=input_of(call),
        output=output,
    )


def input_of(call: TurnCall) -> JsonValue:
    """The arguments as JSON; what is none stays a text."""
    try:
        return decode_json(call.arguments)
    except ValueError:
        return call.arguments


def summary_of(tool: Tool | None) -> str | None:
    """What a tool is for, in one line."""
    if tool is None or not tool.description:
        return None
    return tool.description.strip().partition("\n")[0]


def _result(found: Envelope | Postponed) -> SpanResult:
    if isinstance(found, Postponed):
        return "blocked"
    if found.failure is None:
        return "success"
    return "blocked" if found.failure.kind in _DENIED else "error"


def _problem(found: Envelope | Postponed) -> str | None:
    if isinstance(found, Postponed) or found.failure is None:
        return None
    return found.failure.message
