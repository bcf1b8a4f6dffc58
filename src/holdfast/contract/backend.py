"""What happens in a sandbox: payloads, results, and the backends that turn one into the other.

No payload is ever shown to a model. How a backend runs one is not known here.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from holdfast.contract.errors import SandboxNotRunning, Unavailable


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


class PathFailure(ToolExecutionFailure, frozen=True):
    """A path that leads out of the sandbox, or to nothing: an argument of the call is at fault."""

    field: str = "path"
    missing: bool = False


class BackendSandboxSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a sandbox shall be like. A backend ignores what does not apply to it."""

    image: str | None = None
    entrypoint: tuple[str, ...] | None = None
    env: Mapping[str, str] | None = None
    """For every command, below a command's own."""
    timeout: float | None = None
    """Seconds that the sandbox may live, where somebody else ends it."""
    working_dir: str | None = None
    """Where relative paths begin; None: a directory that ends with the sandbox."""


NO_SPEC = BackendSandboxSpec()

IsolationLevel = Literal["process", "container", "microvm", "vm"]


class BackendCapabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a backend can do."""

    isolation: IsolationLevel
    """What is promised on every machine; a backend may give more."""
    supports_command: bool = True
    supports_filesystem: bool = True
    supports_code: bool = True
    cold_start_ms_p50: float | None = None
    max_sandboxes: int | None = None


class OpenedSandbox(Protocol):
    """One sandbox of a backend, from its opening to its close. Safe to use from any thread."""

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        """Run one operation. Trouble is a value; nothing is raised."""
        ...

    def close(self) -> None:
        """End it and all that runs in it; called once."""
        ...


class Backend(Protocol):
    """A kind of place where payloads run."""

    @property
    def name(self) -> str:
        """What it is registered as."""
        ...

    @property
    def capabilities(self) -> BackendCapabilities:
        """What it can do."""
        ...

    @property
    def accepted(self) -> frozenset[type[BackendTool]]:
        """The payloads it runs; others answer unsupported_tool."""
        ...

    def why_unavailable(self) -> str | None:
        """Why it cannot be used here; None when nothing speaks against it. Cheap to ask."""
        ...

    def open(self, spec: BackendSandboxSpec, /) -> OpenedSandbox | ToolExecutionFailure:
        """Open a sandbox. Trouble is a value; nothing is raised."""
        ...


class BackendNotFound(Unavailable, LookupError):
    """There is no backend of that name."""


class BackendSandboxClosed(SandboxNotRunning, RuntimeError):
    """The handle was closed, and is used all the same."""


class SandboxMissing(Unavailable, RuntimeError):
    """The session has no sandbox to run on."""
