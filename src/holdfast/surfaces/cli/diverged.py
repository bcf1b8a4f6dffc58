"""A divergence as people are shown it, without what is secret."""

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.record.divergence import Divergence
from holdfast.surfaces.cli.layout import laid_out
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.screen import Screen

_WIDTH = 90


def show_divergence(found: Divergence, heading: str, screen: Screen) -> None:
    """Which event it is, where in it, and what stands there."""
    look = screen.look
    look.heading(heading)
    fields = {
        "event": found.event_id,
        "kind": found.kind,
        "field": found.field,
        "before": _line(found.before),
        "after": _line(found.after),
        "says": found.says or "",
    }
    look.fields({name: printable(value) for name, value in fields.items() if value})


def _line(value: JsonValue | msgspec.UnsetType) -> str:
    if isinstance(value, msgspec.UnsetType):
        return "(nothing)"
    return value if isinstance(value, str) and value else laid_out(value, _WIDTH)
