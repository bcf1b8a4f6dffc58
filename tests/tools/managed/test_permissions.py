"""`permissions_describe` and `permissions_check`: what a session may do, before it does it."""

from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from outcomes_at_work import (
    COMMAND,
    OUTCOME,
    busy_shell,
    closed_shell,
    idle_shell,
    managed_of,
)
from permissions_at_work import CAT, CROWDED, ROOMY, advised, append, check, named, names, waits
from tool_kit import failure, opened, result

from holdfast import Rule
from holdfast.app.settings import Settings
from holdfast.contract.events import WantedOutcome
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.managed.permissions import CHANGES_SHELL, GATED
from holdfast.contract.managed_events import OutcomeEvaluated
from holdfast.contract.outcomes import Evaluation, EvaluationRecord, outcome_fingerprint

pytestmark = pytest.mark.anyio

KEYS = {
    *("tool_name", "artifact_paths", "exists", "allowed", "permission_policy"),
    *("requires_confirmation", "requires_outcome_pass", "ownership", "effects", "read_only"),
    *("destructive", "interrupt_behavior", "outcome_evaluation", "next_outcome_step"),
    *("context_pressure", "pending_tool_confirmation_request", "shell_mutation_posture"),
    *("read_only_alternative", "shell_read_first_alternatives", "next_step"),
}


@pytest.mark.req("BOA-DEF-01", "BOA-PCHK-01", "BOA-PCHK-02", "BOA-PCHK-03", "BOA-POL-10")
async def test_what_is_told_of_a_tool_is_what_the_catalogue_and_the_execution_have(
    workspace: Path,
) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        declared: Any = next(one for one in hf.tools if one.name == "permissions_check")
        assert list(declared.input_schema["properties"]) == ["tool_name", "tool_args"]
        assert declared.input_schema["required"] == ["tool_name"]
        for tool in hf.tools:
            found = await check(hf, tool.name)
            assert set(found) == KEYS
            assert (found["exists"], found["allowed"]) == (True, True)
            assert (found["permission_policy"], found["ownership"]) == (
                *(tool.permission_policy, tool.ownership),
            )
            assert found["effects"] == list(tool.effects)
            assert (found["read_only"], found["destructive"], found["interrupt_behavior"]) == (
                *(tool.read_only, tool.destructive, tool.interrupt_behavior),
            )
            if tool.permission_policy == "always_ask":
                assert found["requires_confirmation"]
        await check(hf, "write", path="new.txt", content="x")
        assert not (workspace / "new.txt").exists()


async def test_what_rules_ask_about_or_refuse_is_known_beforehand(workspace: Path) -> None:
    at: Any = {"permission": "fs.write", "scope": "session", "source": "a test"}
    rules = [
        Rule(pattern="plan.md", action="ask", **at),
        Rule(pattern="law.md", action="deny", **at),
    ]
    async with opened(workspace, "managed", settings=Settings(), rules=rules) as hf:
        for path, asks, allowed in (
            *(("plan.md", True, True), ("law.md", False, False), ("free.md", False, True)),
        ):
            found = await check(hf, "write", path=path, content="x")
            assert (found["requires_confirmation"], found["allowed"]) == (asks, allowed), path
        assert (await check(hf, "write"))["allowed"] is True


async def test_a_tool_that_is_not_there_is_not_allowed(workspace: Path) -> None:
    async with advised(workspace) as hf:
        found = await check(hf, "shell_fly")
        assert (found["exists"], found["allowed"], found["permission_policy"]) == (
            *(False, False, None),
        )
        assert (found["effects"], found["next_step"]) == ([], None)
        refused = await failure(hf, "permissions_check", tool_name=" ")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "tool_name")
        assert refused.message == "permissions_check requires a non-empty tool_name"


@pytest.mark.req("BOA-VIS-02")
async def test_a_tool_that_the_profile_leaves_out_is_not_there(workspace: Path) -> None:
    settings = msgspec.convert(
        {"profile": {"managed": {"tools": {"deny": ["web_fetch"]}}}}, Settings
    )
    async with opened(workspace, "managed", settings=settings) as hf:
        assert (await check(hf, "web_fetch"))["exists"] is False
        gone = await failure(hf, "web_fetch", url="https://example.org")
        assert gone.kind is FailureKind.TOOL_NOT_FOUND
        assert (await check(hf, "read"))["exists"] is True


@pytest.mark.req("BOA-PCHK-08", "BOA-PCHK-09", "BOA-PCHK-14")
async def test_the_posture_of_the_shell_is_told_of_the_tools_that_change_it(
    workspace: Path,
) -> None:
    changing = {
        *("shell_set_cwd", "shell_set_env", "shell_unset_env", "shell_open"),
        *("shell_restart", "shell_run", "shell_exec", "shell_close"),
    }
    shell = idle_shell(str(workspace), last_command_preview=COMMAND)
    async with advised(workspace, shell, CROWDED) as hf:
        await result(hf, "outcome_define", **OUTCOME)
        for name in (*changing, *GATED, "read", "bash"):
            found = await check(hf, name)
            posture = found["shell_mutation_posture"]
            assert (posture is not None) is (name in changing), name
            menu = names(found["shell_read_first_alternatives"])
            evaluated = found["outcome_evaluation"]
            assert (evaluated is not None) is (name in changing | GATED), name
            assert (found["next_outcome_step"] is not None) is (name in changing | GATED), name
            if name in changing:
                assert (posture["status"], evaluated["status"]) == ("active", "not_ready")
                assert menu == [
                    *("shell_describe", "bash", "shell_read_last_output"),
                    "session_describe_context",
                ]
            else:
                assert menu == []


@pytest.mark.req("BOA-PCHK-16")
async def test_the_last_command_is_told_in_short(workspace: Path) -> None:
    shell = idle_shell(str(workspace), last_command_preview=COMMAND)
    async with advised(workspace, shell) as hf:
        found = (await check(hf, "shell_open"))["shell_mutation_posture"]["last_command_preview"]
        assert found == {**msgspec.to_builtins(COMMAND), "args": ["make"]}
        assert {"command", "args", "cwd", "updated_at"} <= set(found)
        assert {"output_preview", "stdout_preview", "stderr_preview"} <= set(found)


@pytest.mark.req("BOA-PCHK-10", "BOA-PCHK-11", "BOA-CLS-02", "BOA-CLS-18")
async def test_a_command_that_reads_is_answered_by_calls_that_can_be_made_as_they_stand(
    workspace: Path,
) -> None:
    (workspace / "notes").mkdir()
    (workspace / "notes" / "a.md").write_text("one\ntwo\n", "utf-8")
    async with advised(workspace) as hf:
        for name in ("shell_run", "shell_exec"):
            found = await check(hf, name, **CAT, timeout_ms=9000)
            bash, step = found["read_only_alternative"], found["next_step"]
            assert (bash["tool"], step["tool"]) == ("bash", "read")
            assert bash["args"]["timeout_ms"] == 9000
            assert found["shell_read_first_alternatives"][0] == step
            assert (await result(hf, "bash", **bash["args"]))["stdout"] == "one\ntwo\n"
            assert "one\\n" in str(await result(hf, "read", **step["args"]))
            assert all(one["rationale"] for one in (bash, step))
        for name in ("shell_open", "shell_set_cwd", "memory_promote_note", "bash"):
            found = await check(hf, name, **CAT)
            assert found["read_only_alternative"] is None
            assert found["next_step"] is None or found["next_step"]["tool"] != "read"
        for command in ("cat a.md; rm -rf b", "make", "", " ", 5, None):
            found = await check(hf, "shell_run", command=command)
            assert found["read_only_alternative"] is None


@pytest.mark.req("BOA-CLS-07")
async def test_lines_are_counted_by_a_read_of_the_first_one(workspace: Path) -> None:
    (workspace / "a.md").write_text("one\ntwo\nthree", "utf-8")
    async with advised(workspace) as hf:
        step = (await check(hf, "shell_run", command="wc -l a.md"))["next_step"]
        assert step["tool"] == "read"
        assert step["args"] == {"path": str(workspace / "a.md"), "line_count": 1}
        assert (await result(hf, "read", **step["args"]))["newline_count"] == 2


@pytest.mark.parametrize(
    ("command", "tool", "shown"),
    [
        ("head -n 1 a.md", "read", "one"),
        ("tail -n 1 a.md", "read", "two"),
        ("sed -n '2,2p' a.md", "read", "two"),
        ("ls", "glob", "a.md"),
        ("find . -type f -name '*.md'", "glob", "a.md"),
        ("grep -n tw a.md", "grep", "two"),
        ("rg -i TWO", "grep", "two"),
    ],
)
async def test_each_first_class_step_answers_what_its_command_asks(
    workspace: Path, command: str, tool: str, shown: str
) -> None:
    (workspace / "a.md").write_text("one\ntwo\n", "utf-8")
    async with advised(workspace) as hf:
        step = (await check(hf, "shell_run", command=command))["next_step"]
        assert step["tool"] == tool
        assert shown in str(await result(hf, tool, **step["args"]))


@pytest.mark.req("BOA-CLS-19")
async def test_operands_are_those_of_the_directory_of_the_call_or_of_the_shell(
    workspace: Path,
) -> None:
    async with advised(workspace, idle_shell(str(workspace / "src"))) as hf:
        for given, where in (
            ({}, workspace / "src"),
            ({"cwd": str(workspace / "docs")}, workspace / "docs"),
            ({"cwd": "docs"}, workspace),
            ({"cwd": " "}, workspace / "src"),
        ):
            found = await check(hf, "shell_run", command="cat x/../a.md", **given)
            assert found["next_step"]["args"] == {"path": str(where / "a.md")}
            assert found["read_only_alternative"]["args"]["workdir"] == str(where)


WC = {"command": "wc -c a.md"}
MAKE = {"command": "make"}


@pytest.mark.req("BOA-PCHK-12", "BOA-PCHK-13")
@pytest.mark.parametrize(
    ("name", "given", "shell", "step"),
    [
        ("shell_run", CAT, busy_shell, "read"),
        ("shell_run", WC, busy_shell, "bash"),
        ("shell_exec", MAKE, busy_shell, "shell_wait"),
        ("shell_open", {}, busy_shell, "shell_wait"),
        ("shell_exec", MAKE, closed_shell, "shell_restart"),
        ("shell_exec", WC, closed_shell, "bash"),
        ("shell_run", MAKE, closed_shell, "shell_describe"),
        ("shell_close", {}, closed_shell, None),
        ("shell_run", MAKE, idle_shell, "shell_describe"),
        ("shell_exec", MAKE, idle_shell, "shell_describe"),
        ("shell_set_cwd", {}, idle_shell, None),
        ("memory_promote_note", {}, idle_shell, "session_get_snapshot"),
        ("read", {}, idle_shell, None),
    ],
)
async def test_the_next_step_is_the_first_that_helps(
    workspace: Path, name: str, given: dict[str, str], shell: Any, step: str | None
) -> None:
    async with advised(workspace, shell(str(workspace))) as hf:
        await result(hf, "outcome_define", **OUTCOME)
        found = await check(hf, name, **given)
        assert named(found["next_step"]) == step
        if name in CHANGES_SHELL:
            follow_up = "shell_wait" if shell is busy_shell else "session_get_snapshot"
            assert found["next_outcome_step"]["tool"] == follow_up


@pytest.mark.req("BOA-PCHK-15", "BOA-PDSC-11")
@pytest.mark.parametrize(
    ("shell", "crowding", "given", "menu"),
    [
        (idle_shell, None, {}, ["shell_describe", "bash"]),
        (idle_shell, ROOMY, {}, ["shell_describe", "bash"]),
        (busy_shell, None, {}, ["shell_describe", "bash", "shell_read_last_output"]),
        (idle_shell, CROWDED, CAT, [
            *("read", "shell_describe", "bash", "session_describe_context"),
        ]),
        (idle_shell, None, WC, ["shell_describe", "bash"]),
    ],
    ids=["plain", "room", "busy", "crowded", "bash alone"],
)  # fmt: skip
async def test_the_menu_reads_first(
    workspace: Path, shell: Any, crowding: Any, given: dict[str, str], menu: list[str]
) -> None:
    async with advised(workspace, shell(str(workspace)), crowding) as hf:
        found = (await check(hf, "shell_run", **given))["shell_read_first_alternatives"]
        assert names(found) == menu
        pwd = next(one for one in found if one["tool"] == "bash")
        assert pwd["args"] == {"command": "pwd", "workdir": str(workspace)}
        assert (await result(hf, "bash", **pwd["args"]))["stdout"] == f"{workspace}\n"
        described = (await result(hf, "permissions_describe"))["shell_read_first_alternatives"]
        assert names(described) == [one for one in menu if one != "read"]


def record(status: Any, wake_id: str) -> OutcomeEvaluated:
    wanted = msgspec.convert(OUTCOME, WantedOutcome)
    return OutcomeEvaluated(
        record=EvaluationRecord(
            evaluated_at="now",
            wake_id=wake_id,
            iteration=0,
            outcome_title=wanted.title,
            outcome_fingerprint=outcome_fingerprint(wanted),
            grade_status="in_progress",
            evaluation=Evaluation(status=status, confidence="low", summary=""),
        )
    )


@pytest.mark.req("BOA-PCHK-04", "BOA-PCHK-05", "BOA-PCHK-06", "BOA-PCHK-07")
async def test_what_is_shared_waits_for_the_outcome(workspace: Path) -> None:
    async with advised(workspace) as hf:
        for name in sorted(GATED):
            free = await check(hf, name)
            assert (free["requires_outcome_pass"], free["next_outcome_step"]) == (False, None)
            assert free["outcome_evaluation"]["status"] == "missing_outcome"
            assert free["next_step"]["tool"] == "permissions_describe"
            wanted = await check(hf, name, require_outcome_pass=True)
            assert wanted["requires_outcome_pass"] is True
            assert wanted["next_step"]["tool"] == "outcome_define"
        await result(hf, "outcome_define", **OUTCOME)
        for name in sorted(GATED):
            found = await check(hf, name)
            assert (found["requires_outcome_pass"], found["requires_confirmation"]) == (True, True)
            assert found["outcome_evaluation"]["status"] == "not_ready"
            assert found["next_step"]["tool"] == "session_get_snapshot"
            assert (await check(hf, name, require_outcome_pass=False))[
                "requires_outcome_pass"
            ] is False
        assert (await check(hf, "shell_run"))["requires_outcome_pass"] is False
        for status in ("not_ready", "uncertain"):  # as it stands, and better
            await append(hf, record(status, "wak_before"))
            found = await check(hf, "memory_promote_note")
            assert found["outcome_evaluation"]["trend"] in {"stable", "regressing"}
            step = found["next_step"]
            assert (step["tool"], found["next_outcome_step"]) == ("outcome_history", step)
            assert await result(hf, step["tool"], **step["args"])


@pytest.mark.req("BOA-PCHK-17")
async def test_what_is_ready_or_waits_for_another_tool_is_not_told(workspace: Path) -> None:
    async with advised(workspace) as hf:
        assert (await check(hf, "shell_run"))["next_outcome_step"] is None
        await append(hf, waits("shell_run", command="make"))
        pending = (await check(hf, "shell_run"))["pending_tool_confirmation_request"]
        assert (pending["id"], pending["tool_name"]) == ("apr_1", "shell_run")
        assert pending["input"] == {"command": "make"}
        assert (await check(hf, "shell_exec"))["pending_tool_confirmation_request"] is None


async def test_a_rule_that_asks_is_told_of_any_tool(workspace: Path) -> None:
    async with advised(workspace, foreseen="ask") as hf:
        assert (await check(hf, "shell_open"))["requires_confirmation"] is True
    async with advised(workspace, foreseen="deny") as hf:
        assert (await check(hf, "shell_open"))["allowed"] is False


@pytest.mark.req("BOA-BND-08")
async def test_every_step_can_be_made_as_it_stands(workspace: Path) -> None:
    """Whatever the session stands at: the tool is there, and takes these arguments."""
    (workspace / "a.md").write_text("one\n", "utf-8")
    steps: list[dict[str, Any]] = []
    shells = (busy_shell, closed_shell, idle_shell)
    for shell in shells:
        async with advised(workspace, shell(str(workspace)), CROWDED) as hf:
            for define in (False, True):
                if define:
                    await result(hf, "outcome_define", **OUTCOME)
                for name in (*CHANGES_SHELL, *GATED):
                    steps += _steps(await check(hf, name, command="cat a.md", cwd="."))
                steps += _steps(await result(hf, "permissions_describe"))
                steps += _steps(await result(hf, "outcome_evaluate"))
            await append(hf, waits("shell_run", command="tail -n 3 a.md"))
            steps += _steps(await result(hf, "permissions_describe"))
            steps += _steps(await result(hf, "outcome_evaluate"))
    assert {one["tool"] for one in steps} >= {"read", "bash", "permissions_describe"}
    async with opened(workspace, "managed", settings=Settings()) as hf:
        there = {one.name for one in hf.tools}
        for one in steps:
            assert set(one) == {"tool", "args", "rationale"}
            assert one["rationale"]
            assert one["tool"] in there, one
            told = await hf.explain(one["tool"], one["args"])
            assert not isinstance(told, Failure), (one, told)


def _steps(value: Any) -> list[dict[str, Any]]:
    """The steps inside of an answer."""
    if isinstance(value, list):
        return [step for one in cast("list[Any]", value) for step in _steps(one)]
    if not isinstance(value, dict):
        return []
    told = cast("dict[str, Any]", value)
    if "rationale" in told:
        return [told]
    return [step for one in told.values() for step in _steps(one)]


async def test_without_anybody_who_judges_a_tool_is_told_by_its_definition(workspace: Path) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        managed_of(hf).explain = None
        told = await result(hf, "permissions_check", tool_name="shell_run")
        assert (told["allowed"], told["requires_confirmation"]) == (True, True)


@pytest.mark.parametrize("said", [False, "false"])
async def test_arguments_in_another_spelling_are_judged_as_the_call_would_have_them(
    workspace: Path, said: object
) -> None:
    async with opened(workspace, "managed", settings=Settings()) as hf:
        await result(hf, "outcome_define", **OUTCOME)
        for name in sorted(GATED):
            assert (await check(hf, name))["requires_outcome_pass"]
            found = await check(hf, name, requireOutcomePass=said)
            assert not found["requires_outcome_pass"], name
