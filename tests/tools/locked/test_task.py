"""`task`: work for another agent, one level deeper, with never more than its parent may."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from tool_kit import failure, opened, result

from holdfast import Abort, Answer, Ask, Holdfast, Rule, Subagent, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.delegation import ABORTED_BY_PARENT, MOST_DEPTH
from holdfast.contract.events import ChildCreated, ChildIdle, SessionCreated
from holdfast.contract.failure import FailureKind
from holdfast.envelope.redact import REDACTED

pytestmark = pytest.mark.anyio


async def echo(child: Holdfast, prompt: str) -> str:
    return f"{prompt} by {child.session_id}"


@tool(requires={"fs": {"write": ["out/**"]}}, uses={"path": "fs.write"}, read_only=False)
def save(path: str) -> str:
    """Save it."""
    return path


@tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"}, read_only=False)
def save_anywhere(path: str) -> str:
    """Save it, wherever."""
    return path


REVIEWER = Subagent(run=echo, description="Reviews.")


def deny(permission: str, action: Any = "deny") -> Rule:
    return Rule(permission=permission, pattern="*", action=action, scope="session", source="test")


@pytest.mark.req("SPEC-TASK-01", "SPEC-TASK-02", "SPEC-LOCK-12", "SPEC-LOCK-20")
async def test_it_waits_for_the_last_message_or_gives_the_session_at_once(workspace: Path) -> None:
    go_on = anyio.Event()

    async def slow(child: Holdfast, prompt: str) -> str:
        await go_on.wait()
        return f"{prompt} by {child.session_id}"

    agents = {"reviewer": REVIEWER, "slow": Subagent(run=slow, description="Takes its time.")}
    async with opened(workspace, "locked", subagents=agents) as hf:
        declared = next(one for one in hf.tools if one.name == "task")
        assert declared.requires.empty
        properties: Any = declared.input_schema["properties"]
        assert list(properties) == ["subagent_type", "prompt", "background", "metadata"]
        assert properties["background"]["default"] is False
        told = await result(hf, "task", subagent_type="reviewer", prompt="Look")
        assert list(told) == ["output"]
        assert told["output"].startswith("Look by ses_")
        assert hf.session_id not in told["output"]
        with anyio.fail_after(5):
            begun = await result(
                hf, "task", subagent_type="slow", prompt="Later", background=True, metadata={"n": 1}
            )
            assert list(begun) == ["session_id"]
            assert hf.finished_tasks == ()
            go_on.set()
            while not hf.finished_tasks:  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)
        (ended,) = hf.finished_tasks
        assert (ended.session_id, ended.agent) == (begun["session_id"], "slow")
        assert ended.output == f"Later by {begun['session_id']}"


@pytest.mark.req("SPEC-TASK-03")
async def test_only_agents_of_the_right_mode_can_be_started(workspace: Path) -> None:
    agents = {
        "reviewer": REVIEWER,
        "both": Subagent(run=echo, description="Either.", mode="all"),
        "main": Subagent(run=echo, description="For people.", mode="primary"),
    }
    async with opened(workspace, "locked", subagents=agents) as hf:
        await result(hf, "task", subagent_type="both", prompt="x")
        for name in ("main", "nobody"):
            refused = await failure(hf, "task", subagent_type=name, prompt="x")
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "subagent_type")
            assert refused.message.endswith("Available: both, reviewer.")
    async with opened(workspace, "locked") as hf:
        refused = await failure(hf, "task", subagent_type="reviewer", prompt="x")
        assert refused.kind == FailureKind.UNAVAILABLE
        assert "Holdfast(subagents=" in refused.message


@pytest.mark.req("SPEC-TASK-08")
@pytest.mark.parametrize("background", [False, True])
async def test_the_sixth_level_is_refused(workspace: Path, background: bool) -> None:
    told: list[Any] = []

    async def deeper(child: Holdfast, prompt: str) -> str:
        sent = {"subagent_type": "deeper", "prompt": "on", "background": background}
        told.append(await child.settle("task", sent))
        with anyio.fail_after(10):
            while background and len(told) <= MOST_DEPTH - 1:  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)
        return prompt

    agents = {"deeper": Subagent(run=deeper, description="Digs.")}
    async with opened(workspace, "locked", subagents=agents) as hf:
        with anyio.fail_after(15):
            sent = {"subagent_type": "deeper", "prompt": "on", "background": background}
            told.append(await hf.settle("task", sent))
            while len(told) <= MOST_DEPTH:  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(0.01)
    failures = [one.failure for one in told if one.failure is not None]
    assert len(told) == MOST_DEPTH + 1
    (refused,) = failures
    assert refused.kind == FailureKind.REJECTED
    assert "6 levels below" in refused.message


@pytest.mark.req("SPEC-TASK-05", "SPEC-TASK-07")
async def test_a_child_never_exceeds_its_parent_nor_a_grandchild(workspace: Path) -> None:
    seen: dict[str, list[FailureKind | None]] = {}

    async def tries(child: Holdfast, prompt: str) -> str:
        kinds = seen.setdefault(prompt, [])
        for name, path in (("save", "out/a"), ("save_anywhere", "out/a"), ("save_anywhere", "b")):
            envelope = await child.settle(name, {"path": path})
            kinds.append(None if envelope.failure is None else envelope.failure.kind)
        todo = await child.settle("todo", {"todos": []})
        kinds.append(None if todo.failure is None else todo.failure.kind)
        if prompt == "child":
            await child.settle("task", {"subagent_type": "looser", "prompt": "grandchild"})
        return "done"

    agents = {
        "looser": Subagent(run=tries, description="Wants more.", tools=[save, save_anywhere]),
    }
    made = opened(workspace, "locked", tools=[save], rules=[deny("todo")], subagents=agents)
    async with made as hf:
        await result(hf, "task", subagent_type="looser", prompt="child")
    rejected = FailureKind.REJECTED
    # The parent has no `save_anywhere`: within its reach somebody would have to be asked.
    assert seen["child"] == [None, rejected, rejected, rejected]
    assert seen["grandchild"] == seen["child"]


@pytest.mark.req("SPEC-TASK-06")
async def test_where_the_parent_asks_the_child_asks_too(workspace: Path) -> None:
    asked: list[str] = []

    async def ada(ask: Ask) -> Answer | None:
        asked.append(ask.prepared.call.session_id)
        return Answer(allowed=True, by="ada", remember="session")

    async def saves(child: Holdfast, _prompt: str) -> str:
        envelope = await child.settle("save", {"path": "out/a"})
        return f"{child.session_id} {envelope.failure is None}"

    agents = {"saver": Subagent(run=saves, description="Saves.")}
    made = opened(
        workspace,
        "locked",
        tools=[save],
        rules=[deny("save", "ask")],
        subagents=agents,
        approver=ada,
    )
    async with made as hf:
        first = (await result(hf, "task", subagent_type="saver", prompt="x"))["output"].split()
        second = (await result(hf, "task", subagent_type="saver", prompt="x"))["output"].split()
    assert (first[1], second[1]) == ("True", "True")
    assert asked == [first[0], second[0]]  # what one child was answered holds for no other


async def test_a_child_is_written_down_with_its_parent(workspace: Path) -> None:
    async def broken(_child: Holdfast, _prompt: str) -> str:
        raise ValueError("out of paper")

    async def works(child: Holdfast, prompt: str) -> str:
        await child.settle("todo", {"todos": []})
        return prompt

    agents = {
        "worker": Subagent(run=works, description="Works."),
        "broken": Subagent(run=broken, description="Breaks."),
    }
    async with opened(workspace, "locked", settings=Settings(), subagents=agents) as hf:
        await result(hf, "task", subagent_type="worker", prompt="Look", metadata={"ticket": 7})
        failed = await failure(hf, "task", subagent_type="broken", prompt="Look")
        assert "The subagent 'broken' failed: ValueError: out of paper" in failed.message
        journal = await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look
        told = [one.payload for one in await journal.events(hf.session_id)]
        made = [one for one in told if isinstance(one, ChildCreated)]
        assert [(one.outcome_title, one.message) for one in made] == [
            ("worker", "Look"),
            ("broken", "Look"),
        ]
        ends = [one for one in told if isinstance(one, ChildIdle)]
        assert [(one.child_session_id, one.child_stop_reason) for one in ends] == [
            (made[0].child_session_id, "idle"),
            (made[1].child_session_id, "terminated"),
        ]
        (begun, *_) = await journal.events(made[0].child_session_id)
        assert isinstance(begun.payload, SessionCreated)
        assert begun.payload.parent_id == hf.session_id
        assert begun.payload.workspace == str(workspace.resolve())
        assert begun.payload.metadata == {"agent": "worker", "ticket": 7, "depth": 1}


async def test_a_child_that_calls_nothing_is_written_down_too(workspace: Path) -> None:
    agents = {"reviewer": REVIEWER}
    async with opened(workspace, "locked", settings=Settings(), subagents=agents) as hf:
        await result(hf, "task", subagent_type="reviewer", prompt="Look", metadata={"ticket": 7})
        journal = await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look
        told = [one.payload for one in await journal.events(hf.session_id)]
        (made,) = [one for one in told if isinstance(one, ChildCreated)]
        child = await journal.session(made.child_session_id)
    assert (child.state.parent_id, child.state.status) == (hf.session_id, "terminated")
    assert child.state.metadata == {"agent": "reviewer", "ticket": 7, "depth": 1}
    assert child.lease is None


async def test_what_is_kept_with_a_child_holds_no_secret_and_says_truly_who_it_is(
    workspace: Path,
) -> None:
    secret, home = "s3cr3t-value-123456", workspace.parent / "home"
    prompts: list[str] = []

    async def works(child: Holdfast, prompt: str) -> str:
        prompts.append(prompt)
        await child.settle("todo", {"todos": []})
        return child.session_id

    agents = {"worker": Subagent(run=works, description="Works.")}
    around = Surroundings(data_home=home / "data", state_home=home / "state", secrets=(secret,))
    made = opened(workspace, "locked", settings=Settings(), surroundings=around, subagents=agents)
    async with made as hf:
        metadata = {"agent": "root", "depth": 0, "deep": [{"key": secret, f"a {secret}": 1}]}
        told = await result(
            hf, "task", subagent_type="worker", prompt=f"Use {secret}.", metadata=metadata
        )
        journal = await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look
        (begun, *_) = await journal.events(told["output"])
    assert prompts == [f"Use {secret}."]
    assert isinstance(begun.payload, SessionCreated)
    kept = begun.payload.metadata
    assert (kept["agent"], kept["depth"]) == ("worker", 1)
    assert kept["deep"] == [{"key": REDACTED, f"a {REDACTED}": 1}]
    files = [one for one in home.rglob("*") if one.is_file()]
    assert files
    assert not any(secret.encode() in one.read_bytes() for one in files)


async def test_what_runs_in_the_background_ends_with_its_parent(workspace: Path) -> None:
    cancelled: list[str] = []
    runs = anyio.Event()

    async def forever(child: Holdfast, _prompt: str) -> str:
        runs.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(child.session_id)
        return "never"

    agents = {"idler": Subagent(run=forever, description="Waits.")}
    async with opened(workspace, "locked", settings=Settings(), subagents=agents) as hf:
        begun = await result(hf, "task", subagent_type="idler", prompt="x", background=True)
        with anyio.fail_after(10):
            await runs.wait()
    assert cancelled == [begun["session_id"]]
    (ended,) = hf.finished_tasks
    assert (ended.output, ended.error) == (None, ABORTED_BY_PARENT)
    async with opened(workspace, "locked", settings=Settings(), session=hf.session_id) as again:
        journal = await again._journal()  # pyright: ignore[reportPrivateUsage] - to look
        told = [one.payload for one in await journal.events(again.session_id)]
    (end,) = [one for one in told if isinstance(one, ChildIdle)]
    assert (end.child_stop_reason, end.summary) == ("terminated", ABORTED_BY_PARENT)


async def test_an_abort_of_the_call_stops_the_child_it_waits_for(workspace: Path) -> None:
    abort = Abort()
    stopped: list[bool] = []

    async def forever(_child: Holdfast, _prompt: str) -> str:
        abort.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.append(True)
        return "never"

    agents = {"idler": Subagent(run=forever, description="Waits.")}
    async with opened(workspace, "locked", subagents=agents) as hf:
        with anyio.fail_after(5):
            sent = {"subagent_type": "idler", "prompt": "x"}
            envelope = await hf.settle("task", sent, abort=abort)
    assert envelope.failure is not None
    assert "cancelled" in envelope.failure.message
    assert stopped == [True]


@pytest.mark.req("SPEC-TASK-10")
async def test_an_abort_of_a_parent_aborts_its_children_in_the_background(workspace: Path) -> None:
    abort = Abort()
    sessions: dict[str, str] = {}

    async def middle(child: Holdfast, _prompt: str) -> str:
        sessions["middle"] = child.session_id
        await child.settle("task", {"subagent_type": "idler", "prompt": "x", "background": True})
        await anyio.sleep_forever()
        return "never"

    async def forever(child: Holdfast, _prompt: str) -> str:
        abort.set()
        try:
            await anyio.sleep_forever()
        finally:
            sessions["stopped"] = child.session_id
        return "never"

    agents = {
        "middle": Subagent(run=middle, description="Hands it on."),
        "idler": Subagent(run=forever, description="Waits."),
    }
    async with opened(workspace, "locked", settings=Settings(), subagents=agents) as hf:
        with anyio.fail_after(10):
            sent = {"subagent_type": "middle", "prompt": "x"}
            envelope = await hf.settle("task", sent, abort=abort)
        assert envelope.failure is not None
        assert envelope.failure.message == "Tool 'task' was cancelled."
        journal = await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look
        told = [one.payload for one in await journal.events(sessions["middle"])]
    (end,) = [one for one in told if isinstance(one, ChildIdle)]
    assert end.child_session_id == sessions["stopped"]
    assert (end.child_stop_reason, end.summary) == ("terminated", ABORTED_BY_PARENT)


async def test_a_child_asks_no_person_and_has_its_own_profile(workspace: Path) -> None:
    async def asks(child: Holdfast, _prompt: str) -> str:
        envelope = await child.settle("question", {"questions": [{"question": "Which?"}]})
        assert envelope.failure is not None
        return f"{envelope.failure.kind} {'complete' in [one.name for one in child.tools]}"

    async def ada(_inquiry: object) -> None:
        raise AssertionError("nobody is to be asked")

    agents = {"asker": Subagent(run=asks, description="Asks.", profile="host")}
    async with opened(workspace, "locked", subagents=agents, person=ada) as hf:
        told = await result(hf, "task", subagent_type="asker", prompt="x")
    assert told == {"output": "rejected True"}
