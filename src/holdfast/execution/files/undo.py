"""Taking changes back: newest first, and only where a path still holds what a call put there.

What somebody else changed since is named as a conflict and left alone, unless it is forced. Taking
back is a change like any other, recorded and to be taken back itself. Paths come from the records
alone and are opened without following links.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from typing import Literal

import msgspec

from holdfast.execution.files.changes import (
    ABSENT,
    Change,
    Changes,
    State,
    observed,
)
from holdfast.execution.files.kept import DamagedRecord, pieces_of
from holdfast.execution.files.mutations import (
    NewContent,
    make_folder,
    make_link,
    open_folder,
    remove_entry,
    write_file,
)
from holdfast.execution.files.opening import READABLE_FOLDER, NotAFile, Spot, standing
from holdfast.execution.files.placing import ASIDE
from holdfast.execution.files.recorder import UndoRecorder

_PERMISSIONS = 0o777
_WORDS: dict[int | None, str] = {
    errno.ELOOP: "a link has come into its path; it is not followed",
    errno.ENOTEMPTY: "it is not empty any more",
    errno.ENOTDIR: "a file is in the place of a directory above it",
    errno.ESTALE: "somebody changes it right now",
}


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one change that was to be taken back."""

    path: str
    call_id: str
    number: int
    outcome: Literal["restored", "already", "conflict"]
    """``already``: it is as it was before, or the change never happened."""
    reason: str | None = None
    """Of a conflict."""


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of one call, the newest first."""

    id: str
    tool: str
    at_ns: int
    changes: tuple[Change, ...]
    undone: bool
    """Whether all of them were taken back."""
    takes_back: bool
    """Whether the call was itself an undo."""


class Undo:
    """Takes the changes of one session back."""

    def __init__(self, changes: Changes, new_id: Callable[[], str]) -> None:
        self._changes = changes
        self._new_id = new_id

    def calls(self) -> tuple[RecordedCall, ...]:
        """Every call that changed something, the newest first."""
        return tuple(_calls(self._changes.load()))

    def restore(
        self, count: int | None = 1, *, force: bool = False, redo: bool = False
    ) -> tuple[Restored, ...]:
        """Take back the last calls that are still in effect; None: all of them.

        ``redo``: take back undos instead. Raises OSError or DamagedRecord where the records cannot
        be read; then nothing was changed.
        """
        with self._changes.alone():
            self._changes.tidy()
            known = self._without_cut_short(self._changes.load())
            effective = _in_effect(known)
            calls = [call for call in _calls(known) if call.takes_back is redo and not call.undone]
            wanted = {call.id for call in (calls if count is None else calls[:count])}
            call_id = self._new_id()
            return tuple(
                self._take_back(change, call_id, force=force)
                for change in reversed(known)
                if change.call_id in wanted and change.number in effective
            )

    def _without_cut_short(self, known: tuple[Change, ...]) -> tuple[Change, ...]:
        """Remove what ended processes left beside files, and an undo that never happened."""
        for change in known:
            with suppress(OSError):
                _remove_left_over(change)
        last = next((change for change in reversed(known) if change.undoes), None)
        if last is None or last.before.holds_the_same(last.after) or _is_followed(last, known):
            return known
        with suppress(OSError):
            if _now_at(last.path).holds_the_same(last.before):
                self._changes.withdraw(last)
                return tuple(change for change in known if change is not last)
        return known

    def _take_back(self, change: Change, call_id: str, *, force: bool) -> Restored:
        try:
            outcome = self._settled(change, call_id, force=force)
            reason = None if outcome != "conflict" else "somebody else changed it since"
        except NotAFile:
            outcome, reason = "conflict", "something that is no file is in its place"
        except (OSError, DamagedRecord) as problem:
            outcome, reason = "conflict", _worded(problem)
        return Restored(
            path=change.path,
            call_id=change.call_id,
            number=change.number,
            outcome=outcome,
            reason=reason,
        )

    def _settled(
        self, change: Change, call_id: str, *, force: bool
    ) -> Literal["restored", "already", "conflict"]:
        now = _now_at(change.path)
        as_before = now.holds_the_same(change.before)
        put_there = now.holds_the_same(change.after)
        if as_before and (not put_there or change.before.mode in (None, now.mode)):
            note = Change(
                call_id=call_id, path=change.path, before=now, after=now, undoes=change.number
            )
            self._changes.add(note)
            return "already"
        if not put_there and not force:
            return "conflict"
        self._put_back(change, now, call_id)
        return "restored"

    def _put_back(self, change: Change, now: State, call_id: str) -> None:
        on_the_way = UndoRecorder(self._changes, call_id, 0)
        recorder = UndoRecorder(self._changes, call_id, change.number)
        above, _, name = change.path.rpartition("/")
        folder = open_folder(above or "/", on_the_way)
        try:
            spot = Spot(folder, name, change.path)
            wanted = change.before
            if wanted == ABSENT:
                remove_entry(spot, recorder)
                return
            if now != ABSENT and not now.kind == wanted.kind == "file":
                remove_entry(spot, on_the_way)
            self._make(spot, wanted, recorder)
        finally:
            os.close(folder)

    def _make(self, spot: Spot, wanted: State, recorder: UndoRecorder) -> None:
        match wanted.kind:
            case "directory":
                os.close(make_folder(spot, recorder, wanted.mode))
            case "link":
                make_link(spot, wanted.target or "", recorder)
            case _:
                revision, mode = wanted.revision or "", wanted.mode
                mode = None if mode is None else mode & _PERMISSIONS
                with self._changes.kept(revision) as handle:
                    content = NewContent(pieces_of(handle), revision, mode)
                    write_file(spot, content, recorder)


def _is_followed(change: Change, known: Iterable[Change]) -> bool:
    return any(one.number > change.number and one.path == change.path for one in known)


def _now_at(path: str) -> State:
    try:
        with standing(path) as spot:
            return observed(spot)
    except FileNotFoundError:
        return ABSENT


def _remove_left_over(change: Change) -> None:
    if change.aside is not None and change.aside.startswith(ASIDE):
        with standing(change.path, READABLE_FOLDER) as spot:
            os.unlink(change.aside, dir_fd=spot.folder)


def _worded(problem: OSError | DamagedRecord) -> str:
    if isinstance(problem, DamagedRecord):
        return str(problem)
    return _WORDS.get(problem.errno) or (problem.strerror or str(problem))


def _in_effect(known: Iterable[Change]) -> frozenset[int]:
    """The numbers of changes that were not taken back, or were brought back again."""
    effective: set[int] = set()
    taken_back: set[int] = set()
    for change in sorted(known, key=lambda one: one.number, reverse=True):
        if change.number not in taken_back:
            effective.add(change.number)
            if change.undoes:
                taken_back.add(change.undoes)
    return frozenset(effective)


def _calls(known: tuple[Change, ...]) -> Iterator[RecordedCall]:
    effective = _in_effect(known)
    newest: dict[str, int] = {change.call_id: change.number for change in known}
    ordered = sorted(known, key=lambda one: (-newest[one.call_id], -one.number))
    for call_id, group in groupby(ordered, key=lambda one: one.call_id):
        changes = tuple(group)
        yield RecordedCall(
            id=call_id,
            tool=changes[0].tool,
            at_ns=changes[0].at_ns,
            changes=changes,
            undone=all(change.number not in effective for change in changes),
            takes_back=any(change.undoes is not None for change in changes),
        )
