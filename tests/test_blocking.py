"""The surface for synchronous code: same answers, several threads, and no call left behind."""

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from holdfast import Holdfast as AsyncHoldfast
from holdfast import render, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.source_settings import McpSettings
from holdfast.blocking import Holdfast


@tool
async def double(n: int) -> dict[str, int]:
    """Double a number."""
    await checkpoint()
    return {"double": n * 2}


@tool
def thread_of() -> dict[str, str]:
    """Name the thread it runs in."""
    return {"thread": threading.current_thread().name}


def _opened() -> Holdfast:
    return Holdfast(tools=[double, thread_of], settings=Settings())


def _without_duration(text: str) -> str:
    return re.sub(r'"duration_ms":[0-9]+', "", text)


async def test_it_answers_exactly_as_the_asynchronous_one() -> None:
    def blocking() -> str:
        with _opened() as hf:
            return render(hf.settle("double", {"n": "4"}))

    async with AsyncHoldfast(tools=[double], settings=Settings()) as hf:
        expected = render(await hf.settle("double", {"n": "4"}))
    answered = await anyio.to_thread.run_sync(blocking)
    assert _without_duration(answered) == _without_duration(expected)


def test_it_shows_its_tools_and_its_session() -> None:
    hf = _opened()
    assert [tool.name for tool in hf.tools] == ["question", "double", "thread_of"]
    assert hf.session_id.startswith("ses_")


def test_calls_are_settled_only_while_open() -> None:
    hf = _opened()
    with pytest.raises(RuntimeError, match="with Holdfast"):
        hf.settle("double", {"n": 1})
    with hf:
        assert hf.settle("double", {"n": 1}).ok
        with pytest.raises(RuntimeError, match="already open"):
            hf.__enter__()
    with pytest.raises(RuntimeError, match="not open"):
        hf.settle("double", {"n": 1})
    with hf:
        assert hf.settle("double", {"n": 1}).ok


def test_several_threads_may_use_it_at_once() -> None:
    def ask(n: int) -> object:
        return hf.settle("double", {"n": n}).result

    with _opened() as hf, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(200)))
    assert answers == [{"double": n * 2} for n in range(200)]


def test_a_tool_body_may_call_back_into_it() -> None:
    hf = Holdfast(settings=Settings())

    @tool
    def outer() -> object:
        """Call another tool from a tool's own thread."""
        return hf.settle("nothing").ok

    hf = Holdfast(tools=[outer], settings=Settings())
    with hf:
        assert hf.settle("outer").result is False


def test_leaving_with_an_error_gives_up_calls_that_still_run() -> None:
    started = threading.Event()
    ended: list[str] = []

    @tool
    async def wait() -> None:
        """Wait for ever."""
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cleaned up")

    hf = Holdfast(tools=[wait], settings=Settings())
    with ThreadPoolExecutor(1) as threads:
        hf.__enter__()
        waiting = threads.submit(hf.settle, "wait")
        assert started.wait(5)
        error = ZeroDivisionError()
        hf.__exit__(type(error), error, None)
        with pytest.raises(CancelledError):
            waiting.result(5)
    assert ended == ["cleaned up"]


INTERRUPTED = """
import os, signal, threading, anyio
from holdfast import tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.source_settings import McpSettings
from holdfast.blocking import Holdfast

# Ignored by whoever started the tests, the interrupt would be ignored here too.
signal.signal(signal.SIGINT, signal.default_int_handler)

@tool
async def wait() -> None:
    "Wait for ever."
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        await anyio.sleep_forever()
    finally:
        print("cleaned up", flush=True)

try:
    with Holdfast(tools=[wait], settings=Settings()) as hf:
        try:
            hf.settle("wait")
        except KeyboardInterrupt:
            print("still usable:", hf.settle("nothing").ok, flush=True)
            raise
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

ABANDONED = """
import time
from holdfast import Limits, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.source_settings import McpSettings
from holdfast.blocking import Holdfast

@tool(limits=Limits(wall_seconds=0.1))
def sleep() -> None:
    "Sleep past the deadline in a thread that cannot be stopped."
    time.sleep(60)

with Holdfast(tools=[sleep], settings=Settings()) as hf:
    print(hf.settle("sleep").failure.kind)
"""


def _run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=15
    )


def test_an_interrupt_stops_the_call_and_leaves_the_rest_usable() -> None:
    result = _run(INTERRUPTED)
    assert sorted(result.stdout.splitlines()) == [
        "cleaned up",
        "interrupted",
        "still usable: False",
    ]
    assert (result.returncode, result.stderr) == (0, "")


def test_a_body_that_cannot_be_stopped_does_not_keep_the_process() -> None:
    result = _run(ABANDONED)
    assert (result.returncode, result.stdout, result.stderr) == (0, "timeout\n", "")


def test_a_forked_child_is_told_to_open_its_own() -> None:
    """The thread that settles calls is the parent's: waiting for it would never end."""
    with _opened() as hf:
        hf.settle("double", {"n": 1})
        read, write = os.pipe()
        number = os.fork()
        if number == 0:
            with os.fdopen(write, "w") as said:
                said.write(_in_the_child(hf))
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as answers:
            told = answers.read()
        assert os.waitpid(number, 0)[1] == 0
        assert hf.settle("double", {"n": 2}).ok
    assert told == "told told told left True"


def _in_the_child(parents: Holdfast) -> str:
    said: list[str] = []
    for use in (
        lambda: parents.settle("double", {"n": 1}),
        lambda: parents.explain("double", {"n": 1}),
        parents.questions,
    ):
        try:
            use()
        except RuntimeError as refused:
            said.append("told" if "open another one in the child" in str(refused) else "odd")
    parents.__exit__(None, None, None)
    said.append("left")
    with _opened() as own:
        said.append(str(own.settle("double", {"n": 1}).ok))
    return " ".join(said)


def test_what_an_agent_does_between_turns_is_there_too(tmp_path: Path) -> None:
    script = Path(__file__).parent / "sources" / "mcp" / "raw_server.py"
    table = McpSettings(command=(sys.executable, str(script)))
    settings = Settings(mcp={"raw": table})
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    state = tmp_path / "state"
    surroundings = Surroundings(
        data_home=state, state_home=state, parent_environment=dict(os.environ)
    )
    session = Holdfast(
        settings=settings, servers=["raw"], workspace=workspace, surroundings=surroundings
    )
    assert session.servers == ()
    with session as hf:
        assert [one.status for one in hf.servers] == ["connected"]
        assert hf.pin("raw", "echo") == ("echo",)
        assert [one.name for one in hf.servers[0].tools if one.pinned] == ["echo"]
        with pytest.raises(LookupError):
            hf.pin("raw", "nothing")
        hf.new_turn()
        assert not hf.take_changes()
    with pytest.raises(RuntimeError, match="with Holdfast"):
        session.new_turn()
