"""How a server ends: what runs is finished or due again, nothing is lost, and nothing is left."""

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from agent_scripts import asks, says, script
from command import TOOLS
from http_process import Serving, serving, wait_for

SLOW = '''
import time
from pathlib import Path
from holdfast import tool

@tool
def mark(path: str, seconds: float) -> str:
    """Leave a mark, and take a while."""
    with Path(path).open("a") as file:
        file.write("x")
    time.sleep(seconds)
    return "marked"
'''


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "tools.py").write_text(TOOLS, "utf-8")
    (tmp_path / "slow.py").write_text(SLOW, "utf-8")
    return folder


def begun(server: Serving, work: Path, *turns: dict[str, Any]) -> str:
    model = script(work.parent, *turns)
    session = server.post("/sessions", 201, message="Go.", model=model)["id"]
    server.until(f"/sessions/{session}", lambda row: row["reported"] == "busy")
    return str(session)


def kinds(server: Serving, session: str) -> Sequence[str]:
    return [one["type"] for one in server.get(f"/sessions/{session}/events")["events"]]


def test_a_short_run_is_finished_and_streams_end(home: Path, work: Path) -> None:
    with serving(home, work) as server:
        session = begun(server, work, says("Took its time.", seconds=1.0))
        told: list[str] = []

        def listen() -> None:
            with server.client.stream("GET", f"/sessions/{session}/stream") as answer:
                told.extend(answer.iter_lines())
            told.append("ended")

        thread = Thread(target=listen)
        thread.start()
        wait_for(lambda: list(told), lambda lines: any("model.requested" in one for one in lines))
        server.signal()
        assert server.ended() == 0
        thread.join(10)
        assert told[-1] == "ended"
    with serving(home, work) as server:
        (said,) = server.get(f"/sessions/{session}/events", type="agent.message")["events"]
        assert said["message"] == "Took its time."


@pytest.mark.measured
def test_a_second_signal_stops_what_runs_and_it_is_due_again(home: Path, work: Path) -> None:
    words = ("--profile", "code")
    with serving(home, work, *words) as server:
        turns = [asks("bash", command="sleep 61.5")]
        session = begun(server, work, *turns)
        path = f"/sessions/{session}/commands"
        server.until(path, lambda told: told["commands"])
        server.signal()
        wait_for(lambda: refuses(server), bool)
        server.signal()
        assert server.ended() == 0
    assert not sleeping("61.5")
    script(work.parent, says("It went on."))
    with serving(home, work, *words) as server:
        path = f"/sessions/{session}/events"  # it is at rest before it goes on, too
        told = wait_for(lambda: server.get(path, type="agent.message")["events"], bool)
        assert [one["message"] for one in told] == ["It went on."]


def refuses(server: Serving) -> bool:
    try:
        httpx.get(server.told["address"], trust_env=False)
    except httpx.TransportError:
        return True
    return False


def sleeping(seconds: str) -> list[str]:
    """The processes that sleep for so long."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(path.parent.name)
    return found


def test_a_server_that_is_killed_goes_on_with_its_approvals(home: Path, work: Path) -> None:
    words = ("--from", str(work.parent / "tools.py"))
    with serving(home, work, *words) as server:
        session = begun_asking(server, work, asks("wipe", path="x"))
        (first,) = server.until("/approvals", lambda told: told["approvals"])["approvals"]
        server.post(f"/approvals/{first['approval_id']}", session_id=session, allow=True)
        server.process.kill()
        server.ended()
    script(work.parent, asks("wipe", path="y"))
    with serving(home, work, *words) as server:
        second = server.until("/approvals", lambda told: is_other(told, first))["approvals"][0]
        server.process.kill()
        server.ended()
    script(work.parent, says("Wiped."))
    with serving(home, work, *words) as server:
        (again,) = server.until("/approvals", lambda told: told["approvals"])["approvals"]
        assert again["approval_id"] == second["approval_id"]
        server.post(f"/approvals/{again['approval_id']}", session_id=session, allow=True)
        server.until(f"/sessions/{session}", lambda row: row["reported"] == "idle")
        found = kinds(server, session)
        assert found.count("approval.answered") == 2
        assert found.count("agent.message") == 1
        verdict = server.post("/audit/verify", 200)
        assert (verdict["whole"], verdict["problems"]) == (True, [])


def begun_asking(server: Serving, work: Path, *turns: dict[str, Any]) -> str:
    model = script(work.parent, *turns)
    return str(server.post("/sessions", 201, message="Go.", model=model)["id"])


def is_other(told: Any, first: Any) -> bool:
    found = [one["approval_id"] for one in told["approvals"]]
    return bool(found) and first["approval_id"] not in found


def test_a_write_in_the_middle_of_which_the_server_is_killed_is_not_done_again(
    home: Path, work: Path
) -> None:
    words = ("--from", str(work.parent / "slow.py"))
    mark = work / "mark"
    arguments = {"path": str(mark), "seconds": 30}
    with serving(home, work, *words) as server:

        def call() -> None:
            with pytest.raises(httpx.TransportError):
                server.post("/tools/mark/calls", 200, "k1", arguments=arguments)

        thread = Thread(target=call)
        thread.start()
        wait_for(mark.exists, bool)
        server.signal(signal.SIGKILL)
        server.ended()
        thread.join(10)
    with serving(home, work, *words) as server:
        told = server.post("/tools/mark/calls", 409, "k1", arguments=arguments)
        assert "look what came of it" in told["error"]["message"]
        server.post("/tools/mark/calls", 422, "k1", arguments={**arguments, "seconds": 1})
        server.post("/tools/mark/calls", 200, "k2", arguments={**arguments, "seconds": 0})
        assert mark.read_text("utf-8") == "xx"


def in_the_background(asks: Callable[[], httpx.Response]) -> tuple[Thread, list[httpx.Response]]:
    """A request under way; what is answered stands in the list, if anything is."""
    told: list[httpx.Response] = []

    def ask() -> None:
        with suppress(httpx.TransportError):
            told.append(asks())

    thread = Thread(target=ask)
    thread.start()
    return thread, told


def completion(server: Serving, model: str) -> httpx.Response:
    words = {"model": model, "messages": [{"role": "user", "content": "Go."}]}
    return server.client.post(f"{server.told['address']}/v1/chat/completions", json=words)


def test_answers_under_way_are_given_while_runs_may_end(home: Path, work: Path) -> None:
    mark = work / "mark"
    arguments = {"path": str(mark), "seconds": 5.0}
    with serving(home, work, "--from", str(work.parent / "slow.py")) as server:
        model = script(work.parent, says("Took its time.", seconds=5.0))
        chat, said = in_the_background(lambda: completion(server, model))
        call, given = in_the_background(
            lambda: server.client.post("/tools/mark/calls", json={"arguments": arguments})
        )
        wait_for(mark.exists, bool)
        server.until("/sessions", lambda told: "busy" in [r["reported"] for r in told["sessions"]])
        server.signal()
        assert server.ended() == 0
        chat.join(10)
        call.join(10)
    assert [one.status_code for one in (*said, *given)] == [200, 200]
    assert said[0].json()["choices"][0]["message"]["content"] == "Took its time."
    assert given[0].json()["result"] == {"text": "marked"}


def test_a_second_signal_waits_for_no_answer(home: Path, work: Path) -> None:
    with serving(home, work, "--profile", "code") as server:
        model = script(work.parent, asks("bash", command="sleep 62.5"))
        chat, said = in_the_background(lambda: completion(server, model))
        command = {"arguments": {"command": "sleep 63.5"}}
        call, given = in_the_background(
            lambda: server.client.post("/tools/bash/calls", json=command)
        )
        wait_for(lambda: sleeping("62.5") and sleeping("63.5"), bool)
        server.signal()
        wait_for(lambda: refuses(server), bool)
        began = time.monotonic()
        server.signal()
        assert server.ended() == 0
        assert time.monotonic() - began < 10  # the first signal alone gives them 15 seconds
        chat.join(10)
        call.join(10)
    assert said == given == []
    assert not sleeping("62.5")
    assert not sleeping("63.5")


def test_nobody_waits_for_a_person_when_the_server_ends(home: Path, work: Path) -> None:
    with serving(home, work, "--from", str(work.parent / "tools.py")) as server:
        model = script(work.parent, asks("wipe", path="x"))
        chat, said = in_the_background(lambda: completion(server, model))
        server.until("/approvals", lambda told: told["approvals"])
        server.signal()
        assert server.ended() == 0
        chat.join(10)
    (answer,) = said
    assert "This session waits for a person" in answer.json()["choices"][0]["message"]["content"]
