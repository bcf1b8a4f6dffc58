"""What a tool body raised, as a failure. No exception leaves the runtime any other way."""

import errno

from holdfast.contract.builders import failure_of
from holdfast.contract.errors import Cancelled, ToolError
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import text_of

_UNREACHABLE = frozenset({errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH})


def failure_from(error: BaseException, *, tool: str | None = None) -> Failure:
    """Map a raised error to one of the eight kinds."""
    match error:
        case Cancelled():
            return cancelled(tool)
        case ToolError():
            return _told(error)
        case FileNotFoundError():
            return failure_of(FailureKind.NOT_FOUND, _message(error), field="path")
        case OSError() if isinstance(error, ConnectionError) or error.errno in _UNREACHABLE:
            return failure_of(FailureKind.UNAVAILABLE, _message(error))
        case _:
            return failure_of(FailureKind.EXECUTION_ERROR, _message(error))


def _told(error: ToolError) -> Failure:
    try:
        return failure_of(
            error.kind,
            _message(error),
            field=error.field,
            expected=error.expected,
            retryable=error.retryable,
            extras=error.extras,
        )
    except (AttributeError, TypeError, ValueError):
        # A subclass gave itself a kind that does not exist, or extras that are no mapping.
        return failure_of(FailureKind.EXECUTION_ERROR, _message(error))


def cancelled(tool: str | None) -> Failure:
    """The failure of a call that was interrupted."""
    return failure_of(
        FailureKind.EXECUTION_ERROR, f"Tool '{tool or 'unknown'}' was cancelled.", retryable=False
    )


def timed_out(tool: str, seconds: float) -> Failure:
    """The failure of a call that ran past its budget."""
    return failure_of(
        FailureKind.TIMEOUT, f"Tool '{tool}' exceeded the {seconds:g}s execution budget."
    )


def _message(error: BaseException) -> str:
    text = text_of(error)
    if isinstance(error, KeyError):
        # str() of a KeyError is the bare key, which tells a model nothing.
        return f"KeyError: {text}"
    return text or type(error).__name__
