"""Writing the files of a patch as one change: all of them, or every one as it was before."""

import posixpath
from collections.abc import Sequence
from contextlib import suppress

from holdfast.contract.errors import OperationFailed, ToolError
from holdfast.contract.files import Files
from holdfast.tools.patch.outcome import FileState, Step


def write_all(files: Files, steps: Sequence[Step]) -> None:
    """Do all of it. What fails is raised after what was done is taken back."""
    made = _missing_folders(files, steps)
    done: list[Step] = []
    try:
        for step in steps:
            _refuse_stale(files, step)
            done.append(step)
            _put(files, step.path, step.after, step.before)
    except BaseException as problem:
        _take_back(files, done, made, problem)
        raise


def _put(files: Files, path: str, after: FileState | None, before: FileState | None) -> None:
    if after is None:
        files.remove(path)
        return
    revision = None if before is None else before.revision
    files.write(path, after.content, mode=after.mode, new=before is None, revision=revision)


def _refuse_stale(files: Files, step: Step) -> None:
    """A removal asks for no revision, so it is looked at here."""
    if step.after is None and step.before is not None:
        now = files.read_text(step.path, encoding="latin-1").revision
        if now != step.before.revision:
            raise OperationFailed(
                f"{step.path} was changed meanwhile. Nothing was changed: read it again.",
                extras={"reason": "stale"},
            )


def _take_back(
    files: Files, done: Sequence[Step], made: Sequence[str], problem: BaseException
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


def _restore(files: Files, step: Step) -> None:
    """Back to what was there; the last step may not have happened at all."""
    before = step.before
    if before is None:
        if files.exists(step.path):
            files.remove(step.path)
        return
    if files.exists(step.path):
        now = files.stat(step.path)
        same = files.read_text(step.path, encoding="latin-1").revision == before.revision
        if same and now.mode == before.mode:
            return
    files.write(step.path, before.content, mode=before.mode)


def _missing_folders(files: Files, steps: Sequence[Step]) -> list[str]:
    """The directories that will be made, the deepest first."""
    found: dict[str, None] = {}
    for step in steps:
        above = posixpath.dirname(step.path)
        while step.after is not None and above and not files.exists(above):
            found[above] = None
            above = posixpath.dirname(above)
    return sorted(found, key=len, reverse=True)
