"""The names users see. Adding or removing one is a decision, made here."""

import importlib

import pytest
from inline_snapshot import snapshot

import holdfast
import holdfast.flow


def test_the_top_level_names_are_pinned() -> None:
    assert sorted(holdfast.__all__) == snapshot(
        [
            "Abort",
            "Agent",
            "AgentSession",
            "Answer",
            "ApprovalDesk",
            "Ask",
            "Binary",
            "CallDelta",
            "ConfigurationError",
            "CustomRequest",
            "Envelope",
            "Event",
            "Failure",
            "FailureKind",
            "Holdfast",
            "Image",
            "Inquiry",
            "Inspection",
            "Limits",
            "ManifestRule",
            "ModelError",
            "ModelReply",
            "Opinion",
            "OutputBound",
            "PersonQuestion",
            "Progress",
            "Question",
            "ReasoningDelta",
            "Replies",
            "Rule",
            "RunLimits",
            "Runtime",
            "ScriptedModel",
            "Subagent",
            "TextDelta",
            "Tool",
            "ToolDefinitionError",
            "ToolEnvelope",
            "Visibility",
            "WakeEnd",
            "__version__",
            "answer_inquiry",
            "answer_question",
            "open_inquiries",
            "open_questions",
            "optional_string",
            "parse",
            "render",
            "require_arguments",
            "require_int",
            "require_path",
            "require_string",
            "require_string_array",
            "tool",
            "truncate_for_model",
        ]
    )


def test_every_promised_name_is_there() -> None:
    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'hodlfast'"):
        _ = getattr(holdfast, "hodlfast")  # noqa: B009 - the name must stay unknown to the checker


def test_dir_lists_exactly_the_public_names() -> None:
    assert dir(holdfast) == sorted(holdfast.__all__)


def test_the_flow_face_is_pinned() -> None:
    assert sorted(holdfast.flow.__all__) == snapshot(
        [
            "Agent",
            "AgentParam",
            "AskedCall",
            "AssistantChunk",
            "Backend",
            "BackendCapabilities",
            "BackendNotFound",
            "BackendSandbox",
            "BackendSandboxClosed",
            "BackendSandboxSpec",
            "BackendTool",
            "BackendToolCodeRun",
            "BackendToolCommandRun",
            "BackendToolFilesExists",
            "BackendToolFilesList",
            "BackendToolFilesRead",
            "BackendToolFilesWrite",
            "ChatModel",
            "Chunk",
            "ChunkTable",
            "CodeResult",
            "CommandResult",
            "Compressor",
            "Executor",
            "FileContent",
            "FileEntries",
            "FileEntry",
            "FileWriteResult",
            "FlowLog",
            "FlowLogError",
            "FlowSandbox",
            "FlowSession",
            "FlowToolCall",
            "Lineage",
            "LineageGraph",
            "LocalBackend",
            "LocalSettings",
            "LoopSession",
            "ModelReply",
            "ModelRequest",
            "ModelUsage",
            "OpenedSandbox",
            "ReadLog",
            "SandboxBinding",
            "SandboxTarget",
            "Session",
            "Stream",
            "StreamEvent",
            "StreamFuture",
            "SystemChunk",
            "TokenUsage",
            "ToolExecutionFailure",
            "ToolNameConflictError",
            "ToolResult",
            "ToolResultChunk",
            "Transcript",
            "UserChunk",
            "Workflow",
            "backend_is_available",
            "backend_names",
            "default_backend",
            "get_backend",
            "mcp_flow_tools",
            "open_sandbox",
            "preferred_backend",
            "read_flow_log",
            "register_backend",
            "run_session_compress",
            "run_session_compress_async",
            "run_session_loop",
            "run_session_loop_async",
            "serialize",
            "set_default_backend",
            "table_schemas",
            "tool_from_flow",
            "tool_table",
            "write_flow_log",
        ]
    )
    for name in holdfast.flow.__all__:
        assert hasattr(importlib.import_module("holdfast.flow"), name)
