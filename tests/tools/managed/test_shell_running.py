"""Writable commands of a managed session: who is asked, where they run, what is seen meanwhile."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from tool_kit import answer, failure, opened, result
from tools.managed.shell_kit import Yes, managed, session_of

from holdfast import Holdfast
from holdfast.app.settings import Settings
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Rule

pytestmark = pytest.mark.anyio

ASKING = ("shell_run", "shell_exec")


async def until(path: Path) -> None:
    """A command says that it has begun by making a file."""
    while not path.exists():  # noqa: ASYNC110 - a process says so
        await anyio.sleep(0.01)


async def until_printed(hf: Holdfast, text: str) -> None:
    book = session_of(hf).shells.book
    while (live := book.live()) is None or text not in live.stdout_preview:  # noqa: ASYNC110 - it tells nobody
        await anyio.sleep(0.01)


@pytest.mark.req("BOA-POL-04", "BOA-POL-05", "BOA-SH-37", "BOA-SH-39", "BOA-SH-47")
@pytest.mark.parametrize("name", ASKING)
async def test_a_writable_command_is_confirmed_each_time_and_stays_in_the_workspace(
    workspace: Path, name: str
) -> None:
    person, outside = Yes(), workspace.parent / "outside"
    allow = Rule(permission=name, pattern="**", action="allow", scope="project", source="a rule")
    async with managed(workspace, person, rules=[allow]) as hf:
        for n in (1, 2):
            ran = await result(hf, name, command=f"echo {n} >> made; cat made | tail -n 1")
            assert ran["output"]["stdout"] == f"{n}\n"
            assert len(person.asked) == n
            assert person.asked[-1].offers == ("once",)
        escaping = await failure(hf, name, command="echo x > /usr/made-by-a-test")
        assert escaping.kind == FailureKind.REJECTED
        await answer(hf, name, command=f"echo x > {outside}")  # /tmp may be one of its own there
        assert not outside.exists()
        for cwd in ("/", ".."):
            assert (await failure(hf, name, command="ls", cwd=cwd)).kind == FailureKind.REJECTED
    async with opened(workspace, "managed", settings=Settings()) as unattended:
        refused = await failure(unattended, name, command="echo 3 >> made")
        assert refused.kind == FailureKind.REJECTED
    assert (workspace / "made").read_text("utf-8") == "1\n2\n"


@pytest.mark.req("BOA-SH-38")
async def test_one_command_of_its_own(workspace: Path) -> None:
    async with managed(workspace) as hf:
        declared = next(one for one in hf.tools if one.name == "shell_run")
        properties: Any = declared.input_schema["properties"]
        assert declared.input_schema["required"] == ["command"]
        assert (properties["timeout_ms"]["default"], properties["timeout_ms"]["maximum"]) == (
            15_000,
            60_000,
        )
        shown = properties["max_output_chars"]
        assert (shown["default"], shown["maximum"]) == (12_000, 40_000)
        (workspace / "sub").mkdir()
        ran = await result(hf, "shell_run", command="cd sub; export A=1; pwd; exit 4", cwd="sub/..")
        assert (ran["ok"], ran["name"], ran["output"]["exit_code"]) == (True, "run_shell", 4)
        assert ran["error"] is None
        again = await result(hf, "shell_run", command="pwd; echo ${A-none}")
        assert again["output"]["stdout"] == f"{workspace.resolve()}\nnone\n"
        assert again["output"]["shell_state"]["last_command"]["command"] == "pwd; echo ${A-none}"
        long = await result(hf, "shell_run", command="seq 9999", max_output_chars=100)
        assert long["output"]["truncated"]
        assert len(long["output"]["stdout"]) < 200
        whole = Path(long["artifacts"][0]).read_text("utf-8")
        assert whole.split() == [str(n) for n in range(1, 10_000)]
        late = await result(hf, "shell_run", command="echo begun; sleep 60", timeout_ms=300)
        assert (late["ok"], late["error"]["code"], late["error"]["retryable"]) == (
            False,
            "timeout",
            True,
        )
        assert late["output"]["stdout"] == "begun\n"
        refused = await failure(hf, "shell_run", command="  ")
        assert refused.message == "shell_run requires a non-empty command"


@pytest.mark.req("BOA-SH-40")
async def test_directory_and_variables_go_on_in_the_persistent_shell(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    async with managed(workspace) as hf:
        first = await result(
            hf, "shell_exec", command="cd sub; export A='x y' PATH=$PATH:/b LD_PRELOAD=; echo $$"
        )
        output = first["output"]
        # What decides which code is loaded goes on in the shell alone.
        assert {"A", "PATH"} <= set(output["env_keys"])
        assert output["shell_state"]["env"]["keys"] == ["A"]
        assert output["shell_state"]["cwd"] == str((workspace / "sub").resolve())
        second = await result(hf, "shell_exec", command="pwd; echo $A ${PATH##*:}; echo $$")
        place, values, shell = second["output"]["stdout"].splitlines()
        assert (place, values) == (output["shell_state"]["cwd"], "x y /b")
        assert shell == output["stdout"].strip()
        assert second["output"]["persistent_shell"]["command_count"] == 2
        assert "A=x y\n" in (await result(hf, "bash", command="env"))["stdout"]
        outside = await result(hf, "shell_exec", command="cd /; pwd")
        assert outside["output"]["shell_state"]["cwd"] == output["shell_state"]["cwd"]
        anew = await result(hf, "shell_exec", command="pwd; echo $A; echo $$", restart=True)
        assert anew["output"]["stdout"].splitlines()[:2] == [place, "x y"]
        assert anew["output"]["stdout"].splitlines()[2] != shell
        there = await result(hf, "shell_exec", command="pwd; unset A", cwd=".")
        assert there["output"]["stdout"].strip() == str(workspace.resolve())
        assert there["output"]["shell_state"]["env"]["keys"] == []
        late = await result(hf, "shell_exec", command="export B=1; sleep 60", timeout_ms=300)
        assert late["error"]["message"] == "persistent shell command timed out"


@pytest.mark.req("BOA-SH-33", "BOA-SH-34", "BOA-SH-35", "BOA-SH-36", "BOA-SH-41", "BOA-SH-42")
async def test_the_shell_is_opened_reused_begun_anew_and_closed(workspace: Path) -> None:
    person = Yes()
    (workspace / "sub").mkdir()
    (workspace / "other").mkdir()

    async def process(hf: Holdfast) -> str:
        return (await result(hf, "shell_exec", command="echo $$"))["output"]["stdout"]

    async with managed(workspace, person) as hf:
        none = await result(hf, "shell_close")
        assert (none["closed"], none["shell_id"]) == (False, None)
        first = await result(hf, "shell_open", cwd="sub")
        assert first["cwd"] == str((workspace / "sub").resolve())
        assert first["persistent_shell"]["status"] == "active"
        assert person.asked == []
        reused = await result(hf, "shell_open", cwd="other")
        assert reused["cwd"] == first["cwd"]
        assert reused["persistent_shell"]["shell_id"] == first["persistent_shell"]["shell_id"]
        before = await process(hf)
        assert await process(hf) == before
        for name, given in (("shell_restart", {}), ("shell_open", {"restart": True})):
            anew = await result(hf, name, cwd="other", **given)
            assert anew["cwd"] == str((workspace / "other").resolve())
            assert anew["persistent_shell"]["shell_id"] != first["persistent_shell"]["shell_id"]
            now = await process(hf)
            assert now != before
            before = now
        told = await result(hf, "shell_close")
        assert told["closed"]
        assert told["shell_id"] == anew["persistent_shell"]["shell_id"]
        assert told["shell_state"]["persistent_shell"]["status"] == "closed"
        declared = next(one for one in hf.tools if one.name == "shell_close")
        assert not declared.input_schema.get("properties")


@pytest.mark.req("BOA-SH-09", "BOA-PCHK-18")
async def test_a_shell_that_is_closed_or_missing_has_a_way_back(workspace: Path) -> None:
    here = {"cwd": str(workspace.resolve())}
    async with managed(workspace) as hf:
        session = hf.session_id
        plan = (await result(hf, "shell_describe"))["recovery_plan"]
        assert (plan["tool"], plan["args"]) == ("shell_open", here)
        await result(hf, plan["tool"], **plan["args"])
        assert (await result(hf, "shell_describe"))["recovery_plan"] is None
        await result(hf, "shell_close")
        plan = (await result(hf, "shell_describe"))["recovery_plan"]
        assert (plan["tool"], plan["args"]) == ("shell_restart", here)
        await result(hf, plan["tool"], **plan["args"])
    async with managed(workspace, session=session) as again:
        # Written down as active, and the process ended with its program.
        told = await result(again, "shell_describe")
        assert told["persistent_shell"]["status"] == "closed"
        assert told["recovery_plan"]["tool"] == "shell_restart"


@pytest.mark.req("BOA-SH-03")
async def test_a_process_that_has_ended_is_not_told_to_run(workspace: Path) -> None:
    async with managed(workspace) as hf:
        await result(hf, "shell_exec", command="export A=1")
        assert (await result(hf, "shell_describe"))["persistent_shell"]["status"] == "active"
        await result(hf, "shell_exec", command="exit 5")
        told = await result(hf, "shell_describe")
        assert told["persistent_shell"]["status"] == "closed"
        assert told["recovery_plan"]["tool"] == "shell_restart"
        ran = await result(hf, "shell_exec", command="echo $A")
        assert ran["output"]["stdout"] == "1\n"


@pytest.mark.req(
    "BOA-SH-04",
    "BOA-SH-05",
    "BOA-SH-06",
    "BOA-SH-07",
    "BOA-SH-08",
    "BOA-SH-15",
    "BOA-SH-16",
    "BOA-SH-22",
    "BOA-SH-23",
    "BOA-SH-24",
    "BOA-SH-25",
)
async def test_while_a_command_runs_it_is_told_and_waited_for(workspace: Path) -> None:
    async with managed(workspace) as hf, anyio.create_task_group() as group:
        idle = await result(hf, "shell_wait")
        assert (idle["status"], idle["result"]) == ("idle", None)
        await result(hf, "shell_exec", command="echo before")
        command = "echo now; until test -e go; do sleep 0.02; done; echo after"
        group.start_soon(lambda: answer(hf, "shell_exec", command=command, timeout_ms=60_000))
        await until_printed(hf, "now")
        told = await result(hf, "shell_describe")
        live = told["persistent_shell"]
        assert (live["busy"], live["current_command"], live["status"]) == (True, command, "active")
        plan = told["busy_plan"]
        assert (plan["step"]["tool"], plan["step"]["args"]) == ("shell_wait", {"timeout_ms": 1000})
        assert plan["avoid_tools"] == ["shell_run", "shell_exec", "shell_restart", "shell_close"]
        assert plan["allowlisted_read_tools"] == [
            *("shell_wait", "shell_describe", "shell_history", "shell_read_last_output"),
            *("shell_read_command", "bash", "read", "glob", "grep"),
            *("session_get_snapshot", "retrieval_search"),
        ]
        assert plan["evidence_plan"]["tool"] == "shell_read_last_output"
        assert plan["live_output_preview"]["stdout_preview"] == "now\n"
        last = await result(hf, "shell_read_last_output")
        assert last["last_command"]["stdout"] == "before\n"
        assert last["live_command"]["command"] == command
        assert last["live_command"]["stdout_preview"] == "now\n"
        assert last["live_command"]["shell_id"] == live["shell_id"]
        assert last["next_step"] == plan["step"]
        running = await result(hf, "shell_wait", timeout_ms=1)
        assert (running["status"], running["next_step"]) == ("running", plan["step"])
        busy = await result(hf, "shell_exec", command="echo no", timeout_ms=1)
        assert (busy["ok"], busy["error"]["code"]) == (False, "busy")
        (workspace / "go").touch()
        over = await result(hf, "shell_wait", timeout_ms=60_000)
        assert (over["status"], over["error"], over["next_step"]) == ("completed", None, None)
        assert over["result"]["stdout"] == "now\nafter\n"
        shown = Path(over["artifact_paths"][0]).read_text("utf-8")
        assert "after" in shown
        assert over["shell_state"]["last_command"]["command"] == command
        declared = next(one for one in hf.tools if one.name == "shell_wait")
        properties: Any = declared.input_schema["properties"]
        assert properties["timeout_ms"]["default"] == 1000
        assert properties["timeout_ms"]["maximum"] == 60_000


async def test_a_command_that_does_not_end_by_itself_is_an_error_to_whoever_waits(
    workspace: Path,
) -> None:
    async with managed(workspace) as hf, anyio.create_task_group() as group:
        command = "echo now; sleep 60"
        group.start_soon(lambda: answer(hf, "shell_exec", command=command, timeout_ms=1_500))
        await until_printed(hf, "now")
        over = await result(hf, "shell_wait", timeout_ms=60_000)
        assert over["status"] == "error"
        assert "timed out" in over["error"]
        assert over["result"]["stdout"] == "now\n"
        assert over["recovery_plan"]["tool"] == over["next_step"]["tool"] == "shell_restart"


@pytest.mark.req("BOA-DEF-13", "BOA-DEF-14")
async def test_what_the_shell_tools_declare_of_themselves(workspace: Path) -> None:
    async with managed(workspace) as hf:
        tools = {one.name: one for one in hf.tools if one.name.startswith(("shell_", "sandbox_"))}
        assert {n for n, one in tools.items() if one.destructive} == {*ASKING, "sandbox_execute"}
        assert {n for n, one in tools.items() if not one.read_only} == {
            *("shell_set_cwd", "shell_set_env", "shell_unset_env", "shell_open"),
            *("shell_restart", "shell_close", "sandbox_execute", *ASKING),
        }
        assert {n for n, one in tools.items() if one.permission_policy == "always_ask"} == {*ASKING}
        for name in ("shell_wait", *ASKING):
            assert tools[name].interrupt_behavior == "cancel"
        assert all(one.effects for one in tools.values())


@pytest.mark.req("BOA-DEF-14")
async def test_an_interrupt_ends_a_command_and_whoever_waits_for_it(workspace: Path) -> None:
    async with managed(workspace) as hf, anyio.create_task_group() as group:
        begun = workspace / "begun"

        async def interrupted() -> None:
            with anyio.CancelScope() as scope:
                scopes.append(scope)
                await answer(hf, "shell_exec", command=f"touch {begun}; sleep 60")

        scopes: list[anyio.CancelScope] = []
        group.start_soon(interrupted)
        await until(begun)
        scopes[0].cancel()
        told = await result(hf, "shell_wait", timeout_ms=60_000)
        assert told["status"] in {"idle", "error"}
        ran = await result(hf, "shell_exec", command="echo again")
        assert ran["output"]["stdout"] == "again\n"
