"""Tools of MCP servers as flow classes, for sessions whose loop takes those.

Each of them is called through the session that has the servers: it is judged, pinned, bounded and
written down there like every call, and its text is handed on. No protocol is known here.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import (
    InvalidArguments,
    OperationFailed,
    OperationTimedOut,
    PolicyDenied,
    ToolError,
    Unavailable,
    UserDenied,
)
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonValue, encode_json
from holdfast.contract.tool import Tool

_ERRORS: Mapping[FailureKind, type[ToolError]] = {
    FailureKind.INVALID_ARGS: InvalidArguments,
    FailureKind.REJECTED: PolicyDenied,
    FailureKind.TIMEOUT: OperationTimedOut,
    FailureKind.UNAVAILABLE: Unavailable,
    FailureKind.USER_DENIED: UserDenied,
}


class SettlingSession(Protocol):
    """A session that is open, as code in threads uses it: `holdfast.blocking.Holdfast`."""

    @property
    def tools(self) -> Iterable[Tool]:
        """What can be called."""
        ...

    def settle(self, tool: str, arguments: Mapping[str, object], /) -> Envelope:
        """Take one call to its answer, and wait for it."""
        ...


class McpFlowTool(FlowToolCall):
    """One tool; its text parts are joined, and its calls overlap with no others."""

    def __init__(self, session: SettlingSession, tool: Tool) -> None:
        self._session = session
        self._tool = tool

    @property
    def name(self) -> str:
        """What the model calls it."""
        return self._tool.name

    @property
    def description(self) -> str | None:
        """What its server says of it, cut."""
        return self._tool.description

    @property
    def parameters(self) -> Mapping[str, object]:
        """The server's own schema."""
        return self._tool.input_schema

    def __call__(
        self,
        session: FlowSession,  # noqa: ARG002 - the interface's
        arguments: Mapping[str, object],
    ) -> object:
        """Call it: ``{"text": ...}``; raises what its failure stands for."""
        answer = self._session.settle(self.name, arguments)
        if answer.failure is not None:
            raise _error(answer.failure)
        return {"text": _text(answer.result)}


def mcp_flow_tools(session: SettlingSession) -> tuple[McpFlowTool, ...]:
    """The tools of MCP servers that an open session has, as flow classes."""
    return tuple(McpFlowTool(session, tool) for tool in session.tools if tool.ownership == "mcp")


def _error(failure: Failure) -> ToolError:
    return _ERRORS.get(failure.kind, OperationFailed)(failure.message)


def _text(result: JsonValue) -> str:
    """The text of an answer; of one that is no text, the JSON that it is."""
    match result:
        case {"text": str(text)}:
            return text
        case {"parts": [*parts]}:
            return "\n".join(text for one in parts if (text := _part(one)) is not None)
        case _:
            return encode_json(result).decode()


def _part(part: JsonValue) -> str | None:
    match part:
        case {"kind": "text", "text": str(text)}:
            return text
        case _:
            return None
