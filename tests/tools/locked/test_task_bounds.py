"""What binds the session above a subagent binds the subagent, whatever its own profile says."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tool_kit import UNRECORDED, opened, result

from holdfast import Holdfast, Subagent
from holdfast.app.settings import (
    AfterEditSettings,
    HookSettings,
    ProfileSettings,
    SearchSettings,
    Settings,
    StoreSettings,
    WebSettings,
)
from holdfast.contract.delegation import MOST_DEPTH
from holdfast.contract.failure import FailureKind
from holdfast.contract.managed.artifact_names import ARTIFACTS_FOLDER

pytestmark = pytest.mark.anyio


async def outcomes(child: Holdfast, *calls: tuple[str, dict[str, Any]]) -> list[object]:
    """By call: that it went well, or the kind of its failure."""
    envelopes = [await child.settle(name, arguments) for name, arguments in calls]
    return [one.failure is None or one.failure.kind for one in envelopes]


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


@pytest.mark.parametrize(
    ("parent", "runs", "refused"),
    [("managed", "ls", "echo hi"), ("readonly", "git status", "touch made")],
)
async def test_commands_are_held_to_what_the_parents_profile_runs(
    workspace: Path, parent: str, runs: str, refused: str
) -> None:
    seen: dict[str, list[object]] = {}
    calls = [bash(runs), bash(refused), bash("ls | wc -l; touch made")]

    async def tries(child: Holdfast, prompt: str) -> str:
        seen[prompt] = await outcomes(child, *calls)
        if prompt == "child":
            await child.settle("task", {"subagent_type": "looser", "prompt": "grandchild"})
        return "done"

    agents = {"looser": Subagent(run=tries, description="Wants more.", profile="code")}
    async with opened(workspace, parent, subagents=agents) as hf:
        seen["parent"] = await outcomes(hf, *calls)
        await result(hf, "task", subagent_type="looser", prompt="child")
    rejected = FailureKind.REJECTED
    assert seen["parent"][1:] == [rejected, rejected]
    assert seen["child"] == seen["grandchild"] == seen["parent"]
    assert [one for one in workspace.iterdir() if one.name != ARTIFACTS_FOLDER] == []


async def test_commands_are_held_to_every_profile_above_and_to_the_childs_own(
    workspace: Path,
) -> None:
    seen: dict[str, list[object]] = {}

    async def tries(child: Holdfast, prompt: str) -> str:
        # `echo` is one that reads and none of the managed hand's; with `env` it is vice versa.
        seen[prompt] = await outcomes(child, bash("echo hi"), bash("env"), bash("pwd"))
        return "done"

    agents = {"managed": Subagent(run=tries, description="Tries.", profile="managed")}
    for parent in ("code", "readonly"):
        async with opened(workspace, parent, subagents=agents) as hf:
            await result(hf, "task", subagent_type="managed", prompt=parent)
    rejected = FailureKind.REJECTED
    assert seen == {"code": [rejected, True, True], "readonly": [rejected, rejected, True]}


async def test_a_child_is_opened_also_where_programs_run_after_edits(workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 1\n", "utf-8")
    after = AfterEditSettings(files="**/*.py", command=("touch", "formatted"))
    settings = msgspec.structs.replace(UNRECORDED, hooks=HookSettings(after_edit=(after,)))

    async def edits(child: Holdfast, _prompt: str) -> str:
        made = await child.settle("write", {"path": "b.py", "content": "y = 2\n"})
        return str(made.failure)

    agents = {"editor": Subagent(run=edits, description="Edits.")}
    async with opened(workspace, "code", settings=settings, subagents=agents) as hf:
        told = await result(hf, "task", subagent_type="editor", prompt="x")
    assert told == {"output": "None"}
    assert (workspace / "formatted").exists()


def documents(folder: Path, name: str = "documents") -> SearchSettings:
    found = [{"title": name, "url": f"https://{name}.example/", "text": "a cat"}]
    file = folder / f"{name}.json"
    file.write_text(json.dumps(found), "utf-8")
    return SearchSettings(kind="static", file=str(file))


@pytest.mark.parametrize("store", ["none", "sqlite"])
async def test_searches_of_children_count_for_the_session_above(
    workspace: Path, tmp_path: Path, store: Any
) -> None:
    web = WebSettings(search=(documents(tmp_path),), search_calls=5)
    settings = Settings(store=StoreSettings(kind=store), web=web)
    search: tuple[str, dict[str, Any]] = ("web_search", {"query": "cat"})
    seen: list[list[object]] = []

    async def searches(child: Holdfast, prompt: str) -> str:
        seen.append(await outcomes(child, search, search))
        if prompt == "child":
            await child.settle("task", {"subagent_type": "a", "prompt": "grandchild"})
        return "done"

    agents = {"a": Subagent(run=searches, description="Searches.")}
    rejected = FailureKind.REJECTED
    async with opened(workspace, "code", settings=settings, subagents=agents) as hf:
        await result(hf, "task", subagent_type="a", prompt="child")
        assert seen == [[True, True], [True, True]]
        if store == "none":
            assert await outcomes(hf, search, search) == [True, rejected]
            await result(hf, "task", subagent_type="a", prompt="last")
            assert seen[-1] == [rejected, rejected]
    if store == "sqlite":
        again = opened(workspace, "code", settings=settings, session=hf.session_id)
        async with again as taken_up:
            assert await outcomes(taken_up, search, search) == [True, rejected]


async def test_children_ask_the_provider_of_the_session_above(
    workspace: Path, tmp_path: Path
) -> None:
    providers = tuple(documents(tmp_path, name) for name in ("cats", "dogs"))
    settings = msgspec.structs.replace(UNRECORDED, web=WebSettings(search=providers))

    async def searches(child: Holdfast, _prompt: str) -> str:
        envelope = await child.settle("web_search", {"query": "cat"})
        return envelope.result_json.decode()

    agents = {"a": Subagent(run=searches, description="Searches.")}
    async with opened(workspace, "code", settings=settings, subagents=agents) as hf:
        own = (await hf.settle("web_search", {"query": "cat"})).result_json.decode()
        told = [await result(hf, "task", subagent_type="a", prompt="x") for _ in range(12)]
    assert {one["output"] for one in told} == {own}


async def test_commands_of_children_are_of_the_turn_above(workspace: Path) -> None:
    most = 4
    profile = {"host": ProfileSettings(commands_per_turn=most)}
    settings = msgspec.structs.replace(UNRECORDED, profile=profile)
    seen: list[list[object]] = []

    async def commands(child: Holdfast, prompt: str) -> str:
        child.new_turn()  # the turn of a child is a part of its parent's
        seen.append(await outcomes(child, bash("true"), bash("true")))
        if prompt == "child":
            await child.settle("task", {"subagent_type": "a", "prompt": "grandchild"})
        return "done"

    agents = {"a": Subagent(run=commands, description="Runs.", profile="code")}
    rejected = FailureKind.REJECTED
    async with opened(workspace, "host", settings=settings, subagents=agents) as hf:
        hf.new_turn()
        assert await outcomes(hf, bash("true")) == [True]
        await result(hf, "task", subagent_type="a", prompt="child")
        assert seen == [[True, True], [True, rejected]]
        assert await outcomes(hf, bash("true")) == [rejected]
        hf.new_turn()
        assert await outcomes(hf, bash("true")) == [True]


async def test_a_child_has_turns_of_its_own_within_those_above(workspace: Path) -> None:
    profile = {"host": ProfileSettings(commands_per_turn=1)}
    settings = msgspec.structs.replace(UNRECORDED, profile=profile)
    seen: list[object] = []

    async def commands(child: Holdfast, _prompt: str) -> str:
        for _ in range(2):
            child.new_turn()
            seen.extend(await outcomes(child, bash("true"), bash("true")))
        return "done"

    agents = {"a": Subagent(run=commands, description="Runs.", profile="host")}
    async with opened(workspace, "code", settings=settings, subagents=agents) as hf:
        await result(hf, "task", subagent_type="a", prompt="x")
    rejected = FailureKind.REJECTED
    assert seen == [True, rejected, True, rejected]


async def test_a_child_that_is_taken_up_stands_as_deep_as_before_and_says_what_is_lost(
    workspace: Path,
) -> None:
    children: list[str] = []

    async def deeper(child: Holdfast, _prompt: str) -> str:
        children.append(child.session_id)
        await child.settle("task", {"subagent_type": "a", "prompt": "on"})
        return "done"

    agents = {"a": Subagent(run=deeper, description="Digs.")}
    async with opened(workspace, "locked", settings=Settings(), subagents=agents) as hf:
        await result(hf, "task", subagent_type="a", prompt="on")
        assert hf.remarks == ()
    assert len(children) == MOST_DEPTH
    third = children[2]
    again = opened(workspace, "locked", settings=Settings(), subagents=agents, session=third)
    async with again as taken_up:
        assert len(children) == MOST_DEPTH
        (remark,) = taken_up.remarks
        assert remark.startswith(f"session {third} is a subagent's, below session {children[1]}:")
        await result(taken_up, "task", subagent_type="a", prompt="on")
    # It is the third level: there is room for a fourth and a fifth.
    assert len(children) == MOST_DEPTH + 2
