"""The class-and-session face: flow tools, sandbox payloads and results, the tool table."""

from collections.abc import Iterable

from holdfast.contract.backend import (
    BackendTool,
    BackendToolCodeRun,
    BackendToolCommandRun,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileEntry,
    FileWriteResult,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.flow import FlowSandbox, FlowSession, FlowToolCall
from holdfast.envelope.dialects.flow_text import serialize
from holdfast.runtime.flow_table import ToolNameConflictError, build_table, table_schemas
from holdfast.sources.flow_class import tool_from_flow
from holdfast.tools.flow import FLOW_BUILTINS

__all__ = [
    "FlowToolCall",
    "FlowSession",
    "FlowSandbox",
    "BackendTool",
    "BackendToolCommandRun",
    "BackendToolFilesRead",
    "BackendToolFilesWrite",
    "BackendToolFilesList",
    "BackendToolFilesExists",
    "BackendToolCodeRun",
    "ToolResult",
    "CommandResult",
    "FileContent",
    "FileEntries",
    "FileEntry",
    "FileWriteResult",
    "CodeResult",
    "ToolExecutionFailure",
    "ToolNameConflictError",
    "tool_from_flow",
    "tool_table",
    "table_schemas",
    "serialize",
]


def tool_table(user_tools: Iterable[FlowToolCall] = ()) -> dict[str, FlowToolCall]:
    """The built-in tools and yours, by name; a name taken twice is an error."""
    return build_table(FLOW_BUILTINS, user_tools)
