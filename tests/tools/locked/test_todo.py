"""`todo`: a list per session, replaced whole."""

import json
from pathlib import Path
from typing import Any

import pytest
from tool_kit import failure, opened, result

from holdfast.app.settings import Settings
from holdfast.contract.failure import FailureKind
from holdfast.contract.runtime import Progress
from holdfast.contract.todos import Todo

pytestmark = pytest.mark.anyio


def item(content: str, status: str = "pending") -> dict[str, Any]:
    return {"content": content, "active_form": f"doing {content}", "status": status}


@pytest.mark.req("SPEC-TODO-01", "SPEC-TODO-03", "SPEC-LOCK-11")
async def test_each_call_replaces_the_whole_list(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:
        tool = next(tool for tool in hf.tools if tool.name == "todo")
        assert tool.requires.empty
        first = await result(hf, "todo", todos=[item("a", "completed"), item("b", "in_progress")])
        assert first == {"ok": True, "count": 2}
        assert hf.todos == (
            Todo("a", "doing a", "completed"),
            Todo("b", "doing b", "in_progress"),
        )
        assert await result(hf, "todo", todos=[item("c")]) == {"ok": True, "count": 1}
        assert [one.content for one in hf.todos] == ["c"]
        assert await result(hf, "todo", todos=[]) == {"ok": True, "count": 0}
        assert hf.todos == ()


@pytest.mark.req("SPEC-TODO-02")
async def test_another_session_has_another_list(workspace: Path) -> None:
    async with opened(workspace, "locked") as one, opened(workspace, "locked") as other:
        await result(one, "todo", todos=[item("mine")])
        assert other.todos == ()
        await result(other, "todo", todos=[item("theirs")])
        assert [todo.content for todo in one.todos] == ["mine"]


@pytest.mark.req("SPEC-TODO-04")
async def test_the_list_is_a_copy(workspace: Path) -> None:
    given = [item("a")]
    async with opened(workspace, "locked") as hf:
        await result(hf, "todo", todos=given)
        given[0]["content"] = "changed"
        given.append(item("b"))
        assert [one.content for one in hf.todos] == ["a"]


@pytest.mark.req("SPEC-TODO-05")
async def test_several_may_be_in_progress(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:
        both = [item("a", "in_progress"), item("b", "in_progress")]
        assert (await result(hf, "todo", todos=both))["count"] == 2


@pytest.mark.req("SPEC-TODO-06")
async def test_the_same_list_again_tells_nobody(workspace: Path) -> None:
    heard: list[Progress] = []
    async with opened(workspace, "locked", progress=heard.append) as hf:
        for _ in range(2):
            await result(hf, "todo", todos=[item("a", "in_progress")])
        assert [one.message for one in heard] == ["0 of 1 done: doing a"]
        assert heard[0].partial == {"todos": [item("a", "in_progress")]}
        await result(hf, "todo", todos=[item("a", "completed")])
        assert [one.message for one in heard] == ["0 of 1 done: doing a", "1 of 1 done"]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"content": "a", "active_form": "b", "status": "done"}, "todos[0].status"),
        ({"content": "", "active_form": "b", "status": "pending"}, "todos[0].content"),
        ({"content": "a", "active_form": "b"}, "todos[0].status"),
    ],
)
async def test_what_is_no_item_changes_nothing(
    workspace: Path, sent: dict[str, object], field: str
) -> None:
    async with opened(workspace, "locked") as hf:
        await result(hf, "todo", todos=[item("kept")])
        refused = await failure(hf, "todo", todos=[sent])
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)
        assert [one.content for one in hf.todos] == ["kept"]


async def test_a_session_that_is_taken_up_again_has_its_list(workspace: Path) -> None:
    async with opened(workspace, "locked", settings=Settings()) as hf:
        assert hf.todos == ()
        await result(hf, "todo", todos=[item("old")])
        # As models write it: it is repaired, and restored as it was kept.
        await hf.settle("todo", {"todos": json.dumps([item("kept", "in_progress")])})
        await failure(hf, "todo", todos=[{"content": "wrong"}])
        before = hf.todos
    assert [one.content for one in before] == ["kept"]
    async with opened(workspace, "locked", settings=Settings(), session=hf.session_id) as again:
        assert again.todos == before
        await result(again, "todo", todos=[])
    async with opened(workspace, "locked", settings=Settings(), session=hf.session_id) as again:
        assert again.todos == ()


async def test_a_list_too_long_to_be_kept_in_the_journal_is_told(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    long = [item("x" * 1000) for _ in range(1100)]
    async with opened(workspace, "locked", settings=Settings()) as hf:
        await result(hf, "todo", todos=long)
        assert len(hf.todos) == len(long)
    async with opened(workspace, "locked", settings=Settings(), session=hf.session_id) as again:
        assert again.todos == ()
    assert "cannot be read from its journal" in caplog.text
