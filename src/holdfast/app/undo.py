"""Where a session's changes are kept, and taking them back: what the library and the command share.

Which files a running call may change is not known here: a person takes back what a record of
holdfast's own says, and nothing else.
"""

from pathlib import Path

from holdfast.contract.ports import Clock
from holdfast.execution.files import changes, undo
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

LAST = "last"
"""Stands for the newest session that changed anything."""

_SESSIONS = "sessions"
_CHANGES = "changes"


class NoSuchSession(LookupError):
    """No session of that name changed anything, or several could be meant."""


def changes_of(
    data_home: Path, session_id: str, clock: Clock | None = None, *, quota: int | None = None
) -> "changes.Changes":
    """The changes of a session, whether or not there are any yet."""
    folder = data_home / _SESSIONS / session_id / _CHANGES
    most = changes.DEFAULT_QUOTA if quota is None else quota
    return changes.Changes(folder, (clock or SystemClock()).unix_ns, quota=most)


def sessions_with_changes(data_home: Path) -> tuple[str, ...]:
    """The sessions that changed anything, the newest first."""
    try:
        found = [
            entry.name
            for entry in (data_home / _SESSIONS).iterdir()
            if (entry / _CHANGES).is_dir() and not entry.is_symlink()
        ]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return tuple(sorted(found, reverse=True))


def session_called(data_home: Path, name: str) -> str:
    """The session whose id begins so, or the last one; raises NoSuchSession."""
    known = sessions_with_changes(data_home)
    if name == LAST and known:
        return known[0]
    meant = [one for one in known if one == name] or [one for one in known if one.startswith(name)]
    if len(meant) == 1 and name:
        return meant[0]
    if len(meant) > 1:
        raise NoSuchSession(f"{name!r} could be any of {len(meant)} sessions; give more of the id")
    raise NoSuchSession(f"no session {name!r} has changed anything; see holdfast undo --list")


def undo_of(data_home: Path, session_id: str) -> "undo.Undo":
    """Takes the changes of a session back."""
    clock = SystemClock()
    ids = TimeIds(clock)
    return undo.Undo(changes_of(data_home, session_id, clock), lambda: ids.new("cal"))
