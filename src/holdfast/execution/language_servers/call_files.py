"""Files as one call reads them to show places in them: lines as people see them, each file once.

Within the call's reach; what may not be read has no lines. Servers are not known here.
"""

from contextlib import suppress

from holdfast.contract.errors import Cancelled, ToolError
from holdfast.contract.language_servers import Spot
from holdfast.contract.paths import is_within
from holdfast.contract.runtime import Runtime
from holdfast.execution.language_servers.answers import Range, RawSpot, path_of
from holdfast.execution.language_servers.positions import (
    PositionEncoding,
    column_at,
    lines_of,
)

LARGEST_DOCUMENT = 4 * 1024 * 1024
LONGEST_LINE = 300
_MOST_READ = 100
"""So many files are opened to show lines of them."""


class CallFiles:
    """The files of one call."""

    def __init__(self, runtime: Runtime, workspace: str) -> None:
        self._runtime = runtime
        self._workspace = workspace
        self._lines: dict[str, list[str] | None] = {}

    def know(self, path: str, text: str) -> list[str]:
        """A file was read; gives its lines."""
        lines = self._lines[path] = lines_of(text)
        return lines

    def spot(self, raw: RawSpot, encoding: PositionEncoding) -> Spot:
        """A place as people count, with its line."""
        path = path_of(raw.uri)
        place = raw.range
        lines = None if path is None else self._lines_of(path)
        return Spot(
            path=raw.uri if path is None else self._shown(path),
            line=place.line + 1,
            column=_column(lines, place.line, place.units, encoding),
            end_line=place.end_line + 1,
            end_column=_column(lines, place.end_line, place.end_units, encoding),
            text=_text(lines, place),
        )

    def _lines_of(self, path: str) -> list[str] | None:
        self.go_on()
        if path not in self._lines:
            found: list[str] | None = None
            if len(self._lines) < _MOST_READ:
                with suppress(ToolError):
                    found = self._read_lines(path)
            self._lines[path] = found
        return self._lines[path]

    def _read_lines(self, path: str) -> list[str] | None:
        if self._runtime.fs.stat(path).byte_count > LARGEST_DOCUMENT:
            return None
        return lines_of(self._runtime.fs.read_text(path).text)

    def _shown(self, path: str) -> str:
        workspace = self._workspace
        if not is_within(path, workspace):
            return path
        return path[len(workspace.rstrip("/")) + 1 :] or "."

    def go_on(self) -> None:
        """Raise Cancelled once the call is not wanted any more."""
        if self._runtime.abort.aborted:
            raise Cancelled("The call was interrupted.")


def _column(lines: list[str] | None, line: int, units: int, encoding: PositionEncoding) -> int:
    """As people count; where the line is not known, the server's units have to do."""
    if lines is None or line >= len(lines):
        return units + 1
    return column_at(lines[line], units, encoding)


def _text(lines: list[str] | None, place: Range) -> str | None:
    if lines is None or place.line >= len(lines):
        return None
    return lines[place.line][:LONGEST_LINE]
