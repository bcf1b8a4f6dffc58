"""What a `task` that is stopped leaves behind: a child that was told, a closed session, nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import anyio
import pytest
from interrupts import until
from tool_kit import UNRECORDED, opened, result

from holdfast import Abort, Envelope, Holdfast, Subagent, tool
from holdfast.app.settings import Settings
from holdfast.contract.delegation import ABORTED_BY_PARENT
from holdfast.contract.events import ChildCreated, ChildIdle
from holdfast.contract.journal import Journal

pytestmark = pytest.mark.anyio

_T = TypeVar("_T")


class Sleeper:
    """A command that would run for hours; found again among all processes."""

    def __init__(self, workspace: Path) -> None:
        self._began = workspace / "began"
        self._seconds = f"98765.{uuid4().int % 10**12:012}"
        self.command = f"touch began; sleep {self._seconds}"

    def runs(self) -> bool:
        return self._began.exists() and self.lives()

    def lives(self) -> bool:
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self._seconds.encode() in place.read_bytes():
                    return True
            except OSError:  # it ended meanwhile
                continue
        return False


async def stopped(
    hf: Holdfast, name: str, arguments: dict[str, object], runs: Callable[[], bool]
) -> Envelope:
    """Settle a call, and abort it once it runs."""
    abort = Abort()
    answers: list[Envelope] = []

    async def call() -> None:
        answers.append(await hf.settle(name, arguments, abort=abort))

    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await until(runs)
            abort.set()
    return answers[0]


async def journal_of(hf: Holdfast) -> Journal:
    return await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look


async def told(journal: Journal, hf: Holdfast, kind: type[_T]) -> list[_T]:
    events = [one.payload for one in await journal.events(hf.session_id)]
    return [one for one in events if isinstance(one, kind)]


async def assert_closed(journal: Journal, session_id: str) -> None:
    seen = await journal.session(session_id)
    assert seen.state.status == "terminated"
    assert seen.state.calls == {}
    assert seen.lease is None


def assert_cancelled(envelope: Envelope, name: str = "task") -> None:
    assert envelope.failure is not None, envelope.result
    assert envelope.failure.message == f"Tool {name!r} was cancelled."


async def test_an_abort_ends_the_childs_call_and_closes_its_session(workspace: Path) -> None:
    sleeper = Sleeper(workspace)
    went_on: list[str] = []

    async def loop(child: Holdfast, _prompt: str) -> str:
        for command in (sleeper.command, "touch after"):
            await child.settle("bash", {"command": command})
            went_on.append(command)
        return "as if nothing had happened"

    agents = {"a": Subagent(run=loop, description="Works.")}
    async with opened(workspace, "code", settings=Settings(), subagents=agents) as hf:
        envelope = await stopped(hf, "task", {"subagent_type": "a", "prompt": "x"}, sleeper.runs)
        assert_cancelled(envelope)
        assert went_on == []
        assert not (workspace / "after").exists()
        journal = await journal_of(hf)
        with anyio.fail_after(10):  # a busy machine may close the child after the answer
            while not (ends := await told(journal, hf, ChildIdle)):  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)
        (rested,) = ends
        assert (rested.child_stop_reason, rested.summary) == ("terminated", ABORTED_BY_PARENT)
        (made,) = await told(journal, hf, ChildCreated)
        assert made.child_session_id == rested.child_session_id
        await assert_closed(journal, made.child_session_id)
        with anyio.fail_after(10):
            await until(lambda: not sleeper.lives())
    # Nobody runs the child: it can be taken up.
    again = opened(workspace, "code", settings=Settings(), session=made.child_session_id)
    async with again as taken_up:
        assert (await taken_up.settle("todo", {"todos": []})).ok


@pytest.mark.parametrize("background", [False, True])
async def test_a_runner_that_would_not_stop_is_given_up_and_its_session_closes(
    workspace: Path, background: bool
) -> None:
    sleeper = Sleeper(workspace)
    children: list[str] = []
    cancelled = anyio.get_cancelled_exc_class()

    async def stubborn(child: Holdfast, _prompt: str) -> str:
        children.append(child.session_id)
        work = child.settle("bash", {"command": sleeper.command})
        while True:
            try:
                await work
            except cancelled:
                work = anyio.sleep_forever()

    agents = {"a": Subagent(run=stubborn, description="Works on.")}
    sent: dict[str, object] = {"subagent_type": "a", "prompt": "x", "background": background}
    async with opened(workspace, "code", settings=Settings(), subagents=agents) as hf:
        if background:
            await result(hf, "task", **sent)
            with anyio.fail_after(15):
                await until(sleeper.runs)
        else:
            assert_cancelled(await stopped(hf, "task", sent, sleeper.runs))
    assert not sleeper.lives()
    async with opened(workspace, "code", settings=Settings(), session=hf.session_id) as again:
        journal = await journal_of(again)
        await assert_closed(journal, children[0])
        (rested,) = await told(journal, hf, ChildIdle)
        assert (rested.child_stop_reason, rested.summary) == ("terminated", ABORTED_BY_PARENT)


async def test_an_abort_goes_down_all_levels(workspace: Path) -> None:
    sleeper = Sleeper(workspace)
    children: list[str] = []

    async def deeper(child: Holdfast, prompt: str) -> str:
        children.append(child.session_id)
        if prompt == "xxx":
            await child.settle("bash", {"command": sleeper.command})
        else:
            await child.settle("task", {"subagent_type": "a", "prompt": f"{prompt}x"})
        return "as if nothing had happened"

    agents = {"a": Subagent(run=deeper, description="Digs.")}
    async with opened(workspace, "code", settings=Settings(), subagents=agents) as hf:
        envelope = await stopped(hf, "task", {"subagent_type": "a", "prompt": "x"}, sleeper.runs)
        assert_cancelled(envelope)
    assert not sleeper.lives()
    async with opened(workspace, "code", settings=Settings(), session=hf.session_id) as again:
        journal = await journal_of(again)
        assert len(children) == 3
        for child in children:
            await assert_closed(journal, child)


async def test_an_abort_of_a_tool_that_settles_calls_of_another_holdfast(workspace: Path) -> None:
    sleeper = Sleeper(workspace)
    went_on: list[str] = []

    @tool(interrupt_behavior="cancel")
    async def handed_on() -> str:
        """Have another session do it."""
        async with opened(workspace, "code", settings=UNRECORDED) as other:
            await other.settle("bash", {"command": sleeper.command})
            went_on.append("as if nothing had happened")
        return "done"

    async with opened(workspace, "bare", tools=[handed_on]) as hf:
        envelope = await stopped(hf, "handed_on", {}, sleeper.runs)
        assert_cancelled(envelope, "handed_on")
        assert went_on == []
        with anyio.fail_after(10):
            await until(lambda: not sleeper.lives())


async def test_an_abort_leaves_the_other_holdfast_as_it_was(workspace: Path) -> None:
    sleeper = Sleeper(workspace)

    async with opened(workspace, "code", settings=Settings()) as other:

        @tool(interrupt_behavior="cancel")
        async def handed_on() -> str:
            """Have another session do it."""
            await other.settle("bash", {"command": sleeper.command})
            return "as if nothing had happened"

        async with opened(workspace, "bare", tools=[handed_on]) as hf:
            assert_cancelled(await stopped(hf, "handed_on", {}, sleeper.runs), "handed_on")
        with anyio.fail_after(10):
            await until(lambda: not sleeper.lives())
        seen = await (await journal_of(other)).session(other.session_id)
        assert seen.state.calls == {}
        assert (await other.settle("bash", {"command": "true"})).ok


async def test_closing_stops_a_child_whose_call_has_an_abort_of_its_own(workspace: Path) -> None:
    sleeper = Sleeper(workspace)
    children: list[str] = []
    answers: list[Envelope] = []

    async def loop(child: Holdfast, _prompt: str) -> str:
        children.append(child.session_id)
        while True:
            await child.settle("bash", {"command": sleeper.command})

    async def call(hf: Holdfast) -> None:
        sent = {"subagent_type": "a", "prompt": "x"}
        answers.append(await hf.settle("task", sent, abort=Abort()))

    agents = {"a": Subagent(run=loop, description="Works.")}
    parents: list[str] = []
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            made = opened(workspace, "code", settings=Settings(), subagents=agents)
            async with made as hf:
                parents.append(hf.session_id)
                group.start_soon(call, hf)
                await until(sleeper.runs)
    assert_cancelled(answers[0])
    assert not sleeper.lives()
    async with opened(workspace, "code", settings=Settings(), session=parents[0]) as again:
        await assert_closed(await journal_of(again), children[0])
