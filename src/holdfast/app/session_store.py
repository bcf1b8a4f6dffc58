"""The sessions of this machine for somebody who looks at them: what commands share.

Looking makes nothing: without a store there is no session.
"""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from anyio import CancelScope, to_thread

from holdfast.app.configuration import load_configuration
from holdfast.app.holders import may_run, this_process
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import shared_store
from holdfast.app.store_places import DATABASE
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.journal import (
    JournalError,
    Lease,
    UnknownSession,
)
from holdfast.contract.ports import Clock
from holdfast.contract.session_state import Runner
from holdfast.execution.sidecars import SidecarFiles
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

SESSIONS_FOLDER = "sessions"
_DELETING_SECONDS = 60.0


class NothingStored(UnknownSession):
    """There is no store, so there is no session."""

    def __init__(self) -> None:
        super().__init__("there is no session yet; `holdfast call` and the library make them")


@asynccontextmanager
async def opened_store(
    settings: Settings | None = None,
    *,
    make: bool = False,
    surroundings: Surroundings | None = None,
) -> AsyncGenerator[Store]:
    """The store of the settings, else of the configuration of this machine. JournalError.

    NothingStored where there is none, unless it is to be made.
    """
    settings = settings or load_configuration(None).settings
    around = surroundings or surroundings_of_this_process(settings)
    if make and settings.store.kind == "none":
        raise JournalError(
            "store.kind = 'none' says that nothing is kept; set it to 'sqlite' and try again"
        )
    if not make and settings.store.kind == "sqlite" and not is_there(around):
        raise NothingStored
    clock = SystemClock()
    store = await shared_store(settings, around, clock, TimeIds(clock))
    try:
        yield store
    finally:
        with CancelScope(shield=True):
            await store.journal.close()


def is_there(around: Surroundings) -> bool:
    """Whether anything was ever written down, in a file; opening one that is closed says so."""
    try:
        return (around.data_home / DATABASE).exists()
    except OSError:
        return True


def runner_of(lease: Lease | None, clock: Clock) -> Runner:
    """Who runs a session, by its lease. One of this machine may be late, and still run it."""
    if lease is None:
        return "nobody"
    late = lease.until_micros <= clock.unix_ns() // 1000
    return "somebody" if may_run(lease.holder, late=late) else "gone"


async def delete_session(
    store: Store, session_id: str, around: Surroundings | None = None
) -> str | None:
    """Take a session away with its folder; what of the folder could not go is told.

    JournalError while somebody runs it.
    """
    journal = store.journal
    held = (await journal.session(session_id)).lease
    if held is not None and runner_of(held, SystemClock()) == "somebody":
        raise JournalError(
            f"session {session_id} is run by {held.holder}; end that first, then delete it;"
            " nothing was deleted"
        )
    if held is None:
        lease = await journal.lease(session_id, this_process(), _DELETING_SECONDS)
    else:
        lease = await journal.take_over(held, this_process(), _DELETING_SECONDS)
    # Whoever ran it before is fenced off by now: nothing more is appended in its name.
    await journal.release(lease)
    await store.archive.delete(session_id)
    around = around or surroundings_of_this_process(load_configuration(None).settings)
    return await to_thread.run_sync(remove_folder, around, session_id)


def remove_folder(around: Surroundings, session_id: str) -> str | None:
    """Remove the folder of a session through no link; what is left of it is told. Blocking."""
    root = around.data_home / SESSIONS_FOLDER
    SidecarFiles(root).forget(session_id)  # also a link in the folder's place
    folder = root / session_id
    if folder.parent != root or not session_id.strip("."):
        return None  # it is no name of a folder: nothing was ever kept there
    try:
        shutil.rmtree(folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        return f"{folder} could not be removed ({problem.strerror}); remove it yourself"
    return None
