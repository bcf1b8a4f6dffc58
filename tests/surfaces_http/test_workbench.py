"""Tools that a person tries over HTTP, the rules in force, and the commands that run."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls
from interrupts import until
from served_home import PATIENCE, Served, served, told_by

from holdfast import tool
from holdfast.contract.rules import Rule

pytestmark = pytest.mark.anyio


@tool
def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    return f"deployed {place}"


@tool
def crash() -> None:
    """Fail."""
    raise RuntimeError("boom")


TOOLS: dict[str, Any] = {"tools": [add, deploy, crash], "profile": "locked"}


async def test_tools_are_listed_with_what_they_cost(tmp_path: Path) -> None:
    async with served(tmp_path, **TOOLS) as home:
        listed = await home.get("/tools")
        assert listed["profile"] == "locked"
        by_name = {one["name"]: one for one in listed["tools"]}
        assert by_name["add"]["input_schema"]["required"] == ["a"]
        assert by_name["add"]["cost"] > 0
        assert by_name["deploy"]["permission_policy"] == "always_ask"
        assert await home.get("/tools/add") == by_name["add"]
        told = await home.get("/tools/none", 404)
        assert "GET /api/v1/tools" in told["error"]["message"]


async def test_a_call_is_settled_and_its_arguments_are_repaired(tmp_path: Path) -> None:
    async with served(tmp_path, **TOOLS) as home:
        envelope = await home.post("/tools/add/calls", 200, arguments={"a": 1, "b": 2})
        assert (envelope["ok"], envelope["result"]) == (True, {"sum": 3})
        mended = await home.post("/tools/add/calls", 200, arguments='{"a": "4"}')
        assert mended["result"] == {"sum": 5}
        assert mended["metadata"]["repairs"]
        missing = await home.post("/tools/add/calls", 200, arguments={})
        assert missing["ok"] is False
        unknown = await home.post("/tools/nothing/calls", 200)
        assert unknown["ok"] is False
        broken = await home.post("/tools/crash/calls", 200)
        assert (broken["ok"], "boom" in str(broken)) == (False, True)
        await home.post("/tools/add/calls", 422, arguments=[1])
        bench = (await home.get("/tools"))["session_id"]
        told = (await home.get(f"/sessions/{bench}/calls"))["calls"]
        assert [one["tool"] for one in told][:2] == ["add", "add"]
        page = await home.get(f"/sessions/{bench}/calls", limit=2)
        rest = await home.get(f"/sessions/{bench}/calls", after=page["next"])
        assert [*page["calls"], *rest["calls"]] == told
        await home.get(f"/sessions/{bench}/calls/cal_none", 404)


async def test_a_call_that_is_asked_about_ends_when_it_is_answered(tmp_path: Path) -> None:
    async with served(tmp_path, **TOOLS) as home:
        envelopes: list[Any] = []

        async def call() -> None:
            found = await home.post("/tools/deploy/calls", 200, arguments={"place": "north"})
            envelopes.append(found)

        for allow in (True, False):
            async with anyio.create_task_group() as group:
                group.start_soon(call)
                question = await waiting(home)
                assert question["tool"] == "deploy"
                body = {"session_id": question["session_id"], "allow": allow}
                await home.post(f"/approvals/{question['approval_id']}", **body)
        assert [one["ok"] for one in envelopes] == [True, False]
        assert envelopes[0]["result"] == {"text": "deployed north"}


async def waiting(home: Served) -> Any:
    with anyio.fail_after(PATIENCE):
        while not (found := (await home.get("/approvals"))["approvals"]):
            await anyio.sleep(0.02)
    return found[0]


async def test_how_a_call_would_be_judged_is_told_and_nothing_runs(tmp_path: Path) -> None:
    rule = Rule(permission="add", pattern="**", action="deny", scope="project", source="test")
    async with served(tmp_path, rules=[rule], **TOOLS) as home:
        told = await home.post("/policy/explain", 200, tool="deploy", arguments={"place": "x"})
        assert told["explanation"]["verdict"] == "ask"
        unknown = await home.post("/policy/explain", 200, tool="nothing")
        assert unknown["explanation"] is None
        assert unknown["failure"]["kind"]
        rules = await home.get("/policy/rules")
        assert rules["profile"] == "locked"
        assert (await home.get("/policy/grants"))["grants"] == []
        assert (await home.get("/sessions"))["sessions"] == []


async def test_a_command_of_the_workbench_is_shown_and_ended(tmp_path: Path) -> None:
    async with served(tmp_path, profile="code") as home:
        bench = (await home.get("/tools"))["session_id"]
        envelopes: list[Any] = []

        async def call() -> None:
            words = {"command": "echo here; sleep 61.25"}
            envelopes.append(await home.post("/tools/bash/calls", 200, arguments=words))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            command = await home.command(bench)
            path = f"/sessions/{bench}/commands/{command['id']}"
            with anyio.fail_after(PATIENCE):
                async for one in told_by(home.client, f"{path}/stream"):
                    if "here" in one.data["stdout_tail"]:
                        break
            assert await home.post(f"{path}/terminate") == {"did": True}
            with anyio.fail_after(PATIENCE):
                last = [one async for one in told_by(home.client, f"{path}/stream")][-1]
            assert last.kind == "over"
        assert "here" in str(envelopes[0])
        assert not sleeping("61.25")
        await home.get(f"/sessions/{bench}/commands/none", 404)
        assert await home.post(f"/sessions/{bench}/commands/none/terminate") == {"did": False}


def sleeping(seconds: str) -> list[str]:
    """The processes that sleep for so long."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(path.parent.name)
    return found


async def test_a_command_of_a_session_is_shown_as_it_prints_and_ended_with_its_tree(
    tmp_path: Path,
) -> None:
    line = "echo line 1; sleep 0.3; echo line 2; sleep 0.3; echo line 3; timeout 99 sleep 61.75"
    turns = [calls(("bash", '{"command": "%s"}' % line)), "Ended."]  # noqa: UP031 - JSON
    async with served(tmp_path, turns) as home:
        session = await home.begun("Go.")
        command = await home.command(session)
        assert (command["stdout_tail"], command["state"]) == ("", "running")  # as others list it
        path = f"/sessions/{session}/commands/{command['id']}"
        tails: list[str] = []
        kinds: list[str] = []

        async def listen() -> None:
            async for one in told_by(home.client, f"{path}/stream"):
                kinds.append(one.kind)
                tails.append(one.data["stdout_tail"])

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(listen)
                await until(lambda: bool(tails) and "line 3" in tails[-1])
                assert (await home.get(path))["stdout_tail"].startswith("line 1\n")
                assert await home.post(f"{path}/terminate") == {"did": True}
        assert kinds[-1] == "over"
        assert set(kinds[:-1]) == {"tail"}
        await home.at_rest(session)
        with anyio.fail_after(PATIENCE):
            await until(lambda: not sleeping("61.75"))
        assert await home.post(f"{path}/terminate") == {"did": False}
        await home.get(f"{path}/stream", 404)
        await home.get("/sessions/ses_none/commands", 404)
        told = await home.get(f"/sessions/{session}/commands")
        assert told == {"commands": [], "reachable": False}


async def test_what_the_server_is_is_told(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        facts = await home.get("/server")
        assert facts["workspace"] == str(home.workspace)
        assert facts["profile"] == "code"
        assert facts["default_agent"] in [one["id"] for one in facts["agents"]]
        assert {"code", "locked", "managed"} <= set(facts["profiles"])
        assert facts["workbench"] == (await home.get("/tools"))["session_id"]
