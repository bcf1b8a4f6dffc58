"""Sessions over HTTP: begun, looked at, spoken to, stopped, gone on with, taken away."""

from pathlib import Path

import pytest
from agents_at_work import calls
from served_home import served

pytestmark = pytest.mark.anyio


async def test_a_session_that_is_begun_with_words_runs_at_once(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "echo hello"}'), text="I look."), "It says hello."]
    async with served(tmp_path, turns) as home:
        session = await home.begun("What does it say?")
        row = await home.at_rest(session)
        assert (row["title"], row["agent_id"], row["profile"]) == (
            "What does it say?",
            "default",
            "code",
        )
        assert row["workspace"] == str(home.workspace)
        (call,) = (await home.get(f"/sessions/{session}/calls"))["calls"]
        assert (call["tool"], call["stage"]) == ("bash", "settled")
        assert call["envelope"]["result"]["stdout"] == "hello\n"
        assert call["duration_ms"] is not None
        one = await home.get(f"/sessions/{session}/calls/{call['call_id']}")
        assert one == call
        messages = (await home.get(f"/sessions/{session}/messages"))["messages"]
        assert [one["role"] for one in messages] == ["user", "assistant"]
        (said,) = await home.events(session, "agent.message")
        assert said["message"] == "It says hello."


async def test_a_session_begun_without_words_waits_for_them(tmp_path: Path) -> None:
    async with served(tmp_path, ["Hello."]) as home:
        session = await home.begun(None)
        row = await home.get(f"/sessions/{session}")
        assert (row["reported"], row["events"]) == ("idle", 1)
        said = await home.post(f"/sessions/{session}/messages", message="Hi.")
        assert said["sequence"] == 2
        await home.at_rest(session)
        assert home.model.requests[-1].rows[-1].content == "Hi."


async def test_sessions_are_listed_and_found_by_what_they_are(tmp_path: Path) -> None:
    async with served(tmp_path, ["One.", "Two.", "Three."]) as home:
        names: list[str] = []
        for words in ("count the apples", "weigh the pears", "count the plums"):
            names.append(await home.begun(words))
            await home.at_rest(names[-1])
        listed = await home.get("/sessions")
        assert [one["id"] for one in listed["sessions"]] == names[::-1]
        assert listed["more"] is False
        page = await home.get("/sessions", limit=2)
        assert ([one["id"] for one in page["sessions"]], page["more"]) == (names[:0:-1], True)
        rest = await home.get("/sessions", before=page["sessions"][-1]["updated_at"])
        assert [one["id"] for one in rest["sessions"]] == names[:1]
        found = await home.get("/sessions", q="COUNT plums")
        assert [one["id"] for one in found["sessions"]] == names[2:]
        assert (await home.get("/sessions", status="busy"))["sessions"] == []
        assert len((await home.get("/sessions", status="idle"))["sessions"]) == 3
        assert (await home.get("/sessions", agent="nobody"))["sessions"] == []


async def test_an_interrupt_stops_a_run_and_a_word_has_it_go_on(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "sleep 60"}')), "Stopped, then."]
    async with served(tmp_path, turns) as home:
        session = await home.begun("Sleep.")
        await home.until(session, lambda row: row["reported"] == "busy")
        await home.command(session)
        did = await home.post(f"/sessions/{session}/interrupt", note="Enough.")
        assert did == {"did": True}
        await home.until(session, lambda row: row["reported"] != "busy")
        (stopped,) = await home.events(session, "user.interrupt")
        assert stopped["note"] == "Enough."


async def test_only_the_calls_are_stopped_where_that_is_asked_for(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "sleep 60"}')), "I go on."]
    async with served(tmp_path, turns) as home:
        session = await home.begun("Sleep.")
        await home.command(session)
        did = await home.post(f"/sessions/{session}/interrupt", only_calls=True)
        assert did == {"did": True}
        await home.at_rest(session)
        (said,) = await home.events(session, "agent.message")
        assert said["message"] == "I go on."
        assert await home.post(f"/sessions/{session}/interrupt", only_calls=True) == {"did": False}


async def test_a_session_goes_on_when_a_person_says_so(tmp_path: Path) -> None:
    async with served(tmp_path, ["One.", "Two."]) as home:
        session = await home.begun("Go.")
        await home.at_rest(session)
        assert await home.post(f"/sessions/{session}/resume") == {"did": True}
        await home.until(session, lambda row: row["turns"] == 2 and row["reported"] == "idle")


async def test_any_word_of_a_person_is_taken_and_what_was_made_right_is_told(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, ["Done."]) as home:
        session = await home.begun(None)
        outcome = {"title": "Green", "successCriteria": ["all tests of the till pass"]}
        told = await home.post(
            f"/sessions/{session}/events", type="user.define_outcome", outcome=outcome
        )
        assert [one["repair"] for one in told["repairs"]] == ["renamed_key"]
        row = await home.get(f"/sessions/{session}")
        assert row["outcome"]["title"] == "Green"
        await home.post(f"/sessions/{session}/events", 409, type="user.shout")


async def test_a_session_is_taken_away_unless_somebody_runs_it(tmp_path: Path) -> None:
    turns = [calls(("bash", '{"command": "sleep 60"}')), "Done."]
    async with served(tmp_path, turns) as home:
        session = await home.begun("Go.")
        await home.until(session, lambda row: row["reported"] == "busy")
        await home.delete(f"/sessions/{session}", 409)
        await home.post(f"/sessions/{session}/interrupt")
        await home.until(session, lambda row: row["runner"] == "nobody")
        await home.delete(f"/sessions/{session}")
        await home.get(f"/sessions/{session}", 404)
        await home.delete(f"/sessions/{session}", 404)


async def test_what_does_not_fit_is_refused_with_the_next_step(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        empty = await home.post("/sessions", 422, message=" ")
        assert "say what" in empty["error"]["message"]
        assert (await home.post("/sessions", 201, agent="default"))["agent_id"] == "default"
        unknown = await home.post("/sessions", 422, agent="nobody")
        assert "there is no agent 'nobody'" in unknown["error"]["message"]
        misspelt = await home.post("/sessions", 422, mesage="Hi.")
        assert misspelt["error"]["next"] == "known: message, agent, model, workspace, runs_on"
        missing = await home.get("/sessions/ses_none", 404)
        assert missing["error"]["code"] == "not_found"
        assert (await home.get("/sessions", 422, limit=0))["error"]["code"] == "invalid"
        answer = await home.client.get("/api/v1/sessions?limit=1&limit=2")
        assert answer.status_code == 400
        answer = await home.client.post("/api/v1/sessions", content=b"{", headers=_JSON)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "malformed")
        answer = await home.client.post("/api/v1/sessions", content=b"{}")
        assert answer.status_code == 415
        answer = await home.client.put("/api/v1/sessions", json={})
        assert answer.status_code == 405
        answer = await home.client.get("/api/v1/nothing")
        assert "openapi.json" in answer.json()["error"]["message"]


_JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("before", "status"),
    [
        ("2026-01-01T00:00:00", 422),
        ("2026-01-01T00:00:00Z", 200),
        ("0001-01-01T00:00:00+23:00", 200),
        ("9999-12-31T23:59:59-23:00", 200),
    ],
)
async def test_a_moment_has_its_zone(tmp_path: Path, before: str, status: int) -> None:
    async with served(tmp_path) as home:
        await home.begun(None)
        await home.get("/sessions", status, before=before)


async def test_a_model_that_cannot_be_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        told = await home.post("/sessions", 422, message="Go.", model="scripted:a\0b")
        assert "no name has" in told["error"]["message"]
        assert (await home.get("/sessions"))["sessions"] == []
