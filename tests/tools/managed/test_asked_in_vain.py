"""A promotion that is bound to be refused is put to nobody."""

from pathlib import Path
from typing import Any

import pytest
from tool_kit import failure, result
from tools.managed.shared_kit import Approves, managed

from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer

pytestmark = pytest.mark.anyio

SHARE, NOTE, RESTORE = (
    *("resources_promote_to_substrate", "memory_promote_note"),
    "resources_restore_version",
)


@pytest.mark.parametrize(
    ("tool", "given", "kind"),
    [
        (SHARE, {"source_path": "nowhere.md"}, FailureKind.NOT_FOUND),
        (SHARE, {"source_path": "../outside.md"}, None),
        (SHARE, {"source_path": "a.md", "expected_version_id": "v"}, None),
        (SHARE, {"source_path": "a.md"}, FailureKind.INVALID_ARGS),
        (RESTORE, {"version_id": "v"}, None),
        (NOTE, {"content": "x", "expected_version_id": "v"}, None),
    ],
    ids=["missing", "outside", "version", "overwrite", "unknown", "note"],
)
async def test_what_is_wrong_with_it_is_told_before_a_person_is_asked(
    workspace: Path, tool: str, given: dict[str, Any], kind: FailureKind | None
) -> None:
    (workspace / "a.md").write_text("a\n", "utf-8")
    asked = Approves()
    async with managed(workspace, approver=asked) as hf:
        await result(hf, SHARE, source_path="a.md")
        assert len(asked.asked) == 1
        refused = await failure(hf, tool, **given)
        assert len(asked.asked) == 1
        assert kind is None or refused.kind is kind


async def test_an_outcome_that_is_not_reached_is_told_before_a_person_is_asked(
    workspace: Path,
) -> None:
    (workspace / "a.md").write_text("a\n", "utf-8")
    asked = Approves()
    async with managed(workspace, approver=asked) as hf:
        await result(hf, "outcome_define", title="T", success_criteria=["the till adds up well"])
        for tool, given in ((SHARE, {"source_path": "a.md"}), (NOTE, {"content": "x"})):
            refused = await failure(hf, tool, **given)
            assert refused.kind is FailureKind.REJECTED
            assert "requires outcome_evaluate to return status=pass" in refused.message
            assert asked.asked == []
            await result(hf, tool, **given, require_outcome_pass=False)
            assert len(asked.asked) == 1
            asked.asked.clear()


async def test_what_changes_while_a_person_thinks_is_refused_after_their_yes(
    workspace: Path,
) -> None:
    (workspace / "a.md").write_text("a\n", "utf-8")

    async def agrees(_ask: Ask) -> Answer:
        await result(hf, "outcome_define", title="T", success_criteria=["the till adds up well"])
        return Answer(allowed=True, by="ada")

    async with managed(workspace, approver=agrees) as hf:
        refused = await failure(hf, SHARE, source_path="a.md")
        assert refused.kind is FailureKind.REJECTED
        assert "requires outcome_evaluate to return status=pass" in refused.message
