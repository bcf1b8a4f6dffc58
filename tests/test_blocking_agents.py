"""Agents for synchronous code: a run is an iterator, and whoever leaves it stops the run."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from holdfast import ScriptedModel
from holdfast.agent.models.scripted import ScriptedCall, Turn
from holdfast.app.settings import Settings, Surroundings
from holdfast.blocking import Holdfast
from holdfast.contract.events import Event
from holdfast.contract.model import ModelRequest, TextDelta


@pytest.fixture
def hf(tmp_path: Path) -> Holdfast:
    work = tmp_path / "work"
    work.mkdir()
    around = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    return Holdfast(profile="code", workspace=work, settings=Settings(), surroundings=around)


def _sleeps() -> ScriptedModel:
    call = ScriptedCall(name="bash", arguments={"command": "sleep 30"})
    return ScriptedModel([Turn(calls=(call,)), "On I go."])


def test_a_run_tells_what_happens_and_how_it_ended(hf: Holdfast) -> None:
    with hf:
        session = hf.new_session(model=ScriptedModel(["Hello.", "Again."]))
        assert (session.last, session.running) == (None, False)
        told = list(session.run("Hi"))
        assert TextDelta("Hello.") in told
        assert next(one.type for one in told if isinstance(one, Event)) == "user.message"
        assert session.last is not None
        assert session.last.response == "Hello."
        assert session.send("More").session_id == session.id
        assert list(session.run())
        assert session.last.response == "Again."
        session.close()


def test_calls_can_be_stopped_from_another_thread(hf: Holdfast) -> None:
    with hf:
        session = hf.new_session(model=_sleeps())
        stopped: list[bool] = []
        for one in session.run("Sleep"):
            if isinstance(one, Event) and one.type == "call.intended":
                thread = threading.Thread(target=lambda: stopped.append(session.interrupt_call()))
                thread.start()
                thread.join()
                assert stopped == [True]
        assert session.last is not None
        assert session.last.response == "On I go."


@pytest.mark.parametrize(
    ("note", "ended", "response"),
    [(None, "cancelled", ""), ("Rest instead.", "final_response", "On I go.")],
)
def test_an_interrupt_ends_the_run_and_its_note_begins_another(
    hf: Holdfast, note: str | None, ended: str, response: str
) -> None:
    with hf:
        session = hf.new_session(model=_sleeps())
        for one in session.run("Sleep"):
            if isinstance(one, Event) and one.type == "call.intended":
                session.interrupt(note)
        assert session.last is not None
        assert (session.last.ended, session.last.response) == (ended, response)


def test_whoever_leaves_stops_the_run_and_may_begin_another(hf: Holdfast) -> None:
    with hf:
        session = hf.new_session(model=_sleeps())
        for one in session.run("Sleep"):
            if isinstance(one, Event) and one.type == "call.intended":
                break
        assert not session.running
        assert session.last is not None
        assert session.last.ended == "cancelled"
        list(session.run("Go on"))
        assert session.last.response == "On I go."


def test_ctrl_c_while_waiting_stops_the_run(hf: Holdfast) -> None:
    with hf:
        session = hf.new_session(model=_sleeps())
        told = session.run("Sleep")
        while not (isinstance(one := next(told), Event) and one.type == "call.intended"):
            pass
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            list(told)
        assert not session.running


def test_a_session_that_is_open_already_is_not_run_twice(hf: Holdfast) -> None:
    with hf:
        session = hf.new_session(model=_sleeps())
        for one in session.run("Sleep"):
            if isinstance(one, Event) and one.type == "call.intended":
                with pytest.raises(RuntimeError, match="runs already"):
                    list(session.run("Again"))
                break


def test_a_session_is_woken_once(hf: Holdfast) -> None:
    with hf:
        session = hf.new_session(model=ScriptedModel(["Hello."]))
        assert session.wake().reason == "idle"
        session.send("Hi")
        end = session.wake()
        assert (end.executed, end.response) == (True, "Hello.")
        assert session.last == end


def _interrupted(_request: ModelRequest) -> Turn:
    """Somebody presses Ctrl-C while the model thinks, and the caller waits."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    return Turn(text="Too late.", seconds=30)


def test_who_is_interrupted_stops_the_run_that_was_woken(hf: Holdfast) -> None:
    with hf:
        session = hf.new_session(model=ScriptedModel([_interrupted, "Again."]))
        session.send("Think")
        with pytest.raises(KeyboardInterrupt):
            session.wake()
        while session.running:
            time.sleep(0.01)
        assert session.wake(goes_on=True).response == "Again."


def test_sessions_that_are_due_are_run(tmp_path: Path) -> None:
    around = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    model = ScriptedModel(["Hello.", _interrupted])
    with Holdfast(settings=Settings(), surroundings=around, model=model) as hf:
        assert hf.run_due() == 0
        session = hf.new_session()
        session.send("Hi")
        session.close()
        assert hf.run_due() == 1
        assert model.requests[-1].rows[-1].content == "Hi"
        again = hf.new_session(session=session.id)
        again.send("And now?")
        again.close()
        with pytest.raises(KeyboardInterrupt):
            hf.run_due(forever=True)
        assert model.requests[-1].rows[-1].content == "And now?"
