"""An error that is no Exception reaches who waits for the call, and nobody else."""

import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import ExitStack, nullcontext

import pytest

from holdfast import blocking, tool
from holdfast.policy.explain import Explanation


class Panic(BaseException):
    """Like those of foreign runtimes."""


def test_what_is_no_exception_leaves_the_session_and_other_calls_alone() -> None:
    begun, released = threading.Event(), threading.Event()
    answers: list[bool] = []

    @tool
    def panics() -> None:
        """Panic."""
        raise Panic("over")

    @tool
    def waits() -> bool:
        """Wait."""
        begun.set()
        return released.wait(20)

    with blocking.Holdfast(tools=[panics, waits]) as hf:
        other = threading.Thread(target=lambda: answers.append(hf.settle("waits").ok))
        other.start()
        assert begun.wait(20)
        with pytest.raises(Panic, match="over"):
            hf.settle("panics")
        released.set()
        other.join(20)
        assert answers == [True]
        assert hf.settle("waits").ok


def test_a_call_is_explained_in_blocking_code_too() -> None:
    @tool
    def quick() -> None:
        """Be quick."""

    hf = blocking.Holdfast(tools=[quick])
    with pytest.raises(RuntimeError, match="not open"):
        hf.explain("quick")
    with hf:
        found = hf.explain("quick")
        assert isinstance(found, Explanation)
        assert found.verdict == "allow"


ENDS_THE_LOOP = """
import asyncio
from holdfast import blocking, tool

async def leaves() -> None:
    raise SystemExit(3)

@tool
async def ends() -> None:
    '''Leave a task behind that ends the loop.'''
    asyncio.get_running_loop().create_task(leaves())
    await asyncio.sleep(30)

with blocking.Holdfast(tools=[ends]) as hf:
    try:
        hf.settle("ends")
    except RuntimeError as problem:
        print(problem)
"""


def test_a_loop_that_was_ended_is_told_and_left_in_peace() -> None:
    command = [sys.executable, "-c", ENDS_THE_LOOP]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "event loop has ended; open a new one" in done.stdout


@pytest.mark.parametrize("ended", [True, False])
def test_what_went_wrong_while_closing_is_raised_unless_the_loop_had_ended(
    ended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise RuntimeError("this portal is not running")

    hf = blocking.Holdfast(tools=[])
    closing = ExitStack()
    closing.callback(fails)
    monkeypatch.setattr(hf, "_closing", closing)
    monkeypatch.setattr(hf, "_ended", ended)
    with nullcontext() if ended else pytest.raises(RuntimeError, match="not running"):
        hf.__exit__(None, None, None)


class Gone:
    """A portal whose loop has ended."""

    def start_task_soon(self, *_given: object) -> Future[object]:
        future: Future[object] = Future()
        future.cancel()
        return future


def test_a_call_cancelled_by_nobody_we_know_means_that_the_loop_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hf = blocking.Holdfast(tools=[])
    monkeypatch.setattr(hf, "_portal", Gone())
    with pytest.raises(RuntimeError, match="has ended"):
        hf.settle("quick")
