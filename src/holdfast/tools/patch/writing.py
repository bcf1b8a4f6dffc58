"""Writing the files of a patch as one change: all of them, or every one as it was before.

What somebody else did to a file meanwhile is theirs: it is neither overwritten nor taken back.
"""

import posixpath
from collections.abc import Sequence
from contextlib import suppress

from holdfast.contract.errors import (
    FileNotFound,
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
    ToolError,
)
from holdfast.contract.files import Files
from holdfast.tools.patch import outcome

_UNTOUCHED = ("stale", "exists")
"""Reasons for which a file is left as somebody else made it."""


def write_all(files: Files, steps: "Sequence[outcome.Step]") -> None:
    """Do all of it. What fails is raised after what was done is taken back."""
    made = _missing_folders(files, steps)
    done: list[outcome.Step] = []
    try:
        for step in steps:
            _do(files, step, done)
    except BaseException as problem:
        _take_back(files, done, made, problem)
        raise
    _remove_emptied(files, steps)


def _do(files: Files, step: "outcome.Step", done: "list[outcome.Step]") -> None:
    """One step. A fault of the system may come behind the change itself: then it counts as done."""
    _refuse_stale(files, step)
    try:
        _put(files, step.path, step.after, step.before)
    except BaseException as problem:
        if not _is_untouched(problem):
            done.append(step)
        raise
    done.append(step)


def _is_untouched(problem: BaseException) -> bool:
    """Whether a change was refused for what is there, and never happened."""
    told = isinstance(problem, ToolError) and problem.extras.get("reason") in _UNTOUCHED
    return told or isinstance(problem, FileNotFound | InvalidArguments | PolicyDenied)


def _put(
    files: Files, path: str, after: "outcome.FileState | None", before: "outcome.FileState | None"
) -> None:
    if after is None:
        files.remove(path)
        return
    revision = None if before is None else before.revision
    files.write(path, after.content, mode=after.mode, new=before is None, revision=revision)


def _refuse_stale(files: Files, step: "outcome.Step") -> None:
    """A removal asks for no revision, so it is looked at here."""
    if step.after is None and step.before is not None:
        now = files.read_text(step.path, encoding="latin-1").revision
        if now != step.before.revision:
            raise OperationFailed(
                f"{step.path} was changed meanwhile. Nothing was changed: read it again.",
                extras={"reason": "stale"},
            )


def _take_back(
    files: Files, done: "Sequence[outcome.Step]", made: Sequence[str], problem: BaseException
) -> None:
    lost: list[str] = []
    for step in reversed(done):
        try:
            _restore(files, step)
        except ToolError as trouble:
            lost.append(f"{step.path} ({trouble})")
    for folder in made:
        with suppress(ToolError):
            files.remove(folder)
    if lost:
        raise OperationFailed(
            f"The patch failed ({problem}), and not everything could be put back:"
            f" {'; '.join(lost)}. `holdfast undo` knows what was there.",
            extras={"reason": "partial"},
        ) from problem


def _restore(files: Files, step: "outcome.Step") -> None:
    """Back to what was there, unless somebody else was at it since."""
    now = _now(files, step.path)
    if _holds(now, step.before):
        return
    if not _holds(now, step.after):
        raise OperationFailed("somebody else changed it since; it is left as it is now")
    if step.before is None:
        files.remove(step.path)
        return
    revision = None if now is None else now.revision
    before = step.before
    files.write(step.path, before.content, mode=before.mode, new=now is None, revision=revision)


def _now(files: Files, path: str) -> "outcome.FileState | None":
    if not files.exists(path):
        return None
    found = files.read_text(path, encoding="latin-1")
    return outcome.FileState(found.text.encode("latin-1"), files.stat(path).mode, found.revision)


def _holds(now: "outcome.FileState | None", wanted: "outcome.FileState | None") -> bool:
    if now is None or wanted is None:
        return now is wanted
    return now.content == wanted.content and wanted.mode in (None, now.mode)


def _missing_folders(files: Files, steps: "Sequence[outcome.Step]") -> list[str]:
    """The directories that will be made, the deepest first."""
    found: dict[str, None] = {}
    for step in steps:
        above = posixpath.dirname(step.path)
        while step.after is not None and above and not files.exists(above):
            found[above] = None
            above = posixpath.dirname(above)
    return sorted(found, key=len, reverse=True)


def _remove_emptied(files: Files, steps: "Sequence[outcome.Step]") -> None:
    """Remove directories that are left without entries, as git does; last, so that none is missed
    when a patch is taken back. One that may not be removed stays.
    """
    for step in steps:
        folder = posixpath.dirname(step.path) if step.after is None else ""
        with suppress(ToolError):
            while folder.strip("/") and files.stat(folder).path == folder:
                files.remove(folder)
                folder = posixpath.dirname(folder)
