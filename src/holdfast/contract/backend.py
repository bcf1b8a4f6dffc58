"""What happens in a sandbox, as values: payloads a flow tool builds and results it gets back.

No payload is ever shown to a model.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec


class BackendTool(msgspec.Struct, frozen=True):
    """A description of one sandbox operation."""


class BackendToolCommandRun(BackendTool, frozen=True):
    """Run a command; text goes to a shell, a sequence does not."""

    cmd: str | Sequence[str]
    env: Mapping[str, str] | None = None
    cwd: str | None = None
    stdin: bytes | None = None
    timeout: float | None = None


class BackendToolFilesRead(BackendTool, frozen=True):
    """Read a file; without an encoding, as bytes."""

    path: str
    encoding: str | None = "utf-8"


class BackendToolFilesWrite(BackendTool, frozen=True):
    """Write a file."""

    path: str
    data: bytes | str
    mode: int = 0o644


class BackendToolFilesList(BackendTool, frozen=True):
    """List a directory."""

    path: str


class BackendToolFilesExists(BackendTool, frozen=True):
    """Ask whether a path exists; answered with a bare bool."""

    path: str


class BackendToolCodeRun(BackendTool, frozen=True):
    """Run a piece of code."""

    code: str
    language: str = "python"
    timeout: float | None = None


def text_in(content: bytes | str) -> str:
    """Bytes as text: UTF-8 if they are, otherwise every byte as the character it numbers."""
    if isinstance(content, str):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


class ToolResult(msgspec.Struct, frozen=True):
    """What a sandbox operation gave."""


class CommandResult(ToolResult, frozen=True):
    """How a command ended. A non-zero exit code is an ordinary result."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    elapsed_ms: float


class FileContent(ToolResult, frozen=True):
    """What a file holds, as text or bytes."""

    data: str | bytes


class FileEntry(msgspec.Struct, frozen=True):
    """One entry of a directory."""

    name: str
    path: str
    is_dir: bool


class FileEntries(ToolResult, frozen=True):
    """What a directory holds, sorted by name."""

    entries: tuple[FileEntry, ...]


class FileWriteResult(ToolResult, frozen=True):
    """How much was written."""

    bytes_written: int


class CodeResult(ToolResult, frozen=True):
    """What running code gave."""

    text: str | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None


BackendFailureKind = Literal[
    "sandbox_closed",
    "unsupported_tool",
    "timeout",
    "os_error",
    "unexpected",
    "file_not_found",
    "dispatch_error",
    "sandbox_sdk_error",
    "sdk_missing",
]


class ToolExecutionFailure(ToolResult, frozen=True):
    """A sandbox operation that failed, as a value."""

    kind: BackendFailureKind
    message: str
    detail: str | None = None
