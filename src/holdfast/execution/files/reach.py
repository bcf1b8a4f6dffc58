"""From a path as it is written to exactly what a gate admits, and no further.

A link that appears in an admitted path is not followed: the gate is asked again, and after a few
times it is a refusal. What is done with a path is not known here.
"""

import errno
import posixpath
from collections.abc import Callable
from typing import TypeVar

from holdfast.contract.errors import DirectoryNotFound, InvalidArguments, PolicyDenied, ToolError
from holdfast.contract.files import FileFacts
from holdfast.contract.gates import Access, PathGate, Refusal
from holdfast.contract.ports import PathView
from holdfast.execution.files.listing import entries_of, is_not_entered, shown_path
from holdfast.execution.files.troubles import stale, told, wrong_kind
from holdfast.execution.path_facts import DiskPaths

_TRIES = 8
_T = TypeVar("_T")
_PATHS = DiskPaths()

AGAIN = frozenset({errno.ELOOP, errno.ESTALE})
"""What is worth judging anew: a link has appeared, or somebody else was at it."""


class Reach:
    """What a gate admits of this machine's files."""

    def __init__(self, gate: PathGate, workspace: str | None) -> None:
        self._gate = gate
        self._workspace = workspace

    def shown(self, physical: str) -> str:
        """As a tool would write it."""
        return shown_path(physical, self._workspace)

    def judged(self, access: Access, path: str) -> str:
        """The physical path; PolicyDenied when the gate refuses."""
        judged = self._gate(access, path)
        if isinstance(judged, Refusal):
            extras = {"target": judged.target, "requirement": judged.requirement}
            raise PolicyDenied(judged.reason, extras=extras)
        return judged.path

    def judged_itself(self, access: Access, path: str) -> str:
        """The same for an entry itself: a link's own place, not where it leads.

        A gate tells where a link leads. Its place is judged by its text, which has no other link
        in it, so both have to be admitted.
        """
        leads_to = self.judged(access, path)
        above, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            return leads_to
        seen = _PATHS.look(above or ("/" if path.startswith("/") else "."), self._workspace)
        place = posixpath.join(seen.physical, name) if isinstance(seen, PathView) else leads_to
        if place != leads_to:
            self.judged(access, place)
        return place

    def act_on(
        self,
        judge: Callable[[Access, str], str],
        access: Access,
        path: str,
        act: Callable[[str], _T],
    ) -> _T:
        """Act on exactly what was admitted; judge again when that has changed meanwhile."""
        code = None
        for _ in range(_TRIES):
            physical = judge(access, path)
            try:
                return act(physical)
            except OSError as problem:
                code = problem.errno
                if code not in AGAIN:
                    raise told(problem, path) from problem
        if code == errno.ESTALE:
            raise stale(path)
        raise PolicyDenied(
            f"{path} is not opened: links appear in it meanwhile.",
            extras={"target": path, "requirement": None},
        )

    def entered(self, path: str) -> tuple[str, list[FileFacts]]:
        """A physical directory and its entries."""
        try:
            return self.act_on(
                self.judged, "read", path, lambda at: (at, entries_of(at, self._workspace))
            )
        except ToolError as problem:
            raise about_directory(problem, path) from problem.__cause__

    def entered_below(self, physical: str) -> list[FileFacts] | None:
        """The entries of a directory found on a walk; None when it is not to be entered."""
        judged = self._gate("read", physical)
        if isinstance(judged, Refusal) or judged.path != physical:
            return None
        try:
            return entries_of(physical, self._workspace)
        except OSError as problem:
            if is_not_entered(problem):
                return None
            raise told(problem, self.shown(physical)) from problem


def refuse_no_name(path: str) -> None:
    """Refuse to make a file where the path is written as a directory's."""
    if path.endswith("/"):
        raise InvalidArguments(
            f"{path} ends with a slash, as the path of a directory does.",
            field="path",
            expected="the path of a file",
        )


def about_directory(problem: ToolError, path: str) -> ToolError:
    """The same trouble where a directory was wanted."""
    match problem.__cause__:
        case FileNotFoundError():
            return DirectoryNotFound(f"There is no directory {path}.")
        case NotADirectoryError():
            return wrong_kind(path, 0, wanted="a directory")
        case _:
            return problem
