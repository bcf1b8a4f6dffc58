"""A session that runs in one process, watched and steered from others. All of them are real."""

import json
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
from app.control.owners import PATIENCE, Place, Running, lines

from holdfast import Answer, answer_inquiry, answer_question
from holdfast.app import ingress
from holdfast.app.control import wire
from holdfast.app.control.client import NoSocket, RefusedRequest, Unreachable, owner_of, poke
from holdfast.app.control.following import Followed, Following, Lost
from holdfast.app.settings import Settings
from holdfast.app.telling import told_json
from holdfast.contract.events import ApprovalAsked, CallIntended, Event, InquiryAsked
from holdfast.contract.person import Replies
from holdfast.envelope.redact import Redactor

pytestmark = pytest.mark.anyio
_T = TypeVar("_T")
LAUNCH: dict[str, object] = {"calls": [["launch", {"name": "rocket"}]]}
FOREVER: dict[str, object] = {"calls": [["forever", {}]]}
HELD: list[dict[str, object]] = [{"pieces": ["Well"], "before": "go"}]
"""A model that says nothing until it is let go."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_window_sees_every_event_once_and_the_text_as_it_comes(place: Place) -> None:
    with place.running([{"pieces": ["Hel", "lo"], "before": "go"}]) as running:
        seen: list[wire.Reply] = []
        async with running.watched() as told:
            async for one in told:
                seen.append(one)
                if lines([one])[0]["type"] == "model.requested":
                    place.release("go")
        assert running.ended() == {"ended": "final_response", "response": "Hello"}
        async with place.journal() as journal:
            written = await journal.events(running.session_id)
    shown = lines(seen)
    live = [one for one in shown if one["type"].startswith("live.")]
    events = [one for one in shown if one not in live]
    assert live == [{"type": "live.text", "text": text} for text in ("Hel", "lo")]
    assert [one["id"] for one in events] == [one.id for one in written][: len(events)]
    assert len(written) - len(events) in (0, 1)  # it may be closed before that is told
    assert events[5] == json.loads(told_json(written[5]))
    kinds = [one["type"] for one in shown]
    assert kinds[kinds.index("live.text") - 1] == "model.requested"
    assert kinds[kinds.index("live.text") + 2] == "model.replied"
    assert place.sockets() == []


async def test_a_window_that_comes_late_is_told_only_what_it_has_not_seen(place: Place) -> None:
    with place.running(HELD) as running:
        asked = await running.until(lambda one: one.type == "model.requested")
        async with running.watched(asked.sequence - 1) as told:
            first = await anext(told)
            place.release("go")
            shown = lines([first, *[one async for one in told]])
    kinds = [one["type"] for one in shown]
    assert kinds[:3] == ["model.requested", "live.text", "model.replied"]
    assert [shown[0]["sequence"], shown[2]["sequence"]] == [asked.sequence, asked.sequence + 1]


async def test_an_approval_from_another_window_counts_at_once(place: Place) -> None:
    with place.running([LAUNCH, {"pieces": ["done"]}]) as running:
        asked = await running.until(lambda one: isinstance(one.payload, ApprovalAsked))
        assert isinstance(asked.payload, ApprovalAsked)
        async with running.owner():
            pass  # it listens
        # The process itself looks once an hour.
        await answer_question(
            running.session_id,
            asked.payload.approval_id,
            Answer(allowed=True, by="ada"),
            settings=Settings(),
            surroundings=place.around,
        )
        await running.until(lambda one: isinstance(one.payload, CallIntended))
        assert running.ended() == {"ended": "final_response", "response": "done"}


async def test_a_reply_from_another_window_counts_at_once(place: Place) -> None:
    turns = [{"calls": [["inquire", {"question": "Which?"}]]}, {"pieces": ["done"]}]
    with place.running(turns) as running:
        asked = await running.until(lambda one: isinstance(one.payload, InquiryAsked))
        assert isinstance(asked.payload, InquiryAsked)
        async with running.owner():
            pass
        await answer_inquiry(
            running.session_id,
            asked.payload.call_id,
            Replies(answers=(("that",),), by="ada"),
            settings=Settings(),
            surroundings=place.around,
        )
        settled = await running.until(lambda one: one.type == "call.settled")
        assert b"that" in told_json(settled)
        assert running.ended()["ended"] == "final_response"


async def said(running: Running, what: str | None, *, stops: bool) -> None:
    """Say something from another window, and have it heard."""
    async with running.owner():
        pass
    async with running.place.journal() as journal:
        if stops:
            await ingress.interrupt(journal, running.session_id, Redactor(), what)
        else:
            await ingress.send_message(journal, running.session_id, what or "", Redactor())
        assert await poke(running.session_id, journal, running.place.around)


async def test_an_interrupt_from_another_window_stops_the_run_at_once(place: Place) -> None:
    with place.running([FOREVER]) as running:
        await running.until(lambda one: one.type == "call.intended")
        await said(running, None, stops=True)
        assert running.ended()["ended"] == "cancelled"


async def test_a_run_that_is_told_what_to_do_instead_goes_on_with_it(place: Place) -> None:
    with place.running([FOREVER, {"pieces": ["as you like"]}]) as running:
        await running.until(lambda one: one.type == "call.intended")
        await said(running, "not like this", stops=True)
        assert running.ended()["ended"] == "final_response"


async def test_a_message_from_another_window_is_taken_in_at_the_next_round(place: Place) -> None:
    with place.running([{**LAUNCH, "before": "go"}, {"echo": True}]) as running:
        await running.until(lambda one: one.type == "model.requested")
        await said(running, "and then the other one", stops=False)
        place.release("go")
        asked = await running.until(lambda one: isinstance(one.payload, ApprovalAsked))
        assert isinstance(asked.payload, ApprovalAsked)
        status, _, _ = place.said(
            "answer", running.session_id, asked.payload.approval_id, "--allow"
        )
        assert status == 0
        assert running.ended()["response"] == "I heard: begin | and then the other one"


async def test_a_call_is_stopped_from_another_window_and_the_agent_goes_on(place: Place) -> None:
    with place.running([FOREVER, {"pieces": ["so be it"]}]) as running:
        await running.until(lambda one: one.type == "call.intended")
        async with running.owner() as owner:
            assert await owner.interrupt_call(running.session_id)
        assert running.ended() == {"ended": "final_response", "response": "so be it"}


async def found(look: Callable[[], Awaitable[_T]]) -> _T:
    """What there is, once there is something."""
    while not (something := await look()):  # noqa: ASYNC110 - it happens in another process
        await anyio.sleep(0.01)
    return something


async def test_a_command_is_looked_at_and_ended_from_another_window(place: Place) -> None:
    turns = [{"calls": [["shell", {"command": "echo ready; sleep 600"}]]}, {"pieces": ["over"]}]
    with place.running(turns) as running:
        await running.until(lambda one: one.type == "call.intended")
        session = running.session_id
        with anyio.fail_after(PATIENCE):
            async with running.owner() as owner:
                (command,) = await found(lambda: owner.commands(session))
                assert (command.command, command.stdout_tail) == ("echo ready; sleep 600", "")

                async def printed() -> str:
                    return (await owner.tail(session, command.id)).stdout_tail

                assert await found(printed) == "ready\n"
                with pytest.raises(RefusedRequest, match="no command job_x runs") as refused:
                    await owner.tail(session, "job_x")
                assert refused.value.problem == "unknown_command"
                assert not await owner.terminate(session, "job_x")
                assert await owner.terminate(session, command.id)
        settled = await running.until(lambda one: one.type == "call.settled")
        assert b'"user"' in told_json(settled)
        assert running.ended()["ended"] == "final_response"


async def test_a_process_says_which_sessions_it_runs_and_knows_no_others(place: Place) -> None:
    with place.running(HELD) as running:
        async with running.owner() as owner:
            (one,) = await owner.sessions()
            assert (one.session_id, one.status) == (running.session_id, "running")
            assert str(running.process.pid) in owner.process
            with pytest.raises(RefusedRequest, match="does not run here") as refused:
                await owner.look("ses_other")
            assert refused.value.problem == "unknown_session"


async def test_two_processes_serve_their_own_sessions_and_one_killed_harms_no_other(
    place: Place,
) -> None:
    with place.running(HELD) as one, place.running(HELD) as other:
        async with one.owner() as first, other.owner() as second:
            assert [each.session_id for each in await first.sessions()] == [one.session_id]
            assert [each.session_id for each in await second.sessions()] == [other.session_id]
        assert len(place.sockets()) == 2
        one.kill()
        async with other.owner() as second:
            assert await second.sessions()
        place.release("go")
        assert other.ended()["ended"] == "final_response"


async def test_when_the_process_is_killed_its_window_says_so_and_reads_the_journal(
    place: Place,
) -> None:
    with place.running(HELD) as running:
        async with running.owner():
            pass
        seen: list[Followed] = []
        async with place.journal() as journal:
            following = Following(running.session_id, journal, place.around)
            with anyio.fail_after(PATIENCE):
                async with aclosing(following()) as told:
                    async for one in told:
                        seen.append(one)
                        if isinstance(one, Event) and one.type == "model.requested":
                            running.kill()
        assert isinstance(seen[-1], Lost)
        assert following.runner == "gone"
        async with place.journal() as journal:
            written = await journal.events(running.session_id)
        assert [one.id for one in seen if isinstance(one, Event)] == [one.id for one in written]


async def test_what_a_killed_process_left_is_removed_by_whoever_sees_it(place: Place) -> None:
    with place.running(HELD) as running:
        async with running.owner():
            pass
        async with place.journal() as journal:
            lease = (await journal.session(running.session_id)).lease
        assert lease is not None
        running.kill()
        assert len(place.sockets()) == 1
        with pytest.raises(NoSocket):
            async with owner_of(running.session_id, lease.holder, place.around):
                raise AssertionError
        assert place.sockets() == []
        async with place.journal() as journal:
            assert not await poke(running.session_id, journal, place.around)


async def test_a_process_that_does_not_answer_keeps_nobody_waiting(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.app.control.client.ANSWER_SECONDS", 0.2)
    with place.running(HELD) as running:
        async with running.owner():
            pass
        os.kill(running.process.pid, signal.SIGSTOP)
        try:
            with anyio.fail_after(PATIENCE), pytest.raises(Unreachable, match="in time"):
                async with running.owner():
                    raise AssertionError
            async with place.journal() as journal:
                with anyio.fail_after(PATIENCE):
                    assert not await poke(running.session_id, journal, place.around)
        finally:
            os.kill(running.process.pid, signal.SIGCONT)


async def test_a_home_with_a_very_long_path_has_sockets_too(tmp_path: Path) -> None:
    long = tmp_path.joinpath(*["a-very-long-name-of-a-folder" * 4] * 3)
    place = Place(long)
    with place.running(HELD) as running:
        async with running.watched() as told:
            assert len(str(place.sockets()[0])) > 300
            await anext(told)
            place.release("go")
            async for one in told:
                if lines([one])[0] == {"type": "live.text", "text": "Well"}:
                    break


async def test_folders_and_sockets_are_the_users_alone(place: Place) -> None:
    with place.running(HELD) as running:
        async with running.owner():
            (path,) = place.sockets()
            assert path.stat().st_mode & 0o777 == 0o600
            for folder in (path.parent, path.parent.parent):
                assert folder.stat().st_mode & 0o777 == 0o700
            assert path.name.split("-")[2] == str(running.process.pid)
