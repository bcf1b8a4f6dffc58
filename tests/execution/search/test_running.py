"""A run of ripgrep that is given up, lost or ended by somebody else: nothing is left or made up."""

import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from execution.processes.ground import Ground, opened, running_in, until_empty
from execution.processes.session import descriptors

from holdfast.contract.errors import Unavailable
from holdfast.contract.gates import Access, PathLeave
from holdfast.execution.processes.views import View
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.search import running
from holdfast.execution.search.running import Nothing, Run, run

KIND = "landlock"
TALKING = ("/bin/sh", "-c", "echo begun; sleep 60; sleep 60")


class Heard:
    """Reads, and says when something came."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.any = threading.Event()

    def take(self, piece: bytes, /) -> bool:
        self.pieces.append(piece)
        self.any.set()
        return True


def admitted(_access: Access, path: str, /) -> PathLeave:
    return PathLeave(path=path)


def all_of_it(_path: str) -> bool:
    return True


def view(ground: Ground) -> View:
    async def warden() -> Warden:
        return ground.warden

    return View(admitted, all_of_it, str(ground.workspace), warden)


async def taken(ground: Ground, *argv: str) -> Run:
    return await run(view(ground), argv, str(ground.workspace), Nothing())


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not true():
            await anyio.sleep(0.005)


@pytest.mark.parametrize("code", [0, 1, 2])
async def test_what_it_ends_with_is_told(tmp_path: Path, code: int) -> None:
    async with opened(tmp_path, KIND) as ground:
        ran = await taken(ground, "/bin/sh", "-c", f"echo rg: said >&2; exit {code}")
        assert (ran.exit_code, ran.log.said) == (code, "rg: said")


@pytest.mark.parametrize("end", ["kill -KILL $$", "exit 101"])
async def test_one_that_somebody_else_ended_is_no_answer(tmp_path: Path, end: str) -> None:
    async with opened(tmp_path, KIND) as ground:
        with pytest.raises(Unavailable, match="did not come to its end"):
            await taken(ground, "/bin/sh", "-c", f"echo half; {end}")


async def test_one_that_cannot_be_started_is_no_answer(tmp_path: Path) -> None:
    async with opened(tmp_path, KIND) as ground:
        with pytest.raises(Unavailable, match="did not come to its end"):
            await taken(ground, "/no/such/program")


async def test_given_up_while_it_is_read_it_is_killed(tmp_path: Path) -> None:
    async with opened(tmp_path, KIND) as ground:
        heard = Heard()
        async with anyio.create_task_group() as group:
            group.start_soon(run, view(ground), TALKING, str(ground.workspace), heard)
            await until(heard.any.is_set)
            assert running_in(ground.workspace)
            group.cancel_scope.cancel()
        await until_empty(ground.workspace)
        assert heard.pieces == [b"begun\n"]


async def test_given_up_before_it_is_read_nothing_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All threads are taken when it begins, and one of them comes to it when nobody waits."""
    late: list[Callable[[], object]] = []

    async def no_thread_free(call: Callable[[], object]) -> object:
        late.append(call)
        return await anyio.sleep_forever()

    monkeypatch.setattr(running, "in_thread", no_thread_free)
    async with opened(tmp_path, KIND) as ground:
        heard = Heard()
        async with anyio.create_task_group() as group:
            group.start_soon(run, view(ground), TALKING, str(ground.workspace), heard)
            await until(lambda: bool(late and running_in(ground.workspace)))
            group.cancel_scope.cancel()
        before = descriptors()
        assert late[0]() is False
        assert (heard.pieces, descriptors()) == ([], before)
        await until_empty(ground.workspace)


async def test_a_sandbox_that_is_gone_is_told_and_no_file_stays_open(tmp_path: Path) -> None:
    async with opened(tmp_path, KIND) as ground:
        assert (await taken(ground, "/bin/true")).exit_code == 0
    before = descriptors()
    with pytest.raises(Unavailable, match="There is no sandbox to search in"):
        await taken(ground, "/bin/true")
    assert descriptors() == before
