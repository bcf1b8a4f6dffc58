"""The failures the pipeline itself has to word."""

from holdfast.contract.builders import failure_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonValue

MAX_NAME_CHARACTERS = 200
"""How much of a tool's name an answer repeats; models have been seen to send whole pages."""


def refusal(kind: FailureKind, reason: str, **told: str | None) -> Failure:
    """The failure of a call that may not run, with what is known beside the reason.

    ``why``: what a person would have been asked. ``note``: what the person who refused it says to
    the model; a refusal that has one is for the model to go on from.
    """
    extras: dict[str, JsonValue] = {name: text for name, text in told.items() if text}
    return failure_of(kind, reason, extras=extras)


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
