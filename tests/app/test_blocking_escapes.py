"""An error that is no Exception reaches who waits for the call, and nobody else."""

import threading

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
