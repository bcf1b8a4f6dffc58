"""A turn that is stopped, and an agent whose editor goes: soon, in order, and nothing is left."""

import os
import signal
from contextlib import suppress

import anyio
import pytest
from acp_editor import ASKS_ABOUT_BASH, Place, editing, gone, processes_with, statuses, turn

pytestmark = [pytest.mark.timeout(60), pytest.mark.measured]


def _sleeps() -> tuple[str, str]:
    """A command that takes its time, and what is seen of it."""
    marker = f"4711.{os.getpid()}"
    return f"echo begun; sleep {marker}", f"sleep\0{marker}"


async def test_a_turn_is_cancelled_in_the_middle_of_a_command(place: Place) -> None:
    command, marker = _sleeps()
    model = place.script(turn(("bash", {"command": command})), {"text": "Where was I?"})
    async with editing(place, model) as desk:
        session = await desk.begin()
        ends: list[str] = []

        async def say() -> None:
            ends.append(await desk.say(session))

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await desk.editor.until(lambda: "'```\\nbegun\\n```'" in str(desk.editor.told))
            assert processes_with(marker)
            await desk.agent.cancel(session_id=session)
            await desk.agent.cancel(session_id=session)  # once more is harmless
        assert ends == ["cancelled"]
        await gone(marker)
        (told,) = desk.editor.calls().values()
        assert statuses(told)[-1] == "failed"
        assert await desk.say(session, "Go on.") == "end_turn"
        assert desk.editor.words() == "Where was I?"
        await desk.agent.cancel(session_id=session)  # nothing runs


async def test_a_turn_is_cancelled_while_a_question_is_open(place: Place) -> None:
    place.rules(ASKS_ABOUT_BASH)
    model = place.script(turn(("bash", {"command": "touch made"})), {"text": "Done."})
    async with editing(place, model) as desk:
        session = await desk.begin()
        over = anyio.Event()
        desk.editor.hold = over.wait
        desk.editor.answers = lambda _options: None
        ends: list[str] = []

        async def say() -> None:
            ends.append(await desk.say(session))
            over.set()

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await desk.editor.until(lambda: bool(desk.editor.asked))
            await desk.agent.cancel(session_id=session)
        assert ends == ["cancelled"]
    assert not (place.work / "made").exists()


async def test_a_turn_that_is_cancelled_at_once_does_nothing_more(place: Place) -> None:
    model = place.script({"text": "One.", "seconds": 1.0}, {"text": "Two."})
    async with editing(place, model) as desk:
        session = await desk.begin()
        ends: list[str] = []

        async def say() -> None:
            ends.append(await desk.say(session))

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await anyio.wait_all_tasks_blocked()
            await desk.agent.cancel(session_id=session)
        assert ends == ["cancelled"]
        assert desk.editor.told == []
        assert await desk.say(session) == "end_turn"
        assert desk.editor.words() in ("One.", "Two.")


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
async def test_when_the_editor_goes_nothing_is_left(place: Place, how: str) -> None:
    command, marker = _sleeps()
    model = place.script(turn(("bash", {"command": command})), {"text": "Done."})
    async with editing(place, model) as desk:
        session = await desk.begin()

        async def say() -> None:
            with suppress(ConnectionError):
                await desk.say(session)

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await desk.editor.until(lambda: "'```\\nbegun\\n```'" in str(desk.editor.told))
            assert processes_with(marker)
            if how == "end of input":
                desk.process.stdin.close()
            else:
                desk.process.send_signal(getattr(signal, how))
            with anyio.fail_after(8):
                assert await desk.process.wait() == 0
            assert processes_with(marker) == []
            group.cancel_scope.cancel()


async def test_when_the_agent_is_killed_its_commands_end_too(place: Place) -> None:
    command, marker = _sleeps()
    model = place.script(turn(("bash", {"command": command})), {"text": "Done."})
    async with editing(place, model) as desk:
        session = await desk.begin()

        async def say() -> None:
            with suppress(ConnectionError):
                await desk.say(session)

        async with anyio.create_task_group() as group:
            group.start_soon(say)
            await desk.editor.until(lambda: "'```\\nbegun\\n```'" in str(desk.editor.told))
            desk.process.kill()
            await desk.process.wait()
            await gone(marker)
            group.cancel_scope.cancel()
