"""The port that tools search with: bound to one call, over ripgrep."""

from holdfast.contract.search import FoundLines, FoundPaths, LineQuery, PathQuery
from holdfast.execution.processes.views import View
from holdfast.execution.search.lines import find_lines
from holdfast.execution.search.paths import find_paths


class RipgrepSearch:
    """Searches what one call may read."""

    def __init__(self, view: View, *, skips: bool) -> None:
        """``skips``: where no path is named, what is usually left out is left out."""
        self._view = view
        self._skips = skips

    async def lines(self, wanted: LineQuery, /) -> FoundLines:
        """Every line that matches."""
        return await find_lines(self._view, wanted, skips=self._skips)

    async def paths(self, wanted: PathQuery, /) -> FoundPaths:
        """Every path below a directory that fits a pattern."""
        return await find_paths(self._view, wanted, skips=self._skips)
