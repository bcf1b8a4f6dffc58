"""Leave for calls over HTTP: what is asked, for how long an answer holds, and that one counts."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from agents_at_work import calls, home_of
from served_home import PATIENCE, Served, served

from holdfast import Agent, tool
from holdfast.agent.models.scripted import Played
from holdfast.contract.chunks import UserChunk
from holdfast.contract.model import ModelRequest
from holdfast.contract.rules import Rule

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy."""
    RAN.append(place)
    return f"deployed {place}"


@tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"})
def save(path: str) -> str:
    """Save a file (not really)."""
    RAN.append(path)
    return path


ASKED = Rule(permission="save", pattern="**", action="ask", scope="project", source="test")
BY_HAND = msgspec.structs.replace(ASKED, reason="Notes are written by hand")
DEPLOYS = calls(("deploy", '{"place": "north"}'))
SAVES = calls(("save", '{"path": "notes/a.md"}'))
SAVING: dict[str, Any] = {"tools": [save], "rules": [BY_HAND], "profile": "locked"}


async def asked(home: Served, session: str | None = None, count: int = 1) -> list[Any]:
    """What is asked, once it is so much."""
    found: list[Any] = []
    with anyio.move_on_after(PATIENCE):
        while True:
            query = {} if session is None else {"session": session}
            found = (await home.get("/approvals", **query))["approvals"]
            if len(found) == count:
                return found
            await anyio.sleep(0.02)
    raise AssertionError(f"never {count} approvals: {found}")


async def answer(home: Served, question: Any, status: int = 202, /, **said: Any) -> Any:
    body = {"session_id": question["session_id"], **said}
    return await home.post(f"/approvals/{question['approval_id']}", status, **body)


async def test_a_call_waits_for_leave_and_runs_once_it_has_it(tmp_path: Path) -> None:
    async with served(tmp_path, [DEPLOYS, "Done."], tools=[deploy], profile="locked") as home:
        session = await home.begun("Deploy.")
        (question,) = await asked(home)
        assert (question["tool"], question["session_id"]) == ("deploy", session)
        assert question["session_title"] == "Deploy."
        assert question["workspace"] == str(home.workspace)
        assert '"north"' in question["arguments"]
        assert RAN == []
        row = await home.get(f"/sessions/{session}")
        assert row["waiting"] == {"approvals": 1, "questions": 0, "requests": 0}
        await answer(home, question, allow=True, note="Go on.", by="ada")
        await home.at_rest(session)
        assert RAN == ["north"]
        (call,) = (await home.get(f"/sessions/{session}/calls"))["calls"]
        approval = call["approval"]
        assert (approval["allowed"], approval["by"], approval["note"]) == (True, "ada", "Go on.")
        assert await asked(home, count=0) == []
        told = await answer(home, question, 409, allow=False)
        assert told["error"]["code"] == "conflict"
        assert RAN == ["north"]


async def test_a_refusal_is_told_with_its_note(tmp_path: Path) -> None:
    async with served(tmp_path, [DEPLOYS, "So be it."], tools=[deploy], profile="locked") as home:
        session = await home.begun("Deploy.")
        (question,) = await asked(home, session)
        await answer(home, question, allow=False, note="Not on a Friday.")
        await home.at_rest(session)
        (call,) = (await home.get(f"/sessions/{session}/calls"))["calls"]
        assert call["envelope"]["ok"] is False
        assert call["refused"]
        assert "Not on a Friday." in str(call["envelope"])
        assert call["approval"]["by"] == "console"
        assert RAN == []


async def test_what_is_allowed_for_the_session_is_not_asked_again(tmp_path: Path) -> None:
    async with served(tmp_path, [SAVES, SAVES, "Done.", SAVES, "More."], **SAVING) as home:
        session = await home.begun("Save twice.")
        (question,) = await asked(home)
        assert question["offers"] == ["once", "session", "project"]
        assert question["reason"].endswith("on 'notes/a.md': Notes are written by hand.")
        await answer(home, question, allow=True, remember="session")
        await home.at_rest(session)
        assert RAN == ["notes/a.md"] * 2
        other = await home.begun("Save.")
        await answer(home, (await asked(home, other))[0], allow=True)
        await home.at_rest(other)


async def test_what_is_allowed_for_the_project_is_a_grant_that_can_be_taken_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    async with served(tmp_path, [SAVES, "Done.", SAVES, "Done.", SAVES], **SAVING) as home:
        session = await home.begun("Save.")
        (question,) = await asked(home)
        assert question["wider"]
        await answer(home, question, allow=True, remember="project", wider=True)
        await home.at_rest(session)
        other = await home.begun("Save again.")
        await home.at_rest(other)
        assert len(RAN) == 2
        told = await home.get("/policy/grants")
        assert told["project"] == str(home.workspace)
        given = {one["rule"]["permission"] for one in told["grants"]}
        assert "save" in given, told
        assert all(one["rule"]["action"] == "allow" for one in told["grants"])
        in_force = [one["rule"] for one in (await home.get("/policy/rules"))["rules"]]
        for grant in told["grants"]:
            assert grant["rule"]["pattern"] in [one["pattern"] for one in in_force]
            await home.delete(f"/policy/grants/{grant['id']}")
            await home.delete(f"/policy/grants/{grant['id']}", 404)
        assert (await home.get("/policy/grants"))["grants"] == []
        third = await home.begun("Save once more.")
        await asked(home, third)
        assert len(RAN) == 2


async def test_an_answer_that_does_not_fit_decides_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, [DEPLOYS, "Done."], tools=[deploy], profile="locked") as home:
        session = await home.begun("Deploy.")
        (question,) = await asked(home)
        await answer(home, question, 422, allow="maybe")
        await answer(home, question, 422, allow=True, remember="always")
        await answer(home, {**question, "approval_id": "apr_none"}, 409, allow=True)
        await answer(home, {**question, "session_id": "ses_none"}, 404, allow=True)
        await home.get("/approvals", 404, session="ses_none")
        assert len(await asked(home, session)) == 1
        assert RAN == []


async def test_the_change_of_an_edit_is_shown(tmp_path: Path) -> None:
    rule = Rule(permission="edit", pattern="**", action="ask", scope="project", source="test")
    edits = calls(("edit", '{"path": "a.txt", "old_string": "one", "new_string": "two"}'))
    reads = calls(("read", '{"path": "a.txt"}'))
    async with served(tmp_path, [reads, edits, "Done."], rules=[rule]) as home:
        (home.workspace / "a.txt").write_text("one\nthree\n", "utf-8")
        session = await home.begun("Edit.")
        (question,) = await asked(home, session)
        assert "-one" in "\n".join(question["change"])
        assert "+two" in "\n".join(question["change"])
        await answer(home, question, allow=True)
        await home.at_rest(session)
        assert (home.workspace / "a.txt").read_text("utf-8") == "two\nthree\n"


async def test_no_secret_of_a_file_is_shown_beside_its_change(tmp_path: Path) -> None:
    rule = Rule(permission="edit", pattern="**", action="ask", scope="project", source="test")
    edits = calls(("edit", '{"path": "a.txt", "old_string": "one", "new_string": "two"}'))
    reads = calls(("read", '{"path": "a.txt"}'))
    secret = "hunter2-hunter2-hunter2"
    around = msgspec.structs.replace(home_of(tmp_path), secrets=(secret,))
    options: dict[str, Any] = {"rules": [rule], "surroundings": around}
    async with served(tmp_path, [reads, edits, "Done."], **options) as home:
        (home.workspace / "a.txt").write_text(f"key = {secret}\none\n", "utf-8")
        session = await home.begun("Edit.")
        (question,) = await asked(home, session)
        assert {"-one", "+two"} < set(question["change"])
        assert secret not in str(question)


async def test_a_question_of_a_subagent_is_listed_once(tmp_path: Path) -> None:
    hands_on = calls(("task", '{"subagent_type": "worker", "prompt": "Child."}'))
    turns: dict[str, list[Played]] = {
        "Top.": [hands_on, "All done."],
        "Child.": [DEPLOYS, "Deployed."],
    }

    def turn(request: ModelRequest) -> Played:
        told = [row.content for row in request.rows if isinstance(row, UserChunk)]
        return turns[str(told[0])].pop(0)

    agents = [Agent(id="worker", description="Works.", mode="subagent")]
    boss = Agent(id="boss", description="Leads.")
    options: dict[str, Any] = {"tools": [deploy], "agents": agents, "agent": boss}
    async with served(tmp_path, [turn] * 10, profile="locked", **options) as home:
        top = await home.begun("Top.")
        (question,) = await asked(home)
        child = question["session_id"]
        assert child != top
        assert [one["approval_id"] for one in await asked(home, top)] == [question["approval_id"]]
        tree = await home.get(f"/sessions/{child}/tree")
        assert (tree["here"], tree["tree"]["session"]["id"]) == (child, top)
        assert [one["session"]["id"] for one in tree["tree"]["children"]] == [child]
        assert (await home.get(f"/sessions/{top}/tree"))["tree"] == tree["tree"]
        await home.post(f"/sessions/{child}/messages", 409, message="Hello.")
        await home.post(f"/sessions/{child}/resume", 409)
        await answer(home, question, allow=True)
        await home.until(top, lambda row: row["reported"] == "idle" and row["turns"] == 2)
        assert RAN == ["north"]


async def test_an_open_question_outlives_the_server(tmp_path: Path) -> None:
    options: dict[str, Any] = {"tools": [deploy], "profile": "locked"}
    async with served(tmp_path, [DEPLOYS], **options) as home:
        session = await home.begun("Deploy.")
        (question,) = await asked(home)
    async with served(tmp_path, ["Done."], **options) as home:
        assert (await asked(home))[0]["approval_id"] == question["approval_id"]
        await answer(home, question, allow=True)
        await home.at_rest(session)
        assert RAN == ["north"]


async def test_a_session_that_is_gone_keeps_nobody_from_what_else_waits(tmp_path: Path) -> None:
    """Another process may take a session away in which something waits."""
    options: dict[str, Any] = {"tools": [deploy], "profile": "locked"}
    async with served(tmp_path, [DEPLOYS, DEPLOYS], **options) as home:
        first = await home.begun("Deploy.")
        await asked(home)
        second = await home.begun("Deploy.")
        await asked(home, count=2)
        await home.until(first, lambda row: row["runner"] == "nobody")
        await home.delete(f"/sessions/{first}")
        assert [one["session_id"] for one in await asked(home)] == [second]


async def test_an_answer_holds_no_longer_than_is_offered(tmp_path: Path) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    turns = [DEPLOYS, DEPLOYS, "Done."]
    async with served(tmp_path, turns, tools=[deploy], profile="locked") as home:
        session = await home.begun("Deploy twice.")
        (first,) = await asked(home)
        assert first["offers"] == ["once"]
        await answer(home, first, allow=True, remember="project", wider=True)
        await home.until(session, lambda row: row["turns"] == 2 and row["waiting"]["approvals"])
        (second,) = await asked(home)
        assert second["approval_id"] != first["approval_id"]
        assert RAN == ["north"]
        assert (await home.get("/policy/grants"))["grants"] == []
