"""A manifest that is watched: its tools as its file has them, read again when it changes.

Synchronous and without threads: whoever wants to know asks. An edit that breaks the file keeps the
last good tools, and says what is wrong.
"""

from pathlib import Path

from holdfast.contract.tool import Tool
from holdfast.sources import lint
from holdfast.sources.manifest.entries import Manifest, ManifestProblem
from holdfast.sources.manifest.presence import MissingProgram, missing_programs
from holdfast.sources.manifest.reading import Stamp, read_manifest, stamp_of
from holdfast.sources.manifest.tools import ManifestDefaults, manifest_tools


class ManifestSource:
    """The tools of one manifest. Nothing is read before somebody asks."""

    def __init__(self, path: Path, defaults: ManifestDefaults) -> None:
        self.path = path
        self._defaults = defaults
        self._read = False
        self._stamp: Stamp | None = None
        self._manifest: Manifest | None = None
        self._tools: tuple[Tool, ...] = ()
        self._problem: str | None = None

    def tools(self) -> tuple[Tool, ...]:
        """The tools as they were last read; of a file that never was good there are none."""
        if not self._read:
            self._load()
        return self._tools

    @property
    def problem(self) -> str | None:
        """What is wrong with the file as it was last read; None: nothing."""
        self.tools()
        return self._problem

    @property
    def warnings(self) -> tuple[str, ...]:
        """What some providers of models will refuse of its schemas."""
        return tuple(text for tool in self.tools() for text in lint.top_level_doubts(tool))

    def missing(self) -> tuple[MissingProgram, ...]:
        """Programs that cannot be run as things are now."""
        self.tools()
        return () if self._manifest is None else missing_programs(self._manifest.entries)

    def changed(self) -> bool:
        """Whether the tools or the problem are others than before; then they were read again."""
        if self._read and stamp_of(self.path) == self._stamp:
            return False
        before = self._manifest, self._problem
        self._load()
        return (self._manifest, self._problem) != before

    def _load(self) -> None:
        # Stamped before it is read: what is written meanwhile is seen the next time.
        self._stamp = stamp_of(self.path)
        self._read = True
        found = read_manifest(self.path)
        if isinstance(found, ManifestProblem):
            self._problem = found.text
            return
        made = manifest_tools(found, self._defaults)
        # What is declared as before stays the same tool: nobody has to look at it anew.
        known = () if self._manifest is None else self._manifest.entries
        before = {one.name: (one, tool) for one, tool in zip(known, self._tools, strict=True)}
        same_folder = self._manifest is not None and self._manifest.folder == found.folder
        self._tools = tuple(
            before[entry.name][1]
            if same_folder and entry.name in before and before[entry.name][0] == entry
            else tool
            for entry, tool in zip(found.entries, made, strict=True)
        )
        self._manifest, self._problem = found, None
