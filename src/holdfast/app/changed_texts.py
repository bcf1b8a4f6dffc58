"""What a call changed in files, as texts before and after: for surfaces that show it.

By the record that undo is made from, so it holds for every tool. What is no text, or too large to
be shown, is left out. Nothing is changed here, and no call is known but by its id.
"""

import os
from pathlib import Path

import msgspec

from holdfast.app import undo
from holdfast.envelope.redact import Redactor
from holdfast.execution.files import changes
from holdfast.execution.files.kept import DamagedRecord

MOST_BYTES = 256 * 1024


class ChangedText(msgspec.Struct, frozen=True, kw_only=True):
    """One file that a call changed."""

    path: str
    before: str | None
    """None: there was no file."""
    after: str | None
    """None: there is none any more."""

    def shown(self, redactor: Redactor) -> "ChangedText":
        """The same without known secrets."""
        if not redactor.active:
            return self
        before, after = (
            None if one is None else redactor.text(one) for one in (self.before, self.after)
        )
        return ChangedText(path=self.path, before=before, after=after)


def changed_texts(data_home: Path, session_id: str, call_id: str) -> tuple[ChangedText, ...]:
    """The files of a call, as far as both texts are known. Blocking; nothing is raised."""
    record = undo.changes_of(data_home, session_id)
    try:
        own = [one for one in record.load() if one.call_id == call_id]
    except (OSError, DamagedRecord):
        return ()
    first: dict[str, changes.Change] = {}
    last: dict[str, changes.Change] = {}
    for one in own:
        first.setdefault(one.path, one)
        last[one.path] = one
    found: list[ChangedText] = []
    for path, change in first.items():
        shown = _shown(record, path, change.before, last[path].after)
        if shown is not None:
            found.append(shown)
    return tuple(found)


def text_of_file(path: Path) -> str | None:
    """The text of a file; None: there is none, or it cannot be shown. Blocking."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return None


def _shown(
    record: "changes.Changes", path: str, before: "changes.State", after: "changes.State"
) -> ChangedText | None:
    if {before.kind, after.kind} - {"file", "absent"} or before.kind == after.kind == "absent":
        return None
    was = None if before.kind == "absent" else _kept(record, before.revision)
    now = None if after.kind == "absent" else text_of_file(Path(path))
    if (was is None) != (before.kind == "absent") or (now is None) != (after.kind == "absent"):
        return None
    return ChangedText(path=path, before=was, after=now)


def _kept(record: "changes.Changes", revision: str | None) -> str | None:
    if revision is None:
        return None
    try:
        with record.kept(revision) as handle:
            content = os.pread(handle, MOST_BYTES + 1, 0)
        return None if len(content) > MOST_BYTES else content.decode("utf-8")
    except (OSError, ValueError):  # DamagedRecord is one of these, too
        return None
