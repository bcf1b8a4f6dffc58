"""The class-and-session face: flow tools, sessions, loops, workflows, sandboxes they run in."""

from collections.abc import Iterable

from holdfast.agent.flow.loop_session import LoopSession
from holdfast.agent.flow.ports import Executor
from holdfast.agent.flow.workflow import AgentParam, Workflow
from holdfast.app.audit import audit_log_of_this_process
from holdfast.app.flow_agents import Agent, Compressor
from holdfast.app.flow_loop import (
    run_session_compress,
    run_session_compress_async,
    run_session_loop,
    run_session_loop_async,
)
from holdfast.contract.backend import (
    Backend,
    BackendCapabilities,
    BackendNotFound,
    BackendSandboxClosed,
    BackendSandboxSpec,
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
    OpenedSandbox,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    ChunkTable,
    Lineage,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.flow import FlowSandbox, FlowSession, FlowToolCall
from holdfast.contract.model import ChatModel, ModelReply, ModelRequest, ModelUsage
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.envelope.dialects.flow_text import serialize
from holdfast.execution.backends.binding import SandboxBinding, SandboxTarget
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalBackend, LocalSettings
from holdfast.execution.backends.shipped import AUDIT, BACKENDS
from holdfast.execution.backends.streams import Stream, StreamEvent, StreamFuture
from holdfast.record.flow_log import FlowLog, FlowLogError, ReadLog, read_flow_log, write_flow_log
from holdfast.record.lineage_graph import LineageGraph
from holdfast.runtime.flow_session import Session
from holdfast.runtime.flow_table import ToolNameConflictError, build_table, table_schemas
from holdfast.sources.flow_class import tool_from_flow
from holdfast.sources.mcp.flow import mcp_flow_tools
from holdfast.tools.flow import FLOW_BUILTINS

__all__ = [
    "run_session_loop",
    "run_session_loop_async",
    "run_session_compress",
    "run_session_compress_async",
    "Agent",
    "AgentParam",
    "Compressor",
    "Workflow",
    "Executor",
    "LoopSession",
    "ChatModel",
    "ModelReply",
    "ModelRequest",
    "ModelUsage",
    "FlowToolCall",
    "Session",
    "ChunkTable",
    "Chunk",
    "SystemChunk",
    "UserChunk",
    "AssistantChunk",
    "ToolResultChunk",
    "AskedCall",
    "TokenUsage",
    "Lineage",
    "LineageGraph",
    "Transcript",
    "FlowLog",
    "FlowLogError",
    "ReadLog",
    "write_flow_log",
    "read_flow_log",
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
    "SandboxBinding",
    "SandboxTarget",
    "BackendSandbox",
    "BackendSandboxSpec",
    "BackendSandboxClosed",
    "Stream",
    "StreamEvent",
    "StreamFuture",
    "Backend",
    "BackendCapabilities",
    "BackendNotFound",
    "OpenedSandbox",
    "LocalBackend",
    "LocalSettings",
    "open_sandbox",
    "register_backend",
    "get_backend",
    "preferred_backend",
    "default_backend",
    "set_default_backend",
    "backend_names",
    "backend_is_available",
    "ToolNameConflictError",
    "tool_from_flow",
    "mcp_flow_tools",
    "tool_table",
    "table_schemas",
    "serialize",
]

AUDIT.found_by(audit_log_of_this_process)

register_backend = BACKENDS.register
get_backend = BACKENDS.get
preferred_backend = BACKENDS.preferred
default_backend = BACKENDS.default
set_default_backend = BACKENDS.set_default
backend_names = BACKENDS.names
backend_is_available = BACKENDS.is_available


def open_sandbox(
    backend: str | Backend | None = None, spec: BackendSandboxSpec | str | None = None
) -> BackendSandbox:
    """Open a sandbox, in the default backend if none is named; a text is its working directory.

    Nobody holds it yet: use it as a context, or bind it to a session.
    """
    if backend is None:
        backend = default_backend()
    elif isinstance(backend, str):
        backend = get_backend(backend)
    if isinstance(spec, str):
        spec = BackendSandboxSpec(working_dir=spec)
    return BackendSandbox(backend, spec or BackendSandboxSpec())


def tool_table(user_tools: Iterable[FlowToolCall] = ()) -> dict[str, FlowToolCall]:
    """The built-in tools and yours, by name; a name taken twice is an error."""
    return build_table(FLOW_BUILTINS, user_tools)
