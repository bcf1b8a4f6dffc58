"""Keepers: a warden that is stopped or does not answer keeps nothing alive, and nobody waits."""

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from execution.processes.ground import (
    Ground,
    each,
    family_of,
    opened,
    running_in,
    stop,
    until_empty,
)

from holdfast.execution.processes import spawners, wardens
from holdfast.execution.processes.spawners import SandboxLost, SandboxUnavailable, Spawner, Start
from holdfast.execution.warden import wire

TESTS = Path(__file__).parents[2]
BUSY = "touch begun; (setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 0.02; done' &); sleep 60"
CONFINED = ("namespaces", "bubblewrap", "landlock")

pytestmark = pytest.mark.timeout(60)

VICTIM = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from execution.processes.ground import family_of, opened

async def main():
    async with opened(Path({folder!r}), {kind!r}) as ground:
        running = asyncio.create_task(ground.run({busy!r}))
        while not (ground.workspace / "begun").exists():
            await asyncio.sleep(0.005)
        Path({folder!r}, "part").write_text(" ".join(map(str, family_of(ground))))
        Path({folder!r}, "part").rename(Path({folder!r}, "family"))
        await running

asyncio.run(main())
"""


def beyond_keeper(kind: str, family: list[int]) -> list[int]:
    """The warden, and its spawners if they are processes."""
    return family[2:] if kind in ("namespaces", "bubblewrap") else family[1:]


def started(code: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", code])


async def busy(ground: Ground) -> "asyncio.Task[object]":
    running = asyncio.create_task(ground.run(BUSY))
    while not (ground.workspace / "begun").exists():
        await asyncio.sleep(0.005)
    return running


@each()
async def test_a_stopped_warden_keeps_nothing_alive_when_the_runtime_is_killed(
    tmp_path: Path, kind: str
) -> None:
    code = VICTIM.format(tests=str(TESTS), folder=str(tmp_path), kind=kind, busy=BUSY)
    with started(code) as runtime:
        while not (tmp_path / "family").exists():
            await asyncio.sleep(0.005)
        family = [int(pid) for pid in (tmp_path / "family").read_text("ascii").split()]
        await stop(beyond_keeper(kind, family))
        assert running_in(tmp_path.resolve() / "workspace")
        runtime.kill()
    await until_empty(tmp_path.resolve() / "workspace")
    while any(Path(f"/proc/{pid}").exists() for pid in family):
        await asyncio.sleep(0.01)


@each()
async def test_a_stopped_warden_is_closed(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        running = await busy(ground)
        family = family_of(ground)
        await stop(beyond_keeper(kind, family))
        await ground.warden.close()
        assert not any(Path(f"/proc/{pid}").exists() for pid in family)
        await until_empty(ground.workspace)
        await running


@each("namespaces", "bubblewrap")
async def test_a_stopped_keeper_is_killed_with_all_that_is_below(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wardens, "ENDING_SECONDS", 0.2)
    async with opened(tmp_path, kind) as ground:
        running = await busy(ground)
        await stop(family_of(ground))
        await ground.warden.close()
        await until_empty(ground.workspace)
        await running


async def test_what_cannot_even_be_killed_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, "unconfined") as ground:
        killed: list[int] = []
        monkeypatch.setattr(wardens, "ENDING_SECONDS", 0.05)
        keeper = ground.warden.keeper
        os.kill(keeper, signal.SIGSTOP)

        def unkilled(one: "subprocess.Popen[bytes]") -> None:
            killed.append(one.pid)

        with monkeypatch.context() as unkillable:
            unkillable.setattr(subprocess.Popen, "kill", unkilled)
            await ground.warden.close()
        assert killed == [keeper]
        os.kill(keeper, signal.SIGCONT)


async def test_a_warden_without_last_words_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wardens, "ENDING_SECONDS", 0.1)
    monkeypatch.setattr(wardens, "STARTING_SECONDS", 0.1)
    with pytest.raises(SandboxUnavailable, match="it does not answer"):
        await wardens.start_warden({}, lambda _: ["sleep", "60"])


@each("landlock", "unconfined")
async def test_a_warden_that_does_not_answer_is_lost(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, kind) as ground:
        monkeypatch.setattr(spawners, "STARTING_SECONDS", 0.1)
        await stop(beyond_keeper(kind, family_of(ground)))
        assert not ground.warden.lost
        with pytest.raises(SandboxLost):
            await ground.warden.spawner().start(START)
        assert ground.warden.lost


@each("landlock")
async def test_a_spawner_that_does_not_end_a_call_loses_the_warden(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawners, "ENDING_SECONDS", 0.1)
    async with opened(tmp_path, kind) as ground:
        spawner = ground.warden.spawner()
        await spawner.end()  # it answers when it is there
        await stop(beyond_keeper(kind, family_of(ground)))
        await ground.warden.give_back(spawner)
        assert ground.warden.lost


@each("unconfined")
async def test_a_line_that_hangs_up_loses_the_warden(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        spawner = ground.warden.spawner()
        await spawner.end()  # it answers when it is there
        assert not ground.warden.lost
        os.kill(family_of(ground)[2], signal.SIGKILL)
        while not spawner.lost:
            await asyncio.sleep(0.005)
        await ground.warden.give_back(spawner)
        assert ground.warden.lost


@each("landlock")
async def test_who_gives_up_waiting_leaves_no_files(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        await ground.run("true")
        await asyncio.sleep(0.1)  # until another spawner is prepared
        before = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(10):
            ground.warden.spawner().close()
            spawner = ground.warden.spawner()
            spawner.start(Start(["sleep", "60"], "/", {"PATH": os.defpath}, []))
            giving = asyncio.create_task(ground.warden.give_back(spawner))
            await asyncio.sleep(0)
            giving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await giving
            assert spawner.lost
        assert len(list(Path("/proc/self/fd").iterdir())) <= before
        assert not ground.warden.lost


@each("landlock")
async def test_a_command_without_a_program_harms_nobody(tmp_path: Path, kind: str) -> None:
    async with opened(tmp_path, kind) as ground:
        report = await ground.run_argv([])
        assert report.unstarted == "no program is named"
        assert not ground.warden.lost


@pytest.fixture
async def line() -> "tuple[Spawner, socket.socket, list[str]]":
    ours, theirs = wire.pair()
    heard: list[str] = []
    loop = asyncio.get_running_loop()
    return Spawner(ours, loop, lambda: heard.append("hung up")), theirs, heard


START = Start(["true"], "/", {}, [])


async def test_an_error_nobody_asked_for_is_a_loss(
    line: "tuple[Spawner, socket.socket, list[str]]",
) -> None:
    spawner, theirs, heard = line
    ended = spawner.start(START)
    wire.send(theirs, {"error": "it failed"})
    with pytest.raises(SandboxLost):
        await ended
    assert heard == ["hung up"]
    with pytest.raises(SandboxLost):
        await spawner.start(START, tell=True)
    theirs.close()


@pytest.mark.parametrize("order", ["before", "after", "unheard"])
async def test_what_cannot_be_entered_is_told_and_the_warden_is_not_lost(
    line: "tuple[Spawner, socket.socket, list[str]]", order: str
) -> None:
    spawner, theirs, heard = line
    ended = spawner.start(START) if order == "before" else None
    wire.send(theirs, {"refused": "too many"})
    theirs.close()
    if order == "after":
        await asyncio.sleep(0.01)
        assert spawner.lost
    with pytest.raises(SandboxUnavailable, match="cannot be entered: too many"):
        await (ended or spawner.start(START))
    with pytest.raises(SandboxUnavailable, match="cannot be entered: too many"):
        await spawner.start(START)
    assert heard == []


async def test_who_reads_nothing_any_more_is_lost(
    line: "tuple[Spawner, socket.socket, list[str]]",
) -> None:
    spawner, theirs, heard = line
    for _ in range(10_000):
        spawner.signal(0)
    assert spawner.lost
    assert heard == ["hung up"]
    theirs.close()


async def test_files_that_cannot_be_passed_start_nothing(
    line: "tuple[Spawner, socket.socket, list[str]]",
) -> None:
    spawner, theirs, _ = line
    with pytest.raises(OSError, match="file descriptor"):
        await spawner.start(START._replace(files=[-1]))
    assert not spawner.lost
    spawner.close()
    theirs.close()


async def test_a_line_that_cannot_be_had_is_told_and_the_warden_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left() -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async with opened(tmp_path, "unconfined") as ground:
        with monkeypatch.context() as patched:
            patched.setattr(wire, "pair", none_left)
            with pytest.raises(SandboxUnavailable, match="Too many open files"):
                ground.warden.spawner()
        assert (await ground.run("true")).ended is not None
        assert not ground.warden.lost


async def test_a_warden_whose_line_is_full_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise BlockingIOError

    async with opened(tmp_path, "unconfined") as ground:
        monkeypatch.setattr(wire, "send", full)
        with pytest.raises(SandboxLost):
            ground.warden.spawner()
        assert ground.warden.lost
