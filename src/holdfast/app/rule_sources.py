"""Where each rule of a profile or agent stands: file and line, so that it can be found again.

It changes tables that `keys` has checked. What a rule says is not looked at.
"""

from collections.abc import Iterator
from typing import cast

from holdfast.app.keys import Table
from holdfast.contract.late_pattern import late_pattern

_NAME = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[\w-]+))"""
_KINDS = ("profile", "agent")
_HEADING = late_pattern(rf"\s*\[\[\s*(?P<kind>profile|agent)\s*\.\s*{_NAME}\s*\.\s*rules\s*\]\]")
_SOURCE = "source"


def name_sources(table: Table, origin: str, text: str = "") -> None:
    """Write into each rule where it stands."""
    headings = list(_headings(text))
    for kind in _KINDS:
        for name, settings in cast("dict[str, Table]", table.get(kind, {})).items():
            rules = cast("list[Table]", settings.get("rules", []))
            lines = [line for whose, line in headings if whose == (kind, name)]
            for place, rule in enumerate(rules):
                known = len(lines) == len(rules)
                rule[_SOURCE] = f"{origin}:{lines[place]}" if known else f"{origin}: {kind}.{name}"


def _headings(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    for number, line in enumerate(text.split("\n"), 1):
        found = _HEADING.match(line)
        if found is not None:
            name = found["double"] or found["single"] or found["bare"] or ""
            yield (found["kind"], name), number
