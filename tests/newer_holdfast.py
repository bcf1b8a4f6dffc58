"""A holdfast that is newer than this one: a copy of it that knows more, for processes of their own.

It has one more step of its tables, one more kind of event, one more field of a session's state, and
says more in NATS and to other windows. So this one is the older one of a mixed fleet.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from this_tree import TESTS, this_tree

OURS = TESTS.parent / "src" / "holdfast"
_STEP = '''
_OF_LATER: LiteralString = """
ALTER TABLE holdfast.chat_sessions ADD COLUMN of_later text;
CREATE TABLE holdfast.of_later (session_id text PRIMARY KEY);
"""

MIGRATIONS: tuple[Step, ...] = ('''
_KIND = '''

class SaidLater(Payload, frozen=True, kw_only=True, tag="of.later"):
    """What only a newer holdfast says."""

    text: str


KINDS: tuple[type[Payload], ...] = (
    SaidLater,'''
_FOLD = """

def _said_later(state: SessionState, _row: Stored, said: Payload) -> SessionState:
    return replace(state, of_later=said.text)


from holdfast.contract.event_kinds import SaidLater

FOLDS = {**FOLDS, SaidLater: _said_later}
"""
_WIRE = '''
class OfLater(_Request, frozen=True, kw_only=True, tag="of_later"):
    """What only a newer window asks."""


Request: TypeAlias = OfLater | Hello | Sessions'''
_REPLY = '''
class SaysLater(_Reply, frozen=True, kw_only=True, tag="says_later"):
    """What only a newer process says."""


Reply: TypeAlias = (
    SaysLater
    | Welcome
'''
CHANGES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "record/postgres/schema.py": (
        ("\nMIGRATIONS: tuple[Step, ...] = (", _STEP),
        ("OUTBOX, CARRIED)", "OUTBOX, CARRIED, _OF_LATER)"),
    ),
    "contract/event_kinds.py": (("\nKINDS: tuple[type[Payload], ...] = (", _KIND),),
    "contract/session_state.py": (
        (
            "    managed: ManagedState | None = None\n",
            "    managed: ManagedState | None = None\n    of_later: str | None = None\n",
        ),
    ),
    "engine/cluster/hints.py": (
        (
            "    session: str\n    due: int\n",
            "    session: str\n    due: int\n    later: int = 7\n",
        ),
        ("VAIN: str(vain)}", 'VAIN: str(vain), "Holdfast-Later": "x"}'),
    ),
    "engine/cluster/dead.py": (
        ("    label: str\n\n\n", '    label: str\n    later: str = "x"\n\n\n'),
    ),
    "app/control/connection.py": (
        (
            "            await watcher()\n",
            "            await self._say(wire.SaysLater())\n            await watcher()\n",
        ),
    ),
    "app/control/wire.py": (
        ("\nRequest: TypeAlias = Hello | Sessions", _WIRE),
        ("    process: str\n", '    process: str\n    of_later: str = "x"\n'),
        ("Reply: TypeAlias = (\n    Welcome\n", _REPLY),
    ),
}


def newer_holdfast(folder: Path) -> dict[str, str]:
    """Make it in a folder; the variables of a process that is to be it."""
    package = folder / "holdfast"
    shutil.copytree(OURS, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, changes in CHANGES.items():
        path = package / name
        text = path.read_text("utf-8")
        for before, after in changes:
            assert text.count(before) == 1, f"{name} does not say {before!r} once any more"
            text = text.replace(before, after)
        path.write_text(text, "utf-8")
    fold = package / "record" / "fold.py"
    fold.write_text(fold.read_text("utf-8") + _FOLD, "utf-8")
    variables = this_tree()
    return {**variables, "PYTHONPATH": f"{folder}:{TESTS}"}
