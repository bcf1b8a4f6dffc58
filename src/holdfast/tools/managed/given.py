"""Arguments of the managed tools as they count: text without the blanks around it."""

from holdfast.contract.errors import InvalidArguments


def required(tool: str, field: str, text: str) -> str:
    """A text that has to say something."""
    said = text.strip()
    if not said:
        raise InvalidArguments(f"{tool} requires a non-empty {field}", field=field)
    return said


def optional(text: str | None) -> str | None:
    """A text that need not be there; blanks say nothing."""
    return (text or "").strip() or None
