"""`repo_overview`: the shape of a repository at a glance, and honestly what was left out of it."""

from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Annotated

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import Cancelled, ToolError
from holdfast.contract.files import FileFacts
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.source_folders import NOT_SOURCE
from holdfast.contract.tool import Limits
from holdfast.tools.code import ignore_rules, overview_tree
from holdfast.tools.code.languages import MarkerKind, language_of, marker_of

MOST_ENTRIES = 150_000
MOST_SECONDS = 30.0
_MOST_MARKERS = 60
_MARKERS_DOWN_TO = 4
_IGNORE_FILE = ".gitignore"
_LONGEST_IGNORE_FILE = 256 * 1024
_MOST_RULES = 20_000
"""Of all ignore files together: they stay in memory while directories wait."""
_PROGRESS_EVERY = 5_000


class Language(msgspec.Struct, frozen=True):
    """How much of the repository is in a language."""

    name: str
    files: int
    bytes: int


class Marker(msgspec.Struct, frozen=True):
    """A file that tells how the project is built, begun or read."""

    path: str
    kind: MarkerKind


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """What the numbers above do not contain, or the tree does not show."""

    ignored: int
    """Files and directories that a .gitignore names; none of the latter was entered."""
    not_source: int
    """Directories such as .git, node_modules, build and caches; none was entered."""
    binary: int
    """Files that are binary by their name: in no language."""
    links: int
    """Links and special files; none was followed."""
    unreadable: int
    """Directories that may not be read."""
    over_limit: int
    """Directories, and entries of such, that were not looked at any more."""
    too_deep: int
    """Files and directories counted above, and below the depth that the tree shows."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A repository."""

    path: str
    file_count: int
    directory_count: int
    byte_count: int
    complete: bool
    """Whether nothing was over the limit: otherwise the counts are of the part that was seen."""
    languages: tuple[Language, ...]
    markers: tuple[Marker, ...]
    skipped: Skipped
    tree: str


@builtin(
    requires={"fs": {"read": ["**"]}},
    uses={"path": "fs.read"},
    read_only=True,
    effects=("resource_read",),
    acp_kind="search",
    interrupt_behavior="cancel",
    parallel_safe=True,
    limits=Limits(wall_seconds=60.0),
)
def repo_overview(
    rt: Runtime, path: str = ".", depth: Annotated[int, msgspec.Meta(ge=1, le=8)] = 3
) -> Overview:
    """Show what a repository consists of: a tree, languages by files and bytes, entry points.

    What .gitignore files name and directories such as .git, node_modules and build are not entered,
    and counted. Example: {"path": "src", "depth": 2}

    Args:
        path: The directory to begin at.
        depth: How many levels the tree shows; everything is counted, however deep.
    """
    walk = _Walk(rt)
    walk.look(path)
    shown = overview_tree.tree_of(walk.top, depth)
    counts = walk.skipped
    sizes = walk.bytes_by_language
    languages = sorted(sizes, key=lambda name: (-sizes[name], name))
    return Overview(
        path=path,
        file_count=walk.top.files,
        directory_count=walk.top.directories,
        byte_count=walk.byte_count,
        complete=not counts["over_limit"],
        languages=tuple(
            Language(name, walk.files_by_language[name], sizes[name]) for name in languages
        ),
        markers=tuple(walk.markers[:_MOST_MARKERS]),
        skipped=Skipped(
            ignored=counts["ignored"],
            not_source=counts["not_source"],
            binary=counts["binary"],
            links=counts["links"],
            unreadable=counts["unreadable"],
            over_limit=counts["over_limit"],
            too_deep=shown.too_deep,
        ),
        tree=shown.text,
    )


class _Waiting(msgspec.Struct, frozen=True):
    """A directory to be looked into."""

    path: str
    """As a tool writes it."""
    below: str
    """The same, from the top of the walk; empty: the top."""
    folder: "overview_tree.Folder"
    layers: "tuple[tuple[str, Sequence[ignore_rules.IgnoreRule]], ...]"


class _Walk:
    """Level by level, so that what is over the limit is what lies deepest."""

    def __init__(self, rt: Runtime) -> None:
        self._rt = rt
        self._seen = 0
        self._rules = 0
        self._until = monotonic() + MOST_SECONDS
        self.top = overview_tree.Folder("")
        self.byte_count = 0
        self.files_by_language: Counter[str] = Counter()
        self.bytes_by_language: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.markers: list[Marker] = []

    def look(self, path: str) -> None:
        """Look at everything below; raises what `rt.fs` does for a directory that is none."""
        waiting = deque([_Waiting(path, "", self.top, ())])
        first = self._rt.fs.list(path)
        while waiting:
            one = waiting.popleft()
            if self._is_over():
                self.skipped["over_limit"] += 1
                continue
            if one.folder is self.top:
                entries = first
            else:
                try:
                    entries = self._rt.fs.list(one.path)
                except ToolError:
                    self.skipped["unreadable"] += 1
                    continue
            waiting.extend(self._directories(one, entries))

    def _directories(self, one: _Waiting, entries: Sequence[FileFacts]) -> list[_Waiting]:
        """Count the entries of a directory, and give those that are to be looked into."""
        layers = self._layers(one, entries)
        found: list[_Waiting] = []
        for entry in entries:
            self._go_on()
            if self._is_over():
                self.skipped["over_limit"] += 1
                continue
            self._seen += 1
            below = f"{one.below}/{entry.name}" if one.below else entry.name
            is_directory = entry.kind == "directory"
            if is_directory and entry.name in NOT_SOURCE:
                self.skipped["not_source"] += 1
            elif (said := self._ignored_by(layers, below, is_directory=is_directory)) is not None:
                self.skipped[said] += 1
            elif is_directory:
                folder = one.folder.add(entry.name)
                found.append(_Waiting(entry.path, below, folder, layers))
            elif entry.kind == "file":
                self._count(entry, below)
                one.folder.file(entry.name)
            else:
                self.skipped["links"] += 1
        return found

    def _ignored_by(
        self,
        layers: "tuple[tuple[str, Sequence[ignore_rules.IgnoreRule]], ...]",
        path: str,
        *,
        is_directory: bool,
    ) -> str | None:
        """Why an entry is skipped for its rules; None: it is not."""
        try:
            found = ignore_rules.ignored(
                layers, path, is_directory=is_directory, go_on=self._may_go_on
            )
        except ignore_rules.GivenUp:
            return "over_limit"
        return "ignored" if found else None

    def _may_go_on(self) -> bool:
        """Asked between two rules: a stranger's file may have many slow ones."""
        if self._rt.abort.aborted:
            raise Cancelled("The call was interrupted.")
        return monotonic() <= self._until

    def _layers(
        self, one: _Waiting, entries: Sequence[FileFacts]
    ) -> "tuple[tuple[str, Sequence[ignore_rules.IgnoreRule]], ...]":
        """The rules that count here, those of this directory first."""
        for entry in entries:
            small = entry.byte_count <= _LONGEST_IGNORE_FILE
            if entry.name == _IGNORE_FILE and entry.kind == "file" and small:
                if self._rules >= _MOST_RULES:
                    self.skipped["over_limit"] += 1
                    return one.layers
                with suppress(ToolError):
                    rules = ignore_rules.read_rules(self._rt.fs.read_text(entry.path).text)
                    self._rules += len(rules)
                    return ((one.below, rules), *one.layers)
        return one.layers

    def _count(self, entry: FileFacts, below: str) -> None:
        self.byte_count += entry.byte_count
        language = language_of(entry.name)
        if language is None:
            self.skipped["binary"] += 1
        else:
            self.files_by_language[language] += 1
            self.bytes_by_language[language] += entry.byte_count
        kind = marker_of(below)
        if kind is not None and below.count("/") < _MARKERS_DOWN_TO:
            self.markers.append(Marker(entry.path, kind))

    def _is_over(self) -> bool:
        return self._seen >= MOST_ENTRIES or monotonic() > self._until

    def _go_on(self) -> None:
        if self._rt.abort.aborted:
            raise Cancelled("The call was interrupted.")
        if self._seen and self._seen % _PROGRESS_EVERY == 0:
            self._rt.progress(Progress(message=f"{self._seen:,} entries", done=self._seen))
