"""The stream of the whole home: what becomes other is told within a second, whoever did it."""

import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls
from command import start
from served_home import PATIENCE, Served, StreamEvent, served, told_by

from holdfast import tool
from holdfast.app.settings import Settings
from holdfast.app.surroundings import surroundings_of_this_process

pytestmark = pytest.mark.anyio


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    return f"deployed {place}"


class Onlooker:
    """Looks on in the background."""

    def __init__(self, home: Served) -> None:
        self.told: list[StreamEvent] = []
        self.there = anyio.Event()
        self._home = home

    async def __call__(self) -> None:
        async with aclosing(told_by(self._home.client, "/stream")) as told:
            async for one in told:
                self.told.append(one)
                self.there.set()

    def rows(self, session: str) -> list[Any]:
        """How a session was told to be, one after the other."""
        found = [row for one in self.told if one.kind == "sessions" for row in one.data["sessions"]]
        return [row for row in found if row["id"] == session]

    def counts(self) -> list[Any]:
        return [one.data for one in self.told if one.kind == "waiting"]

    def gone(self) -> list[str]:
        return [name for one in self.told if one.kind == "sessions" for name in one.data["gone"]]

    async def until(self, true: Any) -> None:
        with anyio.fail_after(PATIENCE):
            while not true():
                await anyio.sleep(0.01)


async def test_rows_and_counts_are_told_as_they_change(tmp_path: Path) -> None:
    turns = [calls(("deploy", '{"place": "north"}')), "Done."]
    async with served(tmp_path, turns, tools=[deploy], profile="locked") as home:
        eyes, late = Onlooker(home), Onlooker(home)
        async with anyio.create_task_group() as group:
            group.start_soon(eyes)
            await eyes.there.wait()
            assert eyes.counts() == [{"approvals": 0, "questions": 0, "requests": 0}]
            session = await home.begun("Deploy.")
            await eyes.until(lambda: eyes.counts()[-1]["approvals"] == 1)
            assert eyes.rows(session)[-1]["waiting"]["approvals"] == 1
            group.start_soon(late)
            await late.there.wait()
            assert late.counts()[0]["approvals"] == 1
            (question,) = (await home.get("/approvals"))["approvals"]
            said = {"session_id": session, "allow": True}
            await home.post(f"/approvals/{question['approval_id']}", **said)
            for one in (eyes, late):
                await one.until(lambda one=one: one.counts()[-1]["approvals"] == 0)
                await one.until(lambda one=one: one.rows(session)[-1]["reported"] == "idle")
            await home.until(session, lambda row: row["runner"] == "nobody")
            await eyes.until(lambda: eyes.rows(session)[-1]["runner"] == "nobody")
            await home.delete(f"/sessions/{session}")
            await eyes.until(lambda: session in eyes.gone())
            group.cancel_scope.cancel()


async def test_what_other_processes_do_is_told_within_a_second(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    environment = {**os.environ, "HOLDFAST_HOME": str(folder)}
    around = surroundings_of_this_process(Settings(), environment=environment)
    async with served(tmp_path, surroundings=around) as home:
        eyes = Onlooker(home)
        async with anyio.create_task_group() as group:
            group.start_soon(eyes)
            await eyes.there.wait()
            words = ("call", "glob", "pattern=*", "--workspace", str(home.workspace))
            done = await anyio.to_thread.run_sync(lambda: start(*words, home=folder))
            assert done.status == 0, done.err
            at = anyio.current_time()
            (row,) = (await home.get("/sessions"))["sessions"]
            await eyes.until(lambda: bool(eyes.rows(row["id"])))
            assert anyio.current_time() - at < 5  # a busy machine may be slow; usually 0.5 s
            gone = ("sessions", "delete", row["id"], "--yes")
            done = await anyio.to_thread.run_sync(lambda: start(*gone, home=folder))
            assert done.status == 0, done.err
            await eyes.until(lambda: row["id"] in eyes.gone())
            group.cancel_scope.cancel()
