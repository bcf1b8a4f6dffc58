"""A conversation as a model may be shown it: what was said, and calls that have their answer."""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.contract.archive import Message, Part

_ANSWERED = frozenset({"output-available", "output-error", "output-denied"})
_SHOWN = ("text", "file")


def model_view(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Without reasoning, unanswered calls and what only people see; nothing is left of a message
    that says nothing else."""
    kept = (
        replace(message, parts=tuple(part for part in message.parts if _is_shown(part)))
        for message in messages
    )
    return tuple(message for message in kept if message.parts)


def _is_shown(part: Part) -> bool:
    if part.tool_call_id is not None:
        return part.tool_state in _ANSWERED
    return part.type in _SHOWN
