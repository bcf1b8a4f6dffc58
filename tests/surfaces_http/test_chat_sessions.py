"""Chat completions, and what happens to their sessions: others speak, hang up, take them away."""

import json
import socket
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from agents_at_work import calls
from interrupts import until
from served_home import PATIENCE, TOKEN, Served, served
from talking_model import TalkingModel

from holdfast import Agent, tool
from holdfast.agent.models.scripted import Played
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelRequest
from holdfast.surfaces.http.live import frames

pytestmark = pytest.mark.anyio

PATH = "/v1/chat/completions"
DEPLOYS = calls(("deploy", '{"place": "north"}'))
GOES_ON: list[anyio.Event] = []


@pytest.fixture(autouse=True)
def nothing_goes_on() -> None:
    GOES_ON.clear()


@tool(permission_policy="always_ask")
async def deploy(place: str) -> str:
    """Deploy, which takes as long as a test wants it to."""
    for one in GOES_ON:
        await one.wait()
    return f"deployed {place}"


def asking(*said: str, **more: Any) -> dict[str, Any]:
    """A request: the user and the assistant in turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
    return {"model": "default", "messages": messages, **more}


async def answered(home: Served, *said: str, session: str | None = None) -> tuple[str, str]:
    """What is answered, and the session it was answered in."""
    headers = {} if session is None else {"x-holdfast-session": session}
    answer = await home.client.post(PATH, json=asking(*said), headers=headers)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    return told["choices"][0]["message"]["content"], told["holdfast"]["session"]


async def approval(home: Served) -> Any:
    """What is asked, once it is."""
    found: list[Any] = []
    with anyio.fail_after(PATIENCE):
        while not found:
            found = (await home.get("/approvals"))["approvals"]
            await anyio.sleep(0.01)
    return found[0]


async def test_two_conversations_that_begin_alike_are_not_mixed(tmp_path: Path) -> None:
    turns = ["Hello.", "Hello.", "Noted.", "I do not know."]
    async with served(tmp_path, turns) as home:
        _, first = await answered(home, "Hi.")
        _, second = await answered(home, "Hi.")
        assert first != second
        _, own = await answered(home, "Hi.", "Hello.", "The number is seventeen.")
        _, other = await answered(home, "Hi.", "Hello.", "What is the number?")
        assert other != own
        told = "\n".join(str(row.content) for row in home.model.requests[-1].rows)
        assert "seventeen" not in told
        assert "user: Hi.\nassistant: Hello." in told


async def test_who_asks_again_from_an_earlier_place_is_not_told_what_came_behind_it(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, ["Hello.", "Red.", "Blue."]) as home:
        _, first = await answered(home, "Hi.")
        assert (await answered(home, "Hi.", "Hello.", "A colour?"))[1] == first
        text, other = await answered(home, "Hi.", "Hello.", "A cold colour?")
        assert (text, other != first) == ("Blue.", True)
        assert "Red." not in str(home.model.requests[-1].rows)


async def test_what_is_asked_while_the_session_runs_is_answered_itself(tmp_path: Path) -> None:
    model = TalkingModel()
    async with served(tmp_path, model=model) as home:
        session = await home.begun("Count.")
        with anyio.fail_after(PATIENCE):
            await until(lambda: bool(model.requests))
        told: list[str] = []

        async def ask() -> None:
            told.append((await answered(home, "And you?", session=session))[0])

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await home.until(session, lambda row: row["events"] > 6)
            assert await home.events(session, "user.message")
            with anyio.fail_after(PATIENCE):
                while len(await home.events(session, "user.message")) < 2:
                    await anyio.sleep(0.01)
            model.stops.set()
        first, second = await home.events(session, "agent.message")
        assert first["message"] != second["message"]
        assert told == [second["message"]]


async def test_a_call_that_was_allowed_is_waited_for_however_long_it_takes(tmp_path: Path) -> None:
    """Nobody has to answer any more: how long a person may take is of no matter then."""
    GOES_ON.append(anyio.Event())
    told: list[Any] = []
    turns = [DEPLOYS, "It is there."]
    async with served(tmp_path, turns, tools=[deploy], profile="locked") as home:

        async def ask() -> None:
            headers = {"x-holdfast-wait": "1"}
            answer = await home.client.post(PATH, json=asking("Deploy."), headers=headers)
            told.append(answer.json())

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            question = await approval(home)
            session = question["session_id"]
            path = f"/approvals/{question['approval_id']}"
            await home.post(path, session_id=session, allow=True)
            await home.until(session, lambda row: row["reported"] == "busy")
            await anyio.sleep(2.0)  # longer than a person may take
            assert told == []
            GOES_ON[0].set()
        assert told[0]["choices"][0]["message"]["content"] == "It is there."
        assert told[0]["holdfast"]["waits"] is False


async def test_a_session_that_is_taken_away_ends_its_stream_with_words(tmp_path: Path) -> None:
    lines: list[str] = []
    async with served(tmp_path, [DEPLOYS], tools=[deploy], profile="locked") as home:

        async def listen() -> None:
            body = asking("Deploy.", stream=True)
            async with home.client.stream("POST", PATH, json=body) as answer:
                async for line in answer.aiter_lines():
                    lines.extend([line] if line else [])

        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            session = (await approval(home))["session_id"]
            await home.until(session, lambda row: row["runner"] == "nobody")
            await home.delete(f"/sessions/{session}")
            with anyio.fail_after(PATIENCE):
                await until(lambda: "not_found" in "".join(lines))
        error = json.loads(lines[-1].removeprefix("data: "))["error"]
        assert error["code"] == "not_found"


async def test_who_hangs_up_has_no_model_asked_again(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "sleep 60"}'), text="Sleeping."), "Never."]
    async with served(tmp_path, turns) as home:
        body = asking("Sleep.", stream=True)
        session = ""
        async with home.client.stream("POST", PATH, json=body) as answer:
            session = answer.headers["x-holdfast-session"]
            await home.command(session)
        await home.until(session, lambda row: row["reported"] == "idle")
        await home.until(session, lambda row: row["runner"] == "nobody")
        row = await home.get(f"/sessions/{session}")
        assert (row["turns"], row["wakes"]) == (1, [])
        assert len(home.model.requests) == 1
        assert await home.events(session, "user.interrupt")


async def test_who_hangs_up_without_reading_leaves_nothing_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The words wait to be sent then, which is another place than waiting for words."""
    model = TalkingModel(seconds=0.0001, at_once=400)
    async with served(tmp_path, model=model) as home:
        url = httpx.URL(home.address)
        body = json.dumps(asking("Count.", stream=True)).encode()
        head = (
            f"POST {PATH} HTTP/1.1\r\nhost: {url.netloc.decode()}\r\n"
            f"content-length: {len(body)}\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
        )
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect((url.host, url.port or 0))
            one.sendall(head.encode() + body)
            with anyio.fail_after(PATIENCE):
                while not (await home.get("/sessions"))["sessions"]:
                    await anyio.sleep(0.01)
            await anyio.sleep(1.5)  # until the lines between are full
        (row,) = (await home.get("/sessions"))["sessions"]
        await home.until(row["id"], lambda row: row["reported"] == "idle")
        assert len(model.requests) == 1
    assert caplog.records == []


async def test_a_silent_stream_shows_that_it_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever stands in between takes it for dead, which would stop the run."""
    monkeypatch.setattr(frames, "QUIET_SECONDS", 0.05)
    async with served(tmp_path, [DEPLOYS], tools=[deploy], profile="locked") as home:
        body = asking("Deploy.", stream=True)
        seen = 0
        with anyio.fail_after(PATIENCE):
            async with home.client.stream("POST", PATH, json=body) as answer:
                lines = answer.aiter_lines()
                while seen < 5:
                    seen += await anext(lines) == ": still here"


async def test_sessions_that_nobody_hears_in_are_not_spoken_to(tmp_path: Path) -> None:
    hands_on = calls(("task", '{"subagent_type": "worker", "prompt": "Child."}'))
    turns: dict[str, list[Played]] = {"Top.": [hands_on, "Done."], "Child.": [DEPLOYS, "Done."]}

    def turn(request: ModelRequest) -> Played:
        told = [row.content for row in request.rows if isinstance(row, UserChunk)]
        return turns[str(told[0])].pop(0)

    options: dict[str, Any] = {
        "tools": [deploy],
        "agents": [Agent(id="worker", description="Works.", mode="subagent")],
        "agent": Agent(id="boss", description="Leads."),
    }
    async with served(tmp_path, [turn] * 10, profile="locked", **options) as home:
        await home.begun("Top.")
        bound = (await approval(home))["session_id"]
        bench = (await home.get("/server"))["workbench"]
        await home.post("/tools/todo/calls", 200, arguments={"todos": []})
        with anyio.fail_after(PATIENCE):
            for session, why in ((bound, "works for session"), (bench, "holds single calls")):
                before = len(await home.events(session))
                path = f"/sessions/{session}"
                headers = {"x-holdfast-session": session}
                answer = await home.client.post(PATH, json=asking("Hi."), headers=headers)
                assert (answer.status_code, why in answer.text) == (409, True)
                said = await home.post(f"{path}/messages", 409, message="Hi.")
                assert why in said["error"]["message"]
                await home.post(f"{path}/events", 409, type="user.message", message="Hi.")
                outcome = {"title": "More."}
                await home.post(f"{path}/events", 409, type="user.define_outcome", outcome=outcome)
                await home.post(f"{path}/resume", 409)
                assert len(await home.events(session)) == before
        for only_calls in (True, False):
            await home.post(f"/sessions/{bench}/interrupt", 409, only_calls=only_calls)


async def test_an_interrupt_by_somebody_else_ends_the_answer(tmp_path: Path) -> None:
    model = TalkingModel()
    told: list[str] = []
    async with served(tmp_path, model=model) as home:

        async def ask() -> None:
            told.append((await answered(home, "Count."))[0])

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            with anyio.fail_after(PATIENCE):
                await until(lambda: bool(model.requests))
            (row,) = (await home.get("/sessions"))["sessions"]
            await home.post(f"/sessions/{row['id']}/interrupt")
        assert len(told) == 1


async def test_who_hangs_up_stops_the_run_where_nothing_is_streamed_either(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "sleep 60"}')), "Never."]
    async with served(tmp_path, turns) as home:
        session = ""
        async with anyio.create_task_group() as group:
            group.start_soon(partial(home.client.post, PATH, json=asking("Sleep.")))
            session = await begun(home)
            await home.command(session)
            group.cancel_scope.cancel()
        await home.until(session, lambda row: row["reported"] == "idle")
        await home.until(session, lambda row: row["runner"] == "nobody")
        assert len(home.model.requests) == 1
        assert await home.events(session, "user.interrupt")


async def begun(home: Served) -> str:
    """The one session there is, once there is one."""
    with anyio.fail_after(PATIENCE):
        while not (found := (await home.get("/sessions"))["sessions"]):
            await anyio.sleep(0.01)
    (row,) = found
    return str(row["id"])


@pytest.mark.parametrize("stream", [False, True])
async def test_the_same_request_of_a_key_is_answered_again_and_runs_once(
    stream: bool,
    tmp_path: Path,
) -> None:
    turns = [calls(("bash", '{"command": "sleep 1.5"}'), text="I look."), "It is 42.", "More."]
    key = {"idempotency-key": "k1"}
    body = asking("What is it?", stream=stream)
    async with served(tmp_path, turns) as home:
        session = ""
        async with anyio.create_task_group() as group:
            group.start_soon(partial(home.client.post, PATH, json=body, headers=key))
            session = await begun(home)
            await home.command(session)
            group.cancel_scope.cancel()  # the connection is lost, and the client tries again
        for _ in range(2):
            answer = await home.client.post(PATH, json=body, headers=key)
            assert answer.status_code == 200
            assert answer.headers["x-holdfast-session"] == session
            assert words_of(answer) == "I look.\n\nIt is 42."
        assert not await home.events(session, "user.interrupt")
        (row,) = (await home.get("/sessions"))["sessions"]
        assert (row["turns"], len(home.model.requests)) == (1, 2)
        other = await home.client.post(PATH, json=asking("And now?"), headers=key)
        assert other.status_code == 422
        assert "another request" in other.json()["error"]["message"]


def words_of(answer: httpx.Response) -> str:
    """All that was said, however it was sent."""
    if answer.headers["content-type"] == "application/json":
        return str(answer.json()["choices"][0]["message"]["content"])
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if "{" in line]
    pieces = [one for line in lines for one in json.loads(line)["choices"]]
    return "".join(one["delta"].get("content") or "" for one in pieces)


async def test_what_was_refused_under_a_key_was_not_said(tmp_path: Path) -> None:
    headers = {"idempotency-key": "k1", "x-holdfast-session": "ses_none"}
    async with served(tmp_path, ["Yes."]) as home:
        answer = await home.client.post(PATH, json=asking("Go."), headers=headers)
        assert answer.status_code == 404
        del headers["x-holdfast-session"]
        answer = await home.client.post(PATH, json=asking("Go."), headers=headers)
        assert words_of(answer) == "Yes."
        answer = await home.client.post(
            PATH, json=asking("Go."), headers={"idempotency-key": "a b"}
        )
        assert answer.status_code == 422
