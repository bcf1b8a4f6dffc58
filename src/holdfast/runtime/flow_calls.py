"""A call of a flow loop: its arguments read, its failures worded, its text kept beside its answer.

A loop answers in its own form, and the envelope of the same call is what the journal keeps: both
are made here from one value. How a loop goes, and where calls are settled, is not known here.
"""

from collections.abc import Callable, Mapping

import msgspec

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonObject, clean_text, text_of
from holdfast.contract.runtime import Runtime
from holdfast.contract.told import ShownInPart
from holdfast.contract.tool import Body, Tool
from holdfast.envelope.dialects import flow_text
from holdfast.envelope.from_error import failure_from
from holdfast.preflight.parse import parse_flow_arguments
from holdfast.sources.flow_class import tool_from_flow

MOST_ECHOED = 2_000
"""Characters of unreadable arguments that are told again."""
MOST_DETAIL = 4_000


def read_arguments(raw: str | None) -> JsonObject | None:
    """The arguments as a model wrote them; None: they are no object. Nothing at all is none."""
    parsed, had_error = parse_flow_arguments(raw)
    return None if had_error else parsed or {}


def unreadable(name: str, raw: str) -> Failure:
    """Why a call whose arguments are no JSON object does not run."""
    return failure_of(
        FailureKind.INVALID_ARGS,
        f"tool '{name}' returned non-JSON or unparseable arguments",
        extras={
            "error_kind": "invalid_tool_arguments",
            "detail": flow_text.cut(clean_text(raw), MOST_ECHOED),
        },
    )


def unknown(name: str) -> Failure:
    """Why a call of nothing does not run."""
    extras = {"error_kind": "unknown_tool"}
    return failure_of(FailureKind.TOOL_NOT_FOUND, f"unknown tool '{name}'", extras=extras)


def raised(error: Exception) -> Failure:
    """What a tool raised: the kind that fits the error, in the words of a flow loop."""
    known = failure_from(error)
    name = _type_name(type(error))
    return failure_of(
        known.kind,
        flow_text.cut(f"{name}: {text_of(error)}", flow_text.PLAIN_CHARACTERS),
        field=known.field,
        expected=known.expected,
        retryable=known.retryable,
        extras={
            **known.extras,
            "error_kind": "tool_execution_exception",
            "detail": name[:MOST_DETAIL],
        },
    )


def _type_name(kind: type[Exception]) -> str:
    """As the design names it: an error of ours that is also one of Python's is told as that."""
    if kind.__module__.partition(".")[0] == "holdfast":
        for parent in kind.__mro__[1:]:
            if parent.__module__ == "builtins" and parent not in (Exception, BaseException, object):
                return parent.__name__
    return kind.__name__


def result_text(value: object) -> str:
    """What a tool returned, as the text of its row."""
    return flow_text.serialize(value)


def failure_text(failure: Failure) -> str:
    """Why a call failed, as the text of its row."""
    return flow_text.render(Envelope(failure=failure))


class KeptTexts:
    """The texts of calls that ran, until somebody takes them; used from many threads."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._escaped: dict[str, BaseException] = {}

    def keep(self, call_id: str, text: str) -> None:
        """The body of this call came to its end."""
        self._texts[call_id] = text

    def escape(self, call_id: str, error: BaseException) -> None:
        """It raised what nobody catches."""
        self._escaped[call_id] = error

    def escaped(self, call_id: str) -> BaseException | None:
        """What nobody caught; told once."""
        return self._escaped.pop(call_id, None)

    def taken(self, call_id: str, envelope: Envelope) -> str:
        """The text of the row for a call with this answer; given once."""
        text = self._texts.pop(call_id, None)
        failure = envelope.failure
        if text is None or (failure is not None and "error_kind" not in failure.extras):
            # It never ran, or not to its end: the answer is not the body's.
            return flow_text.render(envelope)
        return text


def kept_tool(flow: FlowToolCall, session: FlowSession, texts: KeptTexts) -> Tool:
    """A flow tool bound to its session, whose calls leave the text of their rows with ``texts``."""
    tool = tool_from_flow(flow, session)
    body = Body(style="thread", invoke=_keeping(flow, session, texts))
    return msgspec.structs.replace(tool, body=body)


def _keeping(
    flow: FlowToolCall, session: FlowSession, texts: KeptTexts
) -> Callable[[Mapping[str, object], Runtime], object]:
    def invoke(arguments: Mapping[str, object], runtime: Runtime) -> object:
        try:
            value = called(flow, session, arguments)
            text = result_text(value)
        except Exception as error:  # noqa: BLE001 - a foreign tool may raise anything at all
            failure = raised(error)
            texts.keep(runtime.call_id, failure_text(failure))
            return Envelope(failure=failure)
        except BaseException as error:
            texts.escape(runtime.call_id, error)
            raise
        texts.keep(runtime.call_id, text)
        return ShownInPart(value) if flow_text.is_cut(value, text) else value

    return invoke


def called(flow: FlowToolCall, session: FlowSession, arguments: Mapping[str, object]) -> object:
    """Call a tool; what its key raises counts as raised by the tool."""
    flow.resource_key(arguments)
    return flow(session, arguments)
