"""How a call can fail: eight kinds, a closed set, and what each says about retrying."""

from enum import StrEnum

import msgspec

from holdfast.contract.json_value import JsonValue


class FailureKind(StrEnum):
    """Why a call failed. The set is closed; a model, a loop and a surface can branch on it."""

    INVALID_ARGS = "invalid_args"
    """An argument is missing, malformed or does not fit the scope."""
    REJECTED = "rejected"
    """Configured policy blocked the call."""
    USER_DENIED = "user_denied"
    """A person refused an interactive approval."""
    TIMEOUT = "timeout"
    """The tool ran past its time budget."""
    EXECUTION_ERROR = "execution_error"
    """The tool ran and failed."""
    NOT_FOUND = "not_found"
    """A file or directory the call refers to does not exist."""
    UNAVAILABLE = "unavailable"
    """The tool exists but cannot run at the moment."""
    TOOL_NOT_FOUND = "tool_not_found"
    """The call names a tool the catalog does not hold."""

    @property
    def retryable(self) -> bool:
        """Whether a retry might succeed, unless the failure itself says otherwise."""
        return self in _RETRYABLE


_RETRYABLE = frozenset(
    {
        FailureKind.INVALID_ARGS,
        FailureKind.TIMEOUT,
        FailureKind.EXECUTION_ERROR,
        FailureKind.UNAVAILABLE,
    }
)


class Failure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What went wrong, for a person and a model to act on."""

    kind: FailureKind
    message: str
    retryable: bool
    field: str | None = None
    """The offending argument, as a path: ``o.k`` or ``xs[1].k``."""
    expected: str | None = None
    """By example, what the argument should look like."""
    extras: dict[str, JsonValue] = {}
    """Further diagnostics. They never shadow one of the keys of an envelope."""
