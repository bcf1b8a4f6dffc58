"""Workspaces that travel, while something else goes on: another machine, or whoever writes here."""

import mmap
import os
from pathlib import Path

import psycopg
import pytest
from app.carrying.machines import DONE, Machine, printed, runs, told
from app.carrying.test_carrying_troubles import killed

from holdfast.app import bringing, carrying, copies
from holdfast.app.agent_session import AgentSession
from holdfast.app.settings import Settings
from holdfast.contract.journal import JournalUnusable
from holdfast.contract.wake_events import WorkspaceLost
from holdfast.record.postgres.carried import PostgresCarried

pytestmark = pytest.mark.anyio


async def gives_back(session: AgentSession) -> None:
    """As if nobody had said anything for long."""
    log = session._parts.log  # pyright: ignore[reportPrivateUsage] - its right runs out
    assert log is not None
    lease = log.right.lease
    assert lease is not None
    await (await log.journal()).release(lease)
    log.right.lease = None


def run_out(settings: Settings) -> None:
    """The leases of those who are gone are over."""
    assert settings.store.url is not None
    with psycopg.connect(settings.store.url, autocommit=True) as connection:
        connection.execute("UPDATE holdfast.chat_sessions SET until = 0")


async def ran(session: AgentSession, message: str) -> None:
    async for _ in session.run(message):
        pass


async def test_whoever_has_a_session_open_does_not_hide_what_another_machine_lost(
    one: Machine, two: Machine
) -> None:
    """The other one was killed in its run, so that the journal names the same files as before."""
    async with one.opened(runs("echo 1 > file"), DONE, DONE) as hf:
        session = await hf.new_session()
        await ran(session, "Begin.")
        await gives_back(session)
        killed(two, "effects", session.id)
        run_out(one.settings)
        with pytest.raises(carrying.WentOn, match="open it again"):
            await ran(session, "Go on.")
        await session.close()
    await one.wakes(session.id, runs("cat file"), DONE)
    assert printed(one.model) == "1\n"
    (lost,) = await told(one, session.id, WorkspaceLost)
    assert lost.calls == 1


def dropped(settings: Settings) -> None:
    """As a holdfast does that knows nothing of carried files, and writes the rest of the state."""
    assert settings.store.url is not None
    with psycopg.connect(settings.store.url, autocommit=True) as connection:
        connection.execute(
            "UPDATE holdfast.chat_sessions SET state_json = (state_json::jsonb - 'files')::text"
        )


async def test_where_an_older_holdfast_dropped_the_files_older_ones_do_not_take_their_place(
    one: Machine, two: Machine
) -> None:
    """The folder that the session was begun in is still there, and is old."""
    async with one.opened(runs("echo 1 > file"), DONE, DONE) as hf:
        session = await hf.new_session()
        await ran(session, "Begin.")
        await gives_back(session)
        await two.goes_on(session.id, runs("echo 2 > file"), DONE)
        dropped(one.settings)
        with pytest.raises(carrying.WentOn):
            await ran(session, "Go on.")
        await session.close()
    end = await one.wakes(session.id, DONE)
    assert (end.executed, end.reason) == (False, "not_ours")
    assert f"holdfast sessions rebuild {session.id} --repair" in str(end.problem)
    async with one.opened() as hf:
        await (await hf.agents.all_sessions()).archive.rebuild(session.id, repair=True)
    await one.wakes(session.id, runs("cat file"), DONE)
    assert printed(one.model) == "2\n"


async def test_what_was_told_to_be_lost_does_not_come_back(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_given: object) -> None:
        raise JournalUnusable("the store is damaged")

    turns = (runs("echo 1 > file"), DONE, runs("echo 2 > file"), DONE, runs("cat file"), DONE)
    async with one.opened(*turns) as hf:
        session = await hf.new_session()
        await ran(session, "Begin.")
        with monkeypatch.context() as patched:
            patched.setattr(PostgresCarried, "put", gone)
            with pytest.raises(JournalUnusable):
                await ran(session, "Again.")
        await gives_back(session)
        killed(two, "effects", session.id)  # it was told, and ran once more
        run_out(one.settings)
        assert len(await told(two, session.id, WorkspaceLost)) == 1
        with pytest.raises(carrying.WentOn, match="open it again"):
            await ran(session, "Go on.")
        await session.close()
    await two.goes_on(session.id, runs("cat file"), DONE)
    assert printed(two.model) == "1\n"


async def test_what_could_not_be_kept_is_kept_with_the_next_run_of_the_same_machine(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_given: object) -> None:
        raise JournalUnusable("the store is damaged")

    async with one.opened(runs("echo 1 > file"), DONE, runs("echo 2 > other"), DONE) as hf:
        session = await hf.new_session()
        await session.send("Begin.")
        with monkeypatch.context() as patched:
            patched.setattr(PostgresCarried, "put", gone)
            with pytest.raises(JournalUnusable):
                async for _ in session.run():
                    pass
        await gives_back(session)
        await ran(session, "Go on.")
        await session.close()
    await two.goes_on(session.id, runs("cat file other"), DONE)
    assert printed(two.model) == "1\n2\n"
    assert await told(two, session.id, WorkspaceLost) == []


async def test_what_somebody_writes_into_a_copy_that_is_being_made_is_stored_too(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the list would name a piece that is nowhere, and no machine could go on."""
    session = await one.begun(runs("echo 1 > file"), DONE)
    assert carrying.is_carried(one.settings)  # it is loaded from here on
    make = bringing._make_again  # pyright: ignore[reportPrivateUsage] - the moment behind it

    async def made(by: bringing._Bringing, home: Path, name: str) -> None:  # pyright: ignore[reportPrivateUsage] - as it is called
        await make(by, home, name)
        (home / copies.FILES / "log").write_text("of something else\n")

    with monkeypatch.context() as patched:
        patched.setattr(bringing, "_make_again", made)
        await two.goes_on(session, runs("echo 2 > file"), DONE)
    await one.goes_on(session, runs("cat file log"), DONE)
    assert printed(one.model) == "2\nof something else\n"


async def test_what_went_on_behind_a_run_is_read_again_whatever_its_times_say(
    one: Machine, two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of a mapped file that was written to can be written to again without a new time."""
    assert carrying.is_carried(one.settings)  # it is loaded from here on

    def one_goes_on(_parts: object) -> int:
        return 1

    monkeypatch.setattr(carrying, "_working", one_goes_on)
    monkeypatch.setattr("holdfast.execution.files.packing._RACY_NS", -(1 << 62))
    async with one.opened(runs("truncate -s 4096 file"), DONE, DONE, DONE) as hf:
        session = await hf.new_session()
        await ran(session, "Begin.")
        file = one.workspace / "file"
        with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
            mapped[0:2] = b"1\n"
            await ran(session, "Go on.")
            before = file.stat()
            mapped[0:2] = b"2\n"
            after = file.stat()
        assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
        await ran(session, "Go on.")
        await session.close()
    await two.goes_on(session.id, runs("head -c 2 file"), DONE)
    assert printed(two.model) == "2\n"


async def test_what_is_set_aside_stays_for_a_week_wherever_the_session_goes(
    one: Machine, two: Machine
) -> None:
    session = await one.begun(runs("echo 1 > file"), DONE)
    await one.goes_on(session, runs("true"), DONE)
    killed(one, "effects", session)
    await one.goes_on(session, DONE)
    aside = one.home(session) / copies.SET_ASIDE
    await two.goes_on(session, runs("echo 3 > file"), DONE)
    await one.goes_on(session, runs("cat file"), DONE)
    assert printed(one.model) == "3\n"
    assert (aside / "file").read_text() == "2\n"
    before = aside.stat().st_mtime_ns - copies.UNUSED_NS - 1_000_000_000
    await two.goes_on(session, runs("echo 4 > file"), DONE)
    os.utime(aside, ns=(before, before))
    await one.goes_on(session, DONE)
    assert not aside.exists()
