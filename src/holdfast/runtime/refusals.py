"""The failures the pipeline itself has to word."""

from holdfast.contract.builders import failure_of
from holdfast.contract.failure import Failure, FailureKind

MAX_NAME_CHARACTERS = 200
"""How much of a tool's name an answer repeats; models have been seen to send whole pages."""


def not_ours(name: str) -> Failure:
    """The failure of a call that only the application can fulfil."""
    return failure_of(
        FailureKind.UNAVAILABLE,
        f"Tool '{name}' is fulfilled by the application, and nobody is waiting to fulfil it here.",
        retryable=False,
    )


def unknown_tool(name: str) -> Failure:
    """The failure of a call to nothing. It never lists other names: models would try them."""
    shown = name[:MAX_NAME_CHARACTERS]
    return failure_of(FailureKind.TOOL_NOT_FOUND, f"There is no tool named '{shown}'.")


def waits_for_a_person(name: str) -> Failure:
    """The failure of a call that is not over: whoever asked for it cannot wait for a person."""
    return failure_of(
        FailureKind.UNAVAILABLE,
        f"Tool '{name}' waits for a person's answer; it is ended once there is one.",
        retryable=False,
    )
