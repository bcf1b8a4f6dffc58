"""Where a session's changes are kept, and taking them back: what the library and the command share.

Which files a running call may change is not known here: a person takes back what a record of
holdfast's own says, and nothing else.
"""

from pathlib import Path

from holdfast.contract.ports import Clock
from holdfast.execution.files import changes, undo
from holdfast.execution.files.kept import DamagedRecord
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

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


def last_changed_below(data_home: Path, folder: Path) -> str | None:
    """The newest session that changed something in a folder; for where no store knows them.

    One whose record cannot be read may be it: whoever looks closer is told why.
    """
    for session in sessions_with_changes(data_home):
        try:
            calls = undo_of(data_home, session).calls()
        except (OSError, DamagedRecord):
            return session
        changed = (change.path for call in calls for change in call.changes)
        if any(Path(path).is_relative_to(folder) for path in changed):
            return session
    return None


def session_called(data_home: Path, name: str) -> str:
    """The session whose id begins so; raises NoSuchSession."""
    known = sessions_with_changes(data_home)
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
