"""Text arguments as the managed tools take them: trimmed, and blank counts as missing."""

from holdfast.contract.errors import InvalidArguments


def trimmed(text: str | None) -> str | None:
    """The text without spaces around it; None: there is none."""
    return (text or "").strip() or None


def needed(tool: str, field: str, text: str) -> str:
    """The same for one that has to be there; InvalidArguments."""
    found = text.strip()
    if not found:
        raise InvalidArguments(f"{tool} requires a non-empty {field}", field=field)
    return found
