"""Calls as an editor sees them: kinds, states, titles, places, changes, plans, what is printed."""

import json
from pathlib import Path

import anyio
import pytest
from acp_editor import Place, Said, editing, kind, last, statuses, turn
from command import start

from holdfast.surfaces.acp.diffs import written_changes
from holdfast.surfaces.acp.results import settled
from holdfast.surfaces.acp.titles import locations_of, title_of

pytestmark = [pytest.mark.timeout(60), pytest.mark.measured]

CALLS: dict[str, Said] = {
    "read": {"path": "a.txt"},
    "write": {"path": "b.txt", "content": "b\n"},
    "edit": {"path": "a.txt", "old_string": "one", "new_string": "two"},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "one"},
    "tool_search": {"query": "pictures"},
    "bash": {"command": "true"},
    "skill": {"name": "none"},
    "todo": {"todos": [{"content": "A", "active_form": "Doing A", "status": "pending"}]},
    "task": {"subagent_type": "none", "prompt": "Nothing."},
    "question": {"questions": [{"question": "Why?"}]},
    "plan_exit": {"plan": "None."},
    "lsp": {"action": "symbols", "path": "a.txt"},
    "apply_patch": {"patch": "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch"},
    "web_search": {"query": "nothing"},
    "web_fetch": {"url": "https://example.invalid/"},
    "no_such_tool": {},
}
KINDS = {
    "read": "read",
    "write": "edit",
    "edit": "edit",
    "glob": "search",
    "grep": "search",
    "tool_search": "search",
    "bash": "execute",
    "skill": "think",
    "todo": "other",
    "task": "other",
    "question": "other",
    "plan_exit": "switch_mode",
    "lsp": "search",
    "apply_patch": "edit",
    "web_search": "fetch",
    "web_fetch": "fetch",
    "no_such_tool": "other",
}


@pytest.mark.req(
    "SPEC-ACP-01",
    "SPEC-ACP-02",
    "SPEC-ACP-03",
    "SPEC-ACP-04",
    "SPEC-ACP-05",
    "SPEC-ACP-06",
    "SPEC-ACP-07",
    "SPEC-ACP-08",
    "SPEC-ACP-09",
)
async def test_every_call_has_its_kind_which_nothing_else_knows(place: Place) -> None:
    (place.work / "a.txt").write_text("one\n", "utf-8")
    model = place.script(turn(*CALLS.items()), {"text": "Done."})
    async with editing(place, model) as desk:
        desk.editor.answers = kind("reject_once")
        await desk.one_turn()
        found = desk.editor.calls().values()
        assert {last(one, "title").split()[0]: one[0]["kind"] for one in found} == KINDS
        assert all("kind" in one[0] and one[0]["title"] for one in found)
    alone = start(
        "run", "Do it.", "--model", model, "--json", "--headless", home=place.home, cwd=place.work
    )
    events = [json.loads(line) for line in alone.out.splitlines()]
    assert any("plan_exit" in str(one) for one in events)
    assert "switch_mode" not in alone.out


@pytest.mark.req("SPEC-ACP-10")
async def test_a_call_is_pending_then_in_progress_then_it_has_ended(place: Place) -> None:
    model = place.script(
        turn(("write", {"path": "a.txt", "content": "a\n"}), ("read", {"path": "none.txt"})),
        {"text": "Done."},
    )
    async with editing(place, model) as desk:
        assert await desk.one_turn() == "end_turn"
        written, read = desk.editor.call("write"), desk.editor.call("read")
    assert written[0]["sessionUpdate"] == "tool_call"
    assert "rawInput" not in written[0]  # the model still writes it
    assert statuses(written) == ["pending", "pending", "in_progress", "completed"]
    begun = next(one for one in written if one.get("status") == "in_progress")
    assert begun["rawInput"] == {"path": "a.txt", "content": "a\n"}
    assert written[-1]["rawOutput"] == {"bytes": 2, "ok": True}
    assert statuses(read)[-1] == "failed"
    (said,) = read[-1]["content"]
    assert said["content"]["text"].startswith("not_found: ")
    assert read[-1]["rawOutput"]["kind"] == "not_found"


@pytest.mark.req("SPEC-ACP-11")
async def test_changes_of_files_are_told_whole_with_their_places(place: Place) -> None:
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+three\n*** End Patch"
    model = place.script(
        turn(("write", {"path": "a.txt", "content": "one\ntwo\n"})),
        turn(("edit", {"path": "a.txt", "old_string": "one", "new_string": "1"})),
        turn(("apply_patch", {"patch": patch})),
        {"text": "Done."},
    )
    file = str(place.work / "a.txt")
    async with editing(place, model) as desk:
        assert await desk.one_turn() == "end_turn"
        told = [desk.editor.call(name) for name in ("write", "edit", "apply_patch")]
    assert [last(one, "title") for one in told] == [
        "write a.txt",
        "edit a.txt",
        "apply_patch a.txt",
    ]
    assert [last(one, "locations") for one in told] == [[{"path": file}]] * 3
    assert [one[-1]["content"] for one in told] == [
        [{"type": "diff", "path": file, "newText": "one\ntwo\n"}],
        [{"type": "diff", "path": file, "oldText": "one\ntwo\n", "newText": "1\ntwo\n"}],
        [{"type": "diff", "path": file, "oldText": "1\ntwo\n", "newText": "1\nthree\n"}],
    ]


@pytest.mark.req("SPEC-ACP-17")
async def test_a_list_of_what_is_to_be_done_is_also_a_plan(place: Place) -> None:
    todos = [
        {"content": "Look", "active_form": "Looking", "status": "completed"},
        {"content": "Write", "active_form": "Writing", "status": "in_progress"},
    ]
    async with editing(
        place, place.script(turn(("todo", {"todos": todos})), {"text": "."})
    ) as desk:
        await desk.one_turn()
        (plan,) = desk.editor.of("plan")
    assert plan["entries"] == [
        {"content": "Look", "priority": "medium", "status": "completed"},
        {"content": "Write", "priority": "medium", "status": "in_progress"},
    ]


async def test_what_a_command_prints_is_told_while_it_runs(place: Place) -> None:
    command = "echo first; until [ -e go ]; do sleep 0.05; done; echo second; exit 3"
    async with editing(
        place, place.script(turn(("bash", {"command": command})), {"text": "."})
    ) as desk:
        session = await desk.begin()
        async with anyio.create_task_group() as group:
            group.start_soon(desk.say, session)
            await desk.editor.until(lambda: "'```\\nfirst\\n```'" in str(desk.editor.told))
            (place.work / "go").write_text("", "utf-8")
        told = desk.editor.call("bash")
    assert [one["content"]["text"] for one in told[-1]["content"]] == [
        "```\nfirst\nsecond\n```",
        "exit code 3",
    ]
    assert statuses(told)[-1] == "completed"


CODER = """
[agent.coder]
description = "Looks at code."
mode = "subagent"
"""


async def test_work_of_a_subagent_is_told_with_the_call_that_handed_it_on(place: Place) -> None:
    (place.home / "config.toml").write_text(CODER, "utf-8")
    model = place.script(
        turn(("task", {"subagent_type": "coder", "prompt": "Look."})),
        turn(("glob", {"pattern": "*"}), ("read", {"path": "none.txt"})),
        {"text": "Nothing there."},
        {"text": "Done."},
    )
    async with editing(place, model) as desk:
        assert await desk.one_turn() == "end_turn"
        told = desk.editor.call("task")
    assert last(told, "title") == "task coder: Look."
    lines = told[-1]["content"][0]["content"]["text"].splitlines()
    assert lines[:3] == ["- coder begins", "- coder: glob *", "- coder: read none.txt"]
    assert lines[3].startswith("- coder: read: not_found: ")


def test_a_question_and_a_patch_are_named_by_what_they_are_about() -> None:
    assert (
        title_of("question", {"questions": [{"question": "Which one?"}]}) == "question Which one?"
    )
    patch = "--- a/x.py\n+++ b/x.py\n@@\n-1\n+2\n"
    assert title_of("apply_patch", {"patch": patch}) == "apply_patch x.py"
    assert title_of("todo", {"todos": []}) == "todo"
    assert locations_of({"path": "x.py", "start_line": 7}, "/w")[0].line == 7
    assert locations_of({"path": "x.py"}, None) == []


@pytest.mark.req("OSA-TXT-03")
def test_answers_are_shown_as_what_they_are() -> None:
    def shown(result: object, tool: str = "grep", **more: object) -> list[str]:
        end = settled(tool, {"ok": True, "result": result, **more})  # type: ignore[dict-item] - JSON
        return [str(getattr(one.content, "text", "")) for one in end.content]

    assert shown({"text": "# A title"}) == ["# A title"]
    assert shown({"matches": [{"path": "a", "line": 1, "text": "x"}]}) == ["```\na:1: x\n```"]
    assert shown({"matches": [{"id": "lsp", "description": "y"}]}) == ["```\nlsp: y\n```"]
    assert shown({"entries": [{"path": "a"}, {"path": "b"}]}) == ["```\na\nb\n```"]
    assert shown({"text": "a\n```\nb", "size": 7}) == ["````\na\n```\nb\n````"]
    assert shown({"stdout": "", "stderr": "", "timed_out": True}) == ["timed out"]
    kept = {"truncated": True, "output_path": "/o"}
    assert shown({"head": "x"}, metadata=kept) == [
        "```\nx\n```",
        "(The whole output is kept in /o.)",
    ]
    assert shown(7, warnings=["slow"]) == ["warning: slow"]


def test_changes_of_long_ago_are_told_by_what_was_asked_for(tmp_path: Path) -> None:
    (edited,) = written_changes("edit", {"path": "a", "old_string": "x", "new_string": "y"}, "/w")
    assert (edited.path, edited.old_text, edited.new_text) == ("/w/a", "x", "y")
    (written,) = written_changes("write", {"path": "a", "content": "y"}, "/w")
    assert (written.old_text, written.new_text) == (None, "y")
    assert written_changes("bash", {"command": "true"}, str(tmp_path)) == []
