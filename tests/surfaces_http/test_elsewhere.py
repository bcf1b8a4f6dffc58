"""Sessions that run in other processes of the same home: seen live, answered, stopped from here."""

import os
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent_scripts import asks, says, script
from command import HOLDFAST, TOOLS
from http_listening import is_event, live_text, numbers, told_until
from served_home import PATIENCE, Served, StreamEvent, served, told_by

from holdfast.app.settings import Settings
from holdfast.app.surroundings import surroundings_of_this_process

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def home_of_others(folder: Path) -> AsyncGenerator[Served]:
    """A server on a home that commands use, too."""
    (folder / "home").mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "HOLDFAST_HOME": str(folder / "home")}
    around = surroundings_of_this_process(Settings(), environment=environment)
    async with served(folder, surroundings=around) as home:
        yield home


@contextmanager
def run_elsewhere(
    folder: Path, *turns: dict[str, Any], words: tuple[str, ...] = ()
) -> "Generator[subprocess.Popen[bytes]]":
    """`holdfast run` as a process of its own."""
    (folder / "tools.py").write_text(TOOLS, "utf-8")
    argv = [str(HOLDFAST), "run", "Go.", "--json", "--workspace", str(folder / "work")]
    argv += ["--model", script(folder, *turns), "--from", str(folder / "tools.py"), *words]
    environment = {**os.environ, "HOLDFAST_HOME": str(folder / "home")}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


async def found(home: Served) -> Any:
    """The session that somebody runs, once it is there."""
    with anyio.move_on_after(PATIENCE):
        while True:
            rows = (await home.get("/sessions"))["sessions"]
            if rows and rows[0]["runner"] == "somebody":
                return rows[0]
            await anyio.sleep(0.02)
    raise AssertionError("nobody ever ran one")


async def ended(process: "subprocess.Popen[bytes]") -> int:
    with anyio.fail_after(PATIENCE):
        return await anyio.to_thread.run_sync(process.wait)


async def test_what_happens_elsewhere_is_seen_live(tmp_path: Path) -> None:
    async with home_of_others(tmp_path) as home:
        turns = [says("Hello from afar.", seconds=1.5)]
        with run_elsewhere(tmp_path, *turns) as process:
            session = (await found(home))["id"]
            path = f"/sessions/{session}/stream"
            told = await told_until(home, path, is_event("agent.message"))
            assert live_text(told) == "Hello from afar." == told[-1].data["message"]
            await ended(process)
        await home.at_rest(session)
        last = (await home.events(session))[-1]["sequence"]
        whole = await told_until(home, path, lambda one: one.id == last)
        assert numbers(whole) == list(range(1, last + 1))
        assert numbers(told) == numbers(whole)[: len(numbers(told))]


async def test_a_call_elsewhere_is_answered_here(tmp_path: Path) -> None:
    async with home_of_others(tmp_path) as home:
        turns = [asks("wipe", path="x"), says("Wiped.")]
        with run_elsewhere(tmp_path, *turns, words=("--later",)) as process:
            await ended(process)
        (question,) = (await home.get("/approvals"))["approvals"]
        assert question["tool"] == "wipe"
        said = {"session_id": question["session_id"], "allow": True}
        await home.post(f"/approvals/{question['approval_id']}", **said)
        (answered,) = await home.events(question["session_id"], "approval.answered")
        assert (answered["allowed"], answered["by"]) == (True, "console")


async def test_what_runs_elsewhere_is_stopped_here(tmp_path: Path) -> None:
    async with home_of_others(tmp_path) as home:
        turns = [asks("bash", command="echo here; sleep 60"), says("Stopped.")]
        with run_elsewhere(tmp_path, *turns, words=("--profile", "code")) as process:
            session = (await found(home))["id"]
            command = await home.command(session)
            shown = f"/sessions/{session}/commands/{command['id']}"
            with anyio.fail_after(PATIENCE):
                async for one in told_by(home.client, f"{shown}/stream"):
                    if "here" in one.data["stdout_tail"]:
                        break
            assert (await home.get(shown))["state"] == "running"
            await home.delete(f"/sessions/{session}", 409)
            stopped = await home.post(f"/sessions/{session}/interrupt", only_calls=True)
            assert stopped == {"did": True}
            await ended(process)
        (said,) = await home.events(session, "agent.message")
        assert said["message"] == "Stopped."
        assert (await home.get(f"/sessions/{session}/commands"))["commands"] == []
        await home.get(shown, 404)


async def test_a_whole_run_elsewhere_is_interrupted_here(tmp_path: Path) -> None:
    async with home_of_others(tmp_path) as home:
        turns = [asks("bash", command="sleep 60"), says("Never.")]
        with run_elsewhere(tmp_path, *turns, words=("--profile", "code")) as process:
            session = (await found(home))["id"]
            await home.command(session)
            await home.post(f"/sessions/{session}/interrupt")
            await ended(process)
        assert await home.events(session, "agent.message") == []


async def test_a_process_that_is_killed_is_told_and_its_session_is_taken_up(tmp_path: Path) -> None:
    def is_taken_up(one: StreamEvent) -> bool:
        return any(row["events"] > killed["events"] for row in one.data.get("sessions", []))

    async with home_of_others(tmp_path) as home:
        # Played anew by whoever takes it up: the model asks for the same once more.
        turns = [asks("bash", command="sleep 60"), says("Never.")]
        with run_elsewhere(tmp_path, *turns, words=("--profile", "code")) as process:
            session = (await found(home))["id"]
            await home.command(session)
            killed = await home.get(f"/sessions/{session}")
            async with anyio.create_task_group() as group:
                group.start_soon(told_until, home, "/stream", is_taken_up)
                process.kill()
        await home.until(session, lambda row: row["events"] > killed["events"])
        with anyio.fail_after(PATIENCE):
            while len(intended := await home.events(session, "call.intended")) < 2:
                await anyio.sleep(0.02)
        (lost,) = await home.events(session, "call.settled")
        assert lost["call_id"] == intended[0]["call_id"] != intended[1]["call_id"]
        assert not lost["envelope"]["ok"]
        assert (await home.get(f"/sessions/{session}"))["runner"] == "somebody"
        await home.post(f"/sessions/{session}/interrupt")
        await home.until(session, lambda row: row["runner"] == "nobody")
