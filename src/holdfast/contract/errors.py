"""What a tool body may raise, so that the failure says what happened.

Each class knows the kind of failure it stands for. Any other exception is an execution error.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonValue


class ToolError(Exception):
    """A failure a tool body reports by raising."""

    kind: ClassVar[FailureKind] = FailureKind.EXECUTION_ERROR
    retryable: ClassVar[bool | None] = None
    """None means: as the kind says."""

    # Here as well, for a subclass whose own __init__ does not call ours.
    field: str | None = None
    expected: str | None = None
    extras: Mapping[str, JsonValue] = MappingProxyType({})

    def __init__(
        self,
        message: str = "",
        *,
        field: str | None = None,
        expected: str | None = None,
        extras: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(message)
        self.field = field
        self.expected = expected
        self.extras = dict(extras or {})


class InvalidArguments(ToolError):
    """The arguments do not make sense together, or not here."""

    kind = FailureKind.INVALID_ARGS


class PathError(ToolError):
    """Something is wrong with the path a call names."""

    def __init__(
        self, message: str = "", *, field: str | None = "path", expected: str | None = None
    ) -> None:
        super().__init__(message, field=field, expected=expected)


class FileNotFound(PathError):
    """The file does not exist."""

    kind = FailureKind.NOT_FOUND


class DirectoryNotFound(PathError):
    """The directory does not exist."""

    kind = FailureKind.NOT_FOUND


class PathOutsideRoot(PathError):
    """The path leads out of the folders the tool works in."""

    kind = FailureKind.INVALID_ARGS

    def __init__(
        self,
        message: str = "",
        *,
        field: str | None = "path",
        expected: str | None = "a path inside the workspace, e.g. `notes/today.md`",
    ) -> None:
        super().__init__(message, field=field, expected=expected)


class OperationFailed(ToolError):
    """The work was tried and failed; trying again may help."""


class OperationTimedOut(ToolError):
    """The work was tried and took longer than it may."""

    kind = FailureKind.TIMEOUT


class BinaryFile(ToolError):
    """A text tool met binary content. The hint says which other way to take."""

    retryable = False

    def __init__(
        self,
        message: str = "",
        *,
        hint: str = "This content is not text. Use a tool made for its format, or ask for its size"
        " and type instead of its text.",
    ) -> None:
        super().__init__(message, extras={"hint": hint})


class UserDenied(ToolError):
    """A person refused."""

    kind = FailureKind.USER_DENIED


class PolicyDenied(ToolError):
    """Policy refused."""

    kind = FailureKind.REJECTED


class Unavailable(ToolError):
    """What the tool needs cannot be reached now."""

    kind = FailureKind.UNAVAILABLE


class MissingSystemPermission(Unavailable):
    """The operating system withholds something; retrying does not change that."""

    retryable = False


class SandboxNotRunning(Unavailable):
    """The sandbox is starting or gone."""


class SandboxIdleTimeout(ToolError):
    """A command said nothing for longer than it may."""

    kind = FailureKind.TIMEOUT


class Cancelled(ToolError):
    """The call was interrupted."""

    retryable = False
