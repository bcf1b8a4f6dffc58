"""Sessions of before: listed, told again, gone on with, also after a crash; and other modes."""

from contextlib import suppress
from functools import partial

import anyio
import pytest
from acp import RequestError
from acp_editor import ASKS_ABOUT_BASH, Place, editing, gone, kind, last, statuses, turn
from command import start

pytestmark = [pytest.mark.timeout(60), pytest.mark.measured]


async def test_a_session_is_told_again_and_gone_on_with_after_a_crash(place: Place) -> None:
    marker = "4712.25"
    first = place.script(
        turn(("write", {"path": "a.txt", "content": "a\n"}), text="I write.", reasoning="Hm."),
        turn(("bash", {"command": f"echo begun; sleep {marker}"})),
    )
    async with editing(place, first) as desk:
        session = await desk.begin()

        async def say() -> None:
            with suppress(ConnectionError):
                await desk.say(session, "Write it.")

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await desk.editor.until(lambda: "'```\\nbegun\\n```'" in str(desk.editor.told))
            desk.process.kill()
            await desk.process.wait()
            group.cancel_scope.cancel()
    await gone(f"sleep\0{marker}")

    async with editing(place, place.script({"text": "Gone on."}, name="then.json")) as desk:
        (known,) = (await desk.agent.list_sessions(cwd=str(place.work))).sessions
        assert (known.session_id, known.title) == (session, "Write it.")
        loaded = await desk.agent.load_session(cwd=str(place.work), session_id=session)
        assert loaded is not None
        assert loaded.modes is not None
        assert loaded.modes.current_mode_id == "code"
        kinds = [said["sessionUpdate"] for _name, said in desk.editor.told]
        assert kinds[:3] == ["user_message_chunk", "agent_thought_chunk", "agent_message_chunk"]
        assert desk.editor.words() == "I write."
        written, ran = desk.editor.call("write"), desk.editor.call("bash")
        assert statuses(written)[-1] == "completed"
        assert last(written, "content")[0]["type"] == "diff"
        assert statuses(ran)[-1] == "failed"  # it was cut off, and is not run again
        assert await desk.say(session, "And now?") == "end_turn"
        assert desk.editor.words() == "I write.Gone on."


async def test_a_question_that_was_open_is_asked_again(place: Place) -> None:
    place.rules(ASKS_ABOUT_BASH)
    model = place.script(turn(("bash", {"command": "touch made"})), {"text": "Done."})
    async with editing(place, model) as desk:
        session = await desk.begin()
        desk.editor.hold = anyio.sleep_forever

        async def say() -> None:
            with suppress(ConnectionError):
                await desk.say(session)

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await desk.editor.until(lambda: bool(desk.editor.asked))
            desk.process.kill()
            await desk.process.wait()
            group.cancel_scope.cancel()

    async with editing(place, place.script({"text": "Made."}, name="then.json")) as desk:
        desk.editor.answers = kind("allow_once")
        await desk.agent.load_session(cwd=str(place.work), session_id=session)
        (told,) = desk.editor.calls().values()
        assert set(statuses(told)) == {"pending"}
        assert await desk.say(session, "Go on.") == "end_turn"
        assert len(desk.editor.asked) == 1
        assert desk.editor.asked[0][0].tool_call_id == told[0]["toolCallId"]
        (told,) = desk.editor.calls().values()
        assert statuses(told)[-1] == "completed"
    assert (place.work / "made").exists()


async def test_a_session_is_closed_and_resumed_without_being_told_again(place: Place) -> None:
    model = place.script({"text": "One."})
    other = place.work.parent / "other"
    other.mkdir()
    async with editing(place, model) as desk:
        session = await desk.begin()
        await desk.say(session)
        await desk.agent.close_session(session_id=session)
        with pytest.raises(RequestError, match="is not open here"):
            await desk.say(session)
        before = len(desk.editor.told)
        await desk.agent.resume_session(session_id=session, cwd=str(other))
        await desk.agent.resume_session(session_id=session, cwd=str(other))  # it is open already
        assert len(desk.editor.told) == before
        assert await desk.say(session) == "end_turn"
        assert f"This session works in {place.work}, where it was begun" in desk.editor.words()
        assert (await desk.agent.list_sessions(cwd=str(other))).sessions == []
        assert len((await desk.agent.list_sessions()).sessions) == 1
        with pytest.raises(RequestError, match="is no cursor"):
            await desk.agent.list_sessions(cursor="x")


async def test_a_session_of_the_terminal_is_gone_on_with_at_an_editor(place: Place) -> None:
    model = place.script({"text": "Begun."})
    ran = start("run", "Begin.", "--model", model, "--headless", home=place.home, cwd=place.work)
    assert ran.status == 0, ran.err
    async with editing(place, place.script({"text": "Gone on."}, name="then.json")) as desk:
        (known,) = (await desk.agent.list_sessions(cwd=str(place.work))).sessions
        await desk.agent.load_session(cwd=known.cwd, session_id=known.session_id)
        assert await desk.say(known.session_id) == "end_turn"
        assert desk.editor.words() == "Begun.Gone on."


async def test_a_session_that_somebody_else_runs_is_not_opened(place: Place) -> None:
    async with editing(place, place.script({"text": "One."})) as desk:
        session = await desk.begin()
        await desk.say(session)
        async with editing(place, place.script({"text": "Two."}, name="two.json")) as other:
            with pytest.raises(RequestError, match="is run by"):
                await other.agent.load_session(cwd=str(place.work), session_id=session)


async def test_modes_are_the_profiles_and_change_between_turns(place: Place) -> None:
    (place.home / "config.toml").write_text('[profile.mine]\ntoolsets = ["locked"]\n', "utf-8")
    write = turn(("bash", {"command": "until [ -e go ]; do sleep 0.05; done"}))
    model = place.script(
        write,
        {"text": "Waited."},
    )
    async with editing(place, model) as desk:
        begun = await desk.agent.new_session(cwd=str(place.work), mcp_servers=[])
        session, modes = begun.session_id, begun.modes
        assert modes is not None
        assert modes.current_mode_id == "code"
        names = [one.id for one in modes.available_modes]
        assert names == ["bare", "locked", "code", "host", "managed", "readonly", "mine"]
        with pytest.raises(RequestError, match="There is no mode 'none'; known: bare, "):
            await desk.agent.set_session_mode(session_id=session, mode_id="none")
        async with anyio.create_task_group() as group:
            group.start_soon(desk.say, session)
            await desk.editor.until(lambda: "in_progress" in str(desk.editor.told))
            with pytest.raises(RequestError, match="change the mode once it has ended"):
                await desk.agent.set_session_mode(session_id=session, mode_id="readonly")
            (place.work / "go").touch()
        await desk.agent.set_session_mode(session_id=session, mode_id="code")  # as it is
        await desk.agent.set_session_mode(session_id=session, mode_id="readonly")
        loaded = await desk.agent.load_session(cwd=str(place.work), session_id=session)
        assert loaded is not None
        assert loaded.modes is not None
        assert loaded.modes.current_mode_id == "readonly"


async def test_another_mode_has_other_tools(place: Place) -> None:
    writes = turn(("write", {"path": "a.txt", "content": "a"}))
    async with editing(place, place.script(writes, {"text": "No."})) as desk:
        session = await desk.begin()
        await desk.agent.set_session_mode(session_id=session, mode_id="readonly")
        assert await desk.say(session) == "end_turn"
        assert statuses(desk.editor.call("write"))[-1] == "failed"
    assert not (place.work / "a.txt").exists()


async def test_in_another_mode_the_person_is_asked_anew(place: Place) -> None:
    place.rules(ASKS_ABOUT_BASH)
    touches = turn(("bash", {"command": "touch made"}))
    async with editing(place, place.script(touches, {"text": "Done."})) as desk:
        desk.editor.answers = kind("allow_always")
        session = await desk.begin()
        assert await desk.say(session) == "end_turn"
        await desk.agent.set_session_mode(session_id=session, mode_id="locked")
        assert await desk.say(session) == "end_turn"
        assert len(desk.editor.asked) == 2  # the answer was given under other rules
        assert [statuses(one)[-1] for one in desk.editor.calls().values()] == ["completed"] * 2


async def test_an_agent_with_a_profile_of_its_own_has_one_mode(place: Place) -> None:
    own = '[agent.reviewer]\ndescription = "Reads."\nprofile = "readonly"\n'
    (place.home / "config.toml").write_text(own, "utf-8")
    async with editing(place, place.script({"text": "Read."}), "--agent", "reviewer") as desk:
        begun = await desk.agent.new_session(cwd=str(place.work), mcp_servers=[])
        assert begun.modes is not None
        assert [one.id for one in begun.modes.available_modes] == ["readonly"]
        assert begun.modes.current_mode_id == "readonly"
        assert await desk.say(begun.session_id) == "end_turn"
        assert desk.editor.words() == "Read."


async def test_what_is_asked_for_at_once_is_done_in_its_order(place: Place) -> None:
    model = place.script({"text": "First."}, {"text": "Second."})
    async with editing(place, model) as desk:
        session = await desk.begin()
        assert await desk.say(session) == "end_turn"
        await desk.agent.close_session(session_id=session)
        ended: list[str] = []

        async def load() -> None:
            await desk.agent.load_session(cwd=str(place.work), session_id=session, mcp_servers=[])

        async def mode(name: str) -> None:
            await desk.agent.set_session_mode(session_id=session, mode_id=name)

        async def say() -> None:
            ended.append(await desk.say(session))

        async with anyio.create_task_group() as group:
            for one in (load, load, partial(mode, "readonly"), partial(mode, "locked"), say):
                group.start_soon(one)
        assert ended == ["end_turn"]
        loaded = await desk.agent.load_session(
            cwd=str(place.work), session_id=session, mcp_servers=[]
        )
        assert loaded.modes is not None
        assert loaded.modes.current_mode_id == "locked"
        told = desk.editor.of("user_message_chunk", session)
        assert len(told) == 4  # by two loads one message, by the third two
