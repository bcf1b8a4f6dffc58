"""Whether a call may run, asked at the editor: four kinds of answers, and what others mean."""

import anyio
import pytest
from acp_editor import ASKS_ABOUT_BASH, Answers, Desk, Place, editing, kind, last, statuses, turn

pytestmark = [pytest.mark.timeout(60), pytest.mark.measured]

TOUCH = ("bash", {"command": "touch made"})


async def _asked(desk: Desk, answers: Answers, session: str | None = None) -> str:
    desk.editor.answers = answers
    return await desk.say(session or await desk.begin())


@pytest.fixture
def asks(place: Place) -> str:
    place.rules(ASKS_ABOUT_BASH)
    return place.script(turn(TOUCH), turn(TOUCH), {"text": "Done."})


@pytest.mark.req("SPEC-ACP-12")
async def test_the_question_shows_the_call_and_only_kinds_of_the_protocol(
    place: Place, asks: str
) -> None:
    async with editing(place, asks) as desk:
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        told = next(iter(desk.editor.calls().values()))
        call, options = desk.editor.asked[0]
    assert call.tool_call_id == told[0]["toolCallId"]
    assert (call.title, call.kind, call.status) == ("bash touch made", "execute", "pending")
    assert call.raw_input == {"command": "touch made"}
    assert [one.kind for one in options] == [
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
    ]
    assert len({one.option_id for one in options}) == 4


@pytest.mark.req("SPEC-ACP-10")
async def test_a_call_is_pending_while_somebody_is_asked(place: Place, asks: str) -> None:
    async with editing(place, asks) as desk:
        may_go_on = anyio.Event()
        desk.editor.hold = may_go_on.wait
        session = await desk.begin()
        async with anyio.create_task_group() as group:
            group.start_soon(desk.say, session)
            await desk.editor.until(lambda: bool(desk.editor.asked))
            (told, *_more) = desk.editor.calls().values()
            assert set(statuses(told)) == {"pending"}
            assert not (place.work / "made").exists()
            may_go_on.set()
        (told, *_more) = desk.editor.calls().values()
        assert statuses(told)[-1] == "completed"


@pytest.mark.req("SPEC-ACP-13")
async def test_once_is_once_and_always_is_for_the_session_alone(place: Place) -> None:
    place.rules(ASKS_ABOUT_BASH)
    model = place.script(turn(TOUCH), turn(TOUCH), {"text": "Done."})
    async with editing(place, model) as desk:
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        assert len(desk.editor.asked) == 2
        assert await _asked(desk, kind("allow_always")) == "end_turn"
        assert len(desk.editor.asked) == 3
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        assert len(desk.editor.asked) == 5  # another session asks again: nothing was kept for all
        assert (place.work / "made").exists()


@pytest.mark.req("SPEC-ACP-13")
async def test_a_refusal_stops_the_turn_and_may_hold_for_the_session(place: Place) -> None:
    place.rules(ASKS_ABOUT_BASH)
    model = place.script(turn(TOUCH), turn(TOUCH), turn(TOUCH), {"text": "I see."})
    async with editing(place, model) as desk:
        session = await desk.begin()
        assert await _asked(desk, kind("reject_once"), session) == "end_turn"
        assert "The call was refused, so the agent stopped here." in desk.editor.words()
        assert await _asked(desk, kind("reject_always"), session) == "end_turn"
        assert len(desk.editor.asked) == 2
        assert await _asked(desk, kind("allow_once"), session) == "end_turn"
        assert len(desk.editor.asked) == 2  # it was refused without a question
        assert desk.editor.words().endswith("I see.")
        ends = [statuses(one)[-1] for one in desk.editor.calls().values()]
        assert ends == ["failed"] * 3
        assert not (place.work / "made").exists()


@pytest.mark.req("SPEC-ACP-12")
async def test_an_answer_that_was_not_offered_is_a_refusal(place: Place, asks: str) -> None:
    async with editing(place, asks) as desk:
        assert await _asked(desk, lambda _options: "allow_persistent") == "end_turn"
        (told,) = desk.editor.calls().values()
        assert statuses(told)[-1] == "failed"
        assert last(told, "rawOutput")["kind"] == "user_denied"
    assert not (place.work / "made").exists()


@pytest.mark.req("SPEC-ACP-14")
async def test_a_question_that_is_cancelled_ends_the_turn_and_leaves_no_rule(
    place: Place, asks: str
) -> None:
    async with editing(place, asks) as desk:
        session = await desk.begin()
        assert await _asked(desk, lambda _options: None, session) == "cancelled"
        (told,) = desk.editor.calls().values()
        assert statuses(told)[-1] == "failed"
        assert not (place.work / "made").exists()
        assert await _asked(desk, kind("allow_once"), session) == "end_turn"
        assert len(desk.editor.asked) == 2  # it is asked anew: nothing was remembered
        assert (place.work / "made").exists()


@pytest.mark.req("SPEC-ACP-15")
async def test_what_rules_decide_is_not_asked(place: Place) -> None:
    place.rules('[[rule]]\npermission = "bash"\npattern = "rm *"\naction = "deny"\n')
    calls = (("bash", {"command": "rm -f made"}), ("write", {"path": "made", "content": "x"}))
    async with editing(place, place.script(turn(*calls), {"text": "Done."})) as desk:
        assert await _asked(desk, kind("reject_once")) == "end_turn"
        assert desk.editor.asked == []
        assert [statuses(one)[-1] for one in desk.editor.calls().values()] == [
            "failed",
            "completed",
        ]


async def test_a_call_that_always_asks_offers_no_always(place: Place) -> None:
    tools = place.home.parent / "mine.py"
    tools.write_text(
        "from holdfast import tool\n"
        '@tool(read_only=False, permission_policy="always_ask")\n'
        "def wipe(path: str) -> str:\n"
        '    """Remove a thing."""\n'
        '    print("wiping")\n'
        '    return f"wiped {path}"\n',
        "utf-8",
    )
    model = place.script(turn(("wipe", {"path": "x"})), {"text": "Done."})
    async with editing(place, model, "--from", str(tools)) as desk:
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        assert [one.kind for one in desk.editor.asked[0][1]] == ["allow_once", "reject_once"]
        told = desk.editor.call("wipe")
    assert told[-1]["rawOutput"] == {"text": "wiped x"}
    assert told[-1]["content"][0]["content"]["text"] == "wiped x"


ASKS_ABOUT_CHANGES = """
[[rule]]
permission = "edit"
pattern = "**"
action = "ask"

[[rule]]
permission = "write"
pattern = "**"
action = "ask"
"""


@pytest.mark.req("SPEC-ACP-11")
async def test_who_is_asked_about_a_change_is_shown_it_before(place: Place) -> None:
    place.rules(ASKS_ABOUT_CHANGES)
    (place.work / "a.txt").write_text("one\ntwo\n", "utf-8")
    edit = {"path": "a.txt", "old_string": "two", "new_string": "2"}
    model = place.script(
        turn(("edit", edit), ("write", {"path": "b.txt", "content": "new\n"})), {"text": "Done."}
    )
    async with editing(place, model) as desk:
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        shown = [
            one.model_dump(by_alias=True, exclude_none=True)["content"]
            for one, _options in desk.editor.asked
        ]
    assert [one[0]["content"]["text"].split()[0] for one in shown] == ["Tool", "Tool"]
    assert [one[1] for one in shown] == [
        {
            "type": "diff",
            "path": str(place.work / "a.txt"),
            "oldText": "one\ntwo\n",
            "newText": "one\n2\n",
        },
        {"type": "diff", "path": str(place.work / "b.txt"), "newText": "new\n"},
    ]


async def test_no_secret_of_a_file_is_shown_with_a_change(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hunter2-hunter2"
    monkeypatch.setenv("PROBE_TOKEN", secret)
    place.rules(ASKS_ABOUT_CHANGES)
    (place.work / "a.txt").write_text(f"key = {secret}\ntwo\n", "utf-8")
    edit = {"path": "a.txt", "old_string": "two", "new_string": "2"}
    model = place.script(turn(("edit", edit)), {"text": "Done."})
    async with editing(place, model) as desk:
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        ((asked, _options),) = desk.editor.asked
        shown = str(asked.model_dump(by_alias=True))
        told = str(desk.editor.told)
    assert "key = ***REDACTED***\\n2" in shown
    assert "key = ***REDACTED***\\n2" in told  # once it has run, too
    assert "hunter2" not in shown + told
    assert (place.work / "a.txt").read_text("utf-8") == f"key = {secret}\n2\n"


async def test_the_reason_of_the_rule_is_told_first(place: Place, asks: str) -> None:
    place.rules(f'{ASKS_ABOUT_BASH}reason = "Files are made by hand"\n')
    async with editing(place, asks) as desk:
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        told = desk.editor.asked[0][0].model_dump()["content"][0]["content"]["text"]
    assert told.split(". ")[0].endswith("on 'touch made': Files are made by hand.")


CODER = """
[agent.coder]
description = "Looks at code."
mode = "subagent"
"""


async def test_a_question_of_a_subagent_says_whose_it_is(place: Place) -> None:
    place.rules(ASKS_ABOUT_BASH)
    (place.home / "config.toml").write_text(CODER, "utf-8")
    model = place.script(
        turn(("task", {"subagent_type": "coder", "prompt": "Touch it."})),
        turn(TOUCH),
        {"text": "Touched."},
        {"text": "Done."},
    )
    async with editing(place, model) as desk:
        assert await _asked(desk, kind("allow_once")) == "end_turn"
        ((call, _options),) = desk.editor.asked
        told = desk.editor.calls()[call.tool_call_id]
    assert call.title == "the subagent coder: bash touch made"
    assert told[0]["sessionUpdate"] == "tool_call"
    assert statuses(told) == ["pending", "in_progress", "completed"]
    assert (place.work / "made").exists()
