"""Answers name the files that show the same to a session's hand, and the shell's are rewritten."""

from pathlib import Path
from typing import Any

import pytest
from tool_kit import result
from tools.managed.shared_kit import managed
from tools.managed.standing import standing, whole
from tools.managed.tool_table import TABLE

from holdfast import Holdfast
from holdfast.contract.json_value import decode_json
from holdfast.contract.managed.artifact_names import ARTIFACTS

pytestmark = pytest.mark.anyio

SHELL = ("shell_last_output", "shell_history", "shell_state")
TOLD_BY = {
    "environment_describe": ("environment", "agent_setup"),
    "agent_describe_setup": ("agent_setup",),
    "agent_compare_setup": ("agent_setup",),
    "vault_list": ("vaults",),
    "skills_list": ("skills",),
    "permissions_describe": ("permissions", "permission_posture"),
    "permissions_check": ("permissions", "permission_posture"),
    "session_list": ("session_status",),
    "session_list_children": ("session_status",),
    "session_describe_context": ("context_budget",),
    "session_get_events": ("event_feed",),
    "session_get_trace": ("wake_traces",),
    "session_list_traces": ("wake_traces",),
    "outcome_read": ("outcome",),
    "outcome_define": ("outcome",),
    "outcome_grade": ("outcome_grade",),
    "outcome_evaluate": ("outcome_evaluation",),
    "outcome_history": ("outcome_evaluations",),
    "resources_stage_from_substrate": ("staged_substrate",),
    "resources_list_staged_drafts": ("staged_substrate",),
    "resources_promote_to_substrate": ("staged_substrate",),
    **dict.fromkeys(
        (
            *("shell_describe", "shell_history", "shell_wait"),
            *("shell_read_command", "shell_read_last_output"),
        ),
        SHELL,
    ),
}
"""By tool, the artifacts that show what it tells."""
OF_A_SESSION = {
    *("event_feed", "wake_traces", "managed_tools", "skills", "vaults", "environment"),
    *("permissions", "context_budget", "session_status", "outcome", "outcome_grade"),
    *("outcome_evaluation", *SHELL),
}


def folder(workspace: Path, session_id: str) -> Path:
    return workspace.resolve() / ".holdfast-runtime" / session_id


@pytest.mark.req("BOA-ART-22")
async def test_a_tool_names_the_files_that_show_what_it_tells(workspace: Path) -> None:
    async with standing(workspace) as world:
        for name, artifacts in TOLD_BY.items():
            row = next(
                (one for one in TABLE[name].good if one.get("session_id") == "$second"),
                TABLE[name].good[0],
            )
            about = world.facts["second" if "session_id" in row else "here"]
            if name in {"session_list", "session_list_children"}:
                about = world.facts["child"]
                row = {}
            envelope = await world.settled(name, row)
            assert envelope.failure is None, (name, envelope.failure)
            for one in artifacts:
                path = folder(workspace, about) / ARTIFACTS[one][0]
                assert str(path) in whole(envelope), (name, one)


@pytest.mark.req("BOA-SESS-17")
async def test_a_snapshot_maps_all_files_of_its_session(workspace: Path) -> None:
    async with standing(workspace) as world:
        for session in ("here", "second", "child"):
            named = world.facts[session]
            told = await result(world.holdfast, "session_get_snapshot", session_id=named)
            paths: dict[str, list[str]] = told["artifact_paths"]
            assert {*paths} >= OF_A_SESSION
            for name, files in paths.items():
                shown = [str(folder(workspace, named) / one) for one in ARTIFACTS[name]]
                assert files == shown
                if session == "second":  # it has had a run
                    assert all(Path(one).is_file() for one in files), name


FILES = [name for one in SHELL for name in ARTIFACTS[one]]


async def changed(hf: Holdfast, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call that changes the shell: what the files say that it has written."""
    shown = folder(Path(hf.parts.session.workspace or ""), hf.session_id)
    for name in FILES:
        (shown / name).unlink(missing_ok=True)
    await result(hf, tool, **arguments)
    assert {one for one in FILES if (shown / one).is_file()} == {*FILES}, tool
    said: Any = {one: (shown / one).read_text("utf-8") for one in FILES}
    return {
        one: decode_json(text.encode()) if one.endswith("json") else text
        for one, text in said.items()
    }


@pytest.mark.req("BOA-ART-14")
async def test_every_change_of_the_shell_rewrites_what_shows_it(workspace: Path) -> None:
    (workspace / "src").mkdir()
    source = str((workspace / "src").resolve())
    async with managed(workspace) as hf:
        said = await changed(hf, "shell_set_cwd", path="src")
        assert [said[one]["cwd"] for one in FILES if one.endswith("json")] == [source] * 3
        said = await changed(hf, "shell_set_env", key="COLOUR", value="crimson")
        assert said["shell-state.json"]["env"]["keys"] == ["COLOUR"]
        assert "COLOUR" in said["shell-history.md"]
        assert "crimson" not in str(said)
        said = await changed(hf, "shell_unset_env", key="COLOUR")
        assert said["shell-state.json"]["env"]["keys"] == []
        for tool, more in (
            ("shell_run", {}),
            ("shell_exec", {}),
            ("sandbox_execute", {"name": "run_shell"}),
        ):
            text = f"echo {tool}"
            more = {"input": {"command": text}, **more} if more else {"command": text}
            said = await changed(hf, tool, **more)
            assert said["shell-last-output.json"]["last_command"]["stdout"] == f"{tool}\n"
            assert said["shell-history.json"]["commands"][0]["command"] == text
            for page in ("shell-last-output.md", "shell-history.md"):
                assert text in said[page]
        said = await changed(hf, "bash", command="pwd")
        assert said["shell-last-output.json"]["last_command"]["stdout"] == f"{source}\n"
        assert said["shell-history.json"]["commands"][0]["command"] == "pwd"
        for tool, status in (
            ("shell_open", "active"),
            ("shell_restart", "active"),
            ("shell_close", "closed"),
        ):
            said = await changed(hf, tool)
            assert said["shell-state.json"]["persistent_shell"]["status"] == status
        said = await changed(hf, "shell_exec", command="cd ..; export SIZE=large")
        assert said["shell-state.json"]["cwd"] == str(workspace.resolve())
        assert said["shell-state.json"]["env"]["keys"] == ["SIZE"]
