"""docs/reference/events.md: every kind of event with its fields."""

from holdfast.contract.event_kinds import KINDS, MAKES_RUNNABLE
from holdfast.contract.events import Payload
from reference_pages.shapes import fields_of, first_paragraph, kind_words, table


def page() -> str:
    """The whole page."""
    lines = [
        "# Every kind of event",
        "",
        "What a journal holds. How events are read and followed: [sessions](../sessions.md).",
        "Every event also has the fields that are told there; these are the fields of its kind.",
        "",
    ]
    groups: dict[str, list[type[Payload]]] = {}
    for kind in KINDS:
        groups.setdefault(_tag(kind).partition(".")[0], []).append(kind)
    for name, several in groups.items():
        lines += [f"## {name}", ""]
        for kind in several:
            lines += _kind(kind)
    return "\n".join(lines)


def _kind(kind: type[Payload]) -> list[str]:
    lines = [f"### `{_tag(kind)}`", "", first_paragraph(kind)]
    if kind in MAKES_RUNNABLE:
        lines[-1] += " While it waits, there is something to do for the session."
    lines += ["", f"Version {kind.VERSION}.", ""]
    rows = [
        (f"`{one.name}`", kind_words(one.kind), one.default, one.says) for one in fields_of(kind)
    ]
    return lines + (table(("field", "type", "default", "meaning"), rows) if rows else [])


def _tag(kind: type[Payload]) -> str:
    return str(kind.__struct_config__.tag)
