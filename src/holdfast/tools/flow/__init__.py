"""The built-in tools of a flow session: each turns its arguments into one sandbox payload."""

from collections.abc import Mapping
from types import MappingProxyType

from holdfast.contract.flow import FlowToolCall
from holdfast.tools.flow.files import (
    ListWorkspaceFiles,
    ReadWorkspaceFile,
    WorkspacePathExists,
    WriteWorkspaceFile,
)
from holdfast.tools.flow.run_code import RunCode
from holdfast.tools.flow.shell import RunShellCommand

FLOW_BUILTINS: Mapping[str, FlowToolCall] = MappingProxyType(
    {
        tool.name: tool
        for tool in (
            RunShellCommand(),
            WriteWorkspaceFile(),
            ReadWorkspaceFile(),
            ListWorkspaceFiles(),
            WorkspacePathExists(),
            RunCode(),
        )
    }
)
"""By name; the mapping itself cannot be changed."""
