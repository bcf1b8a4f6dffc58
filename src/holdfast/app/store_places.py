"""The places of a store, and what to do about those that cannot be used: one answer for everybody.

How a store is opened is not known here.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast.app.own_files import closed_folder
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.journal import JournalUnavailable
from holdfast.record.unavailable import NotWritable

DATABASE = "holdfast.db"
_WAYS_OUT = (
    ", or let HOLDFAST_HOME name a place that can be written, or set store.kind = 'none' to have"
    " nothing written down"
)
_LOCKED = (
    "{place} may only be read, and a store is read only where it can be written; copy the folder"
    " that holds data and state to a place of your own (cp -r, then chmod -R u+w), and let"
    " HOLDFAST_HOME name the copy"
)


@contextmanager
def explained(settings: Settings, around: Surroundings) -> Generator[None]:
    """Whatever cannot be written is told with what to do; JournalUnavailable."""
    try:
        yield
    except NotWritable as problem:
        closed = closed_folder(around.data_home / DATABASE)
        if closed is not None:
            raise JournalUnavailable(closed) from None
        place = _may_only_be_read(around) if settings.store.kind == "sqlite" else None
        said = f"{problem}{_WAYS_OUT}" if place is None else _LOCKED.format(place=place)
        raise JournalUnavailable(said) from None


def _may_only_be_read(around: Surroundings) -> Path | None:
    """The first of the places of a store that may only be read; None: all can be written."""
    database = around.data_home / DATABASE
    if not Path(database).exists():
        return None
    state = () if around.state_home is None else (around.state_home, around.state_home / "anchors")
    places = (around.data_home, database, *state)
    return next((one for one in places if one.exists() and not os.access(one, os.W_OK)), None)
