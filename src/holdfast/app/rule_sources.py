"""Where each rule of a profile stands: file and line, so that a refusal can be found again.

It changes tables that `keys` has checked. What a rule says is not looked at.
"""

from collections.abc import Iterator
from typing import cast

from holdfast.app.keys import Table
from holdfast.contract.late_pattern import late_pattern

_NAME = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[\w-]+))"""
_HEADING = late_pattern(rf"\s*\[\[\s*profile\s*\.\s*{_NAME}\s*\.\s*rules\s*\]\]")
_SOURCE = "source"


def name_sources(table: Table, origin: str, text: str = "") -> None:
    """Write into each rule where it stands."""
    headings = list(_headings(text))
    for profile, settings in cast("dict[str, Table]", table.get("profile", {})).items():
        rules = cast("list[Table]", settings.get("rules", []))
        lines = [line for name, line in headings if name == profile]
        for place, rule in enumerate(rules):
            known = len(lines) == len(rules)
            rule[_SOURCE] = f"{origin}:{lines[place]}" if known else f"{origin}: profile.{profile}"


def _headings(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.split("\n"), 1):
        found = _HEADING.match(line)
        if found is not None:
            yield found["double"] or found["single"] or found["bare"] or "", number
