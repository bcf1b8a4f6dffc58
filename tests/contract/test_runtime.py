"""A runtime without a hand: whatever would reach the world is told that there is none."""

import anyio
import pytest

from holdfast.contract.errors import Unavailable
from holdfast.contract.runtime import NoHand, Runtime, SessionFacts
from holdfast.runtime.abort import Abort
from holdfast.testing.fakes import FakeProgress


def without_a_hand() -> Runtime:
    return Runtime(
        call_id="c1",
        tool="look",
        session=SessionFacts(id="s1"),
        progress=FakeProgress(),
        abort=Abort(),
        hand=NoHand(),
    )


@pytest.mark.parametrize("port", ["fs", "shell", "net"])
def test_a_session_without_a_sandbox_says_so(port: str) -> None:
    expected = f"rt.{port}: this session has no sandbox for tool 'look'"
    with pytest.raises(Unavailable, match=expected):
        getattr(without_a_hand(), port)


def test_there_is_nothing_to_wait_for_and_nothing_to_say() -> None:
    work = anyio.sleep(60)
    with pytest.raises(Unavailable, match=r"rt\.wait: this session has no sandbox"):
        without_a_hand().wait(work)
    assert work.cr_frame is None, "it was closed, so nobody warns of it"
    assert NoHand().noticed("c1") == ()
