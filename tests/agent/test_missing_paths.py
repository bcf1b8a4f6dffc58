"""A path that is not there is not_found, whichever tool was told of it, and leads on from there."""

from pathlib import Path
from typing import cast

import pytest
from tool_kit import opened

from holdfast.agent.classify import classify
from holdfast.agent.roles import roles_of
from holdfast.agent.task_state import TaskState
from holdfast.app.holdfast import Holdfast
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import Tool

GONE = "gone.txt"
PATCH = f"--- a/{GONE}\n+++ b/{GONE}\n@@ -1 +1 @@\n-a\n+b\n"
CALLS: dict[str, JsonObject] = {
    "read": {"path": GONE},
    "edit": {"path": GONE, "old_string": "a", "new_string": "b"},
    "glob": {"pattern": "*", "path": GONE},
    "grep": {"pattern": "x", "path": GONE},
    "bash": {"command": "pwd", "workdir": GONE},
    "apply_patch": {"patch": PATCH},
    "repo_overview": {"path": GONE},
    "lsp": {"action": "diagnostics", "path": GONE},
    "view_image": {"path": GONE},
    "file_read": {"path": GONE},
    "sandbox_read_file": {"path": GONE},
    "sandbox_search_files": {"query": "x", "path": GONE},
    "sandbox_exec": {"command": "pwd", "cwd": GONE},
}
NEED_NOTHING_TO_BE_THERE = {"write", "sandbox_write_file", "repo_clone", "shell_run"}
HAS_ITS_OWN_RULE = {"share_artifact"}
"""What it says of a missing path is decided for it alone."""


def _names_paths(one: Tool) -> bool:
    return any(use.capability.startswith("fs.") for use in one.uses)


def opens(path: str) -> str:
    """Open a file as any Python does, e.g. path='a'."""
    return Path(path).read_text("utf-8")


def lists(path: str) -> str:
    """List a directory as any Python does, e.g. path='a'."""
    return str(list(Path(path).iterdir()))


@pytest.mark.req("OSA-KND-10")
@pytest.mark.parametrize("profile", ["code", "host"])
async def test_a_missing_path_is_its_own_class_whichever_tool_was_told_of_it(
    profile: str, tmp_path: Path
) -> None:
    async with opened(tmp_path, profile, tools=[opens, lists]) as hf:
        naming = {one.name for one in hf.tools if _names_paths(one)}
        assert naming - NEED_NOTHING_TO_BE_THERE - HAS_ITS_OWN_RULE <= CALLS.keys()
        for name in naming & CALLS.keys():
            assert classify(await hf.settle(name, CALLS[name])) == "not_found", name
        for name in ("opens", "lists"):
            envelope = await hf.settle(name, {"path": str(tmp_path / GONE)})
            assert classify(envelope) == "not_found"


async def _step(hf: Holdfast, state: TaskState[Envelope], path: str) -> Envelope:
    envelope = await hf.settle("read", {"path": path})
    state.record("read", {"path": path}, envelope)
    return envelope


@pytest.mark.req("OSA-STA-05")
async def test_without_nudges_the_fields_of_the_answers_alone_lead_to_the_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("here", "utf-8")
    async with opened(tmp_path) as hf:
        state: TaskState[Envelope] = TaskState(roles_of(hf.tools), nudging=False)
        envelope = await _step(hf, state, "source/main.py")
        assert classify(envelope) == "not_found"
        path = "."
        for _ in range(5):
            envelope = await _step(hf, state, path)
            if classify(envelope) == "file_content":
                break
            assert classify(envelope) == "populated_listing"
            path = cast("dict[str, list[dict[str, str]]]", envelope.result)["entries"][0]["path"]
            assert state.notice() is None
        assert cast("JsonObject", envelope.result)["text"] == "here"
