"""A loop's output is there at once: its rows are read later, and its errors are told once."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import anyio
import pytest
from flow_kit import UNKEPT, Does, Scripted, agent, asks, gives, kinds, results, says, user

from holdfast.contract.flow import FlowSession
from holdfast.contract.model import Heard, ModelReply, ModelRequest
from holdfast.flow import (
    LoopSession,
    Session,
    run_session_compress,
    run_session_compress_async,
    run_session_loop,
    run_session_loop_async,
)


class Gated(Scripted):
    """Replies once somebody lets it."""

    def __init__(self, *replies: ModelReply | BaseException) -> None:
        super().__init__(*replies)
        self.gate = threading.Event()

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        await anyio.to_thread.run_sync(self.gate.wait, abandon_on_cancel=True)
        return await super().complete(request, heard)


def _begun(model: Scripted, *tools: Does) -> LoopSession:
    return run_session_loop(user().to("local"), agent(), model, tools, **UNKEPT)


def test_id_sandbox_and_lineage_are_ready_before_the_rows_are() -> None:
    model = Gated(says("done"))
    out = _begun(model)
    assert not out.done
    assert out.id.startswith("ses_")
    assert out.target is not None
    assert out.lineage.kind == "op_session_loop"
    assert "1 rows" in repr(out)
    model.gate.set()
    assert kinds(out) == ["user", "assistant"]
    assert out.done


@pytest.mark.parametrize(
    "read", ["chunk_table", "cumulative_usage", "transcript", "fork", "append"]
)
def test_every_way_to_read_it_waits(read: str) -> None:
    model = Gated(says("done", cost=3))
    out = _begun(model)
    threading.Timer(0.05, model.gate.set).start()
    found = getattr(out, read)
    if callable(found):
        found()
    assert out.done
    assert out.cumulative_usage.total_tokens == 3


def test_several_loops_run_at_once_on_one_thread() -> None:
    models = [Gated(says(str(number))) for number in range(5)]
    before = {thread.name for thread in threading.enumerate()}
    outs = [_begun(model) for model in models]
    assert not any(out.done for out in outs)
    named = [thread for thread in threading.enumerate() if thread.name == "holdfast flow"]
    assert len(named) == 1
    assert named[0].daemon
    for model in reversed(models):
        model.gate.set()
    assert [cast("str", getattr(out.chunk_table[-1], "content", "")) for out in outs] == [*"01234"]
    assert before - {thread.name for thread in threading.enumerate()} <= before


def test_an_error_is_told_once_and_then_the_rows_are_as_they_were() -> None:
    out = _begun(Scripted(asks(("a", "{}")), OSError("the line is dead")), gives("a", 1))
    with pytest.raises(OSError, match="the line is dead"):
        _ = out.chunk_table
    assert kinds(out) == ["user", "assistant", "tool_result"]
    assert out.cumulative_usage.total_tokens == 0


def test_an_error_that_nobody_read_is_told_when_the_session_is_collected() -> None:
    out = _begun(Scripted(ValueError("unheard")))
    while not out.done:
        threading.Event().wait(0.005)
    left = [out]
    del out
    with pytest.warns(RuntimeWarning, match=r"nobody read it: ValueError\('unheard'\)"):
        _forget(left)


def _forget(left: list[LoopSession]) -> None:
    left.clear()
    gc.collect()


def test_a_session_that_was_read_is_collected_in_silence() -> None:
    failed, fine = _begun(Scripted(ValueError("heard"))), _begun(Scripted(says("done")))
    with pytest.raises(ValueError, match="heard"):
        failed.wait()
    fine.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del failed, fine
        gc.collect()


def test_a_loop_can_be_cancelled() -> None:
    model = Gated(says("never"))
    out = _begun(model)
    out.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        out.wait()
    assert kinds(out) == ["user"]
    out.cancel()
    model.gate.set()


def test_a_lazy_session_can_be_gone_on_with() -> None:
    model = Gated(says("one"))
    first = _begun(model)
    threading.Timer(0.05, model.gate.set).start()
    second = run_session_loop(first, agent(), Scripted(says("two")), **UNKEPT)
    assert kinds(second) == ["user", "assistant", "assistant"]
    assert second.lineage.parent_session_ids[0] == first.id


async def test_the_blocking_functions_refuse_an_event_loop() -> None:
    model = Scripted(says("done"))
    with pytest.raises(RuntimeError, match="await run_session_loop_async"):
        run_session_loop(user(), agent(), model)
    with pytest.raises(RuntimeError, match="await run_session_compress_async"):
        run_session_compress(user(), agent(), model)
    assert model.requests == []


async def test_reading_does_not_block_an_event_loop() -> None:
    model = Gated(says("done"))
    out = await anyio.to_thread.run_sync(_begun, model)
    with pytest.raises(RuntimeError, match=r"await session\.waited\(\)"):
        _ = out.chunk_table
    model.gate.set()
    assert (await out.waited()) is out
    assert kinds(out) == ["user", "assistant"]
    again = await run_session_loop_async(out, agent(), Scripted(says("more")), **UNKEPT)
    assert again.done
    assert kinds(again) == ["user", "assistant", "assistant"]


async def test_what_is_awaited_waits_for_what_it_is_given() -> None:
    for run in (run_session_loop_async, run_session_compress_async):
        model = Gated(says("one"))
        first = await anyio.to_thread.run_sync(_begun, model)
        threading.Timer(0.05, model.gate.set).start()
        made = await run(first, agent(), Scripted(says("two")), **UNKEPT)
        assert made.lineage.parent_session_ids[0] == first.id


async def test_an_awaited_loop_raises_where_it_is_awaited() -> None:
    with pytest.raises(ValueError, match="no"):
        await run_session_loop_async(user(), agent(), Scripted(ValueError("no")), **UNKEPT)


def test_a_tool_may_run_a_loop_of_its_own() -> None:
    def hand_on(session: FlowSession, arguments: Mapping[str, object]) -> object:
        inner = run_session_loop(
            cast("Session", session).fork(), agent(), Scripted(says("inner")), **UNKEPT
        )
        return kinds(inner)

    out = _begun(Scripted(asks(("on", "{}")), says("outer")), Does("on", hand_on))
    assert results(out) == ['["user", "assistant", "assistant"]']


def test_compressing_asks_once_without_tools() -> None:
    model = Scripted(says("in short", cost=4))
    first = user().to("local")
    made = run_session_compress(first, agent(), model, "be very brief", **UNKEPT)
    assert [type(row).__struct_config__.tag for row in made.chunk_table] == ["user"]
    assert made.lineage.kind == "op_session_compress"
    assert (made.target, made.cumulative_usage.total_tokens) == (first.target, 4)
    (request,) = model.requests
    assert request.tools == ()
    assert [getattr(row, "content", "") for row in request.rows] == [
        "be brief",
        "hi",
        "be very brief",
    ]


@pytest.mark.parametrize("reply", [asks(("a", "{}")), says("  ")])
def test_a_compression_that_says_nothing_is_an_error(reply: ModelReply) -> None:
    with pytest.raises(RuntimeError, match="run_session_compress"):
        run_session_compress(user(), agent(), Scripted(reply), **UNKEPT)


def test_an_unknown_option_of_compressing_is_refused() -> None:
    with pytest.raises(TypeError, match="no option 'persist'"):
        run_session_compress(user(), agent(), Scripted(says("a")), persist=True)  # type: ignore[call-arg] - wrong on purpose


ENDS = """
import signal, sys, threading
sys.path.insert(0, {tests!r})
from flow_kit import UNKEPT, Does, Scripted, agent, asks, says, user
from holdfast.flow import run_session_loop
"""


def _program(text: str, tmp_path: Path) -> "subprocess.CompletedProcess[str]":
    whole = ENDS.format(tests=str(Path(__file__).parents[1])) + textwrap.dedent(text)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", whole],
        capture_output=True,
        text=True,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path)},
        timeout=15,
        check=False,
    )


def test_a_program_ends_although_a_loop_still_runs(tmp_path: Path) -> None:
    ended = _program(
        """
        began = threading.Event()
        def hang(*given):
            began.set()
            threading.Event().wait()
        out = run_session_loop(
            user(), agent(), Scripted(asks(("hang", "{}"))), [Does("hang", hang)], **UNKEPT
        )
        began.wait()
        print("over", flush=True)
        """,
        tmp_path,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "over\n", "")


def test_a_program_that_read_its_loops_ends_in_silence(tmp_path: Path) -> None:
    ended = _program(
        """
        out = run_session_loop(user(), agent(), Scripted(says("done")), **UNKEPT)
        print(len(out.chunk_table))
        """,
        tmp_path,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "")


def test_an_interrupt_while_reading_stops_the_loop(tmp_path: Path) -> None:
    ended = _program(
        """
        import os
        def interrupt(*given):
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait()
        out = run_session_loop(
            user(), agent(), Scripted(asks(("a", "{}"))), [Does("a", interrupt)], **UNKEPT
        )
        try:
            out.chunk_table
        except KeyboardInterrupt:
            print("interrupted", len(out.chunk_table))
        """,
        tmp_path,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "interrupted 2\n", "")


def test_a_forked_child_has_a_loop_of_its_own(tmp_path: Path) -> None:
    ended = _program(
        """
        import os
        def run():
            return len(run_session_loop(user(), agent(), Scripted(says("a")), **UNKEPT).chunk_table)
        print(run(), flush=True)
        child = os.fork()
        if not child:
            print(run(), flush=True)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), run())
        """,
        tmp_path,
    )
    assert (ended.returncode, ended.stdout) == (0, "2\n2\n0 2\n")
