"""What tools ask a person, and what the application fulfils, over HTTP."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls
from served_home import PATIENCE, Served, served

from holdfast import tool

pytestmark = pytest.mark.anyio

ASKS = calls(
    (
        "question",
        '{"questions": [{"question": "Which one?", "options": [{"label": "left"}]},'
        ' {"question": "How many?"}]}',
    )
)


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something."""
    raise AssertionError(item)


async def waiting(home: Served, what: str, **query: Any) -> Any:
    """What waits, once something does."""
    with anyio.move_on_after(PATIENCE):
        while True:
            found = (await home.get(f"/{what}", **query))[what]
            if found:
                return found
            await anyio.sleep(0.02)
    raise AssertionError(f"nothing is among the {what}")


async def test_a_person_replies_to_what_a_tool_asks(tmp_path: Path) -> None:
    async with served(tmp_path, [ASKS, "Left, then."]) as home:
        session = await home.begun("Ask me.")
        (inquiry,) = await waiting(home, "questions")
        assert inquiry["session_id"] == session
        assert [one["question"] for one in inquiry["questions"]] == ["Which one?", "How many?"]
        path = f"/questions/{inquiry['call_id']}"
        said = {"session_id": session, "answers": [["left"], ["3"]], "by": "ada"}
        for wrong in ({"answers": [["left"]]}, {"answers": [["a"], ["b"], ["c"]]}):
            await home.post(path, 409, session_id=session, **wrong)
        for wrong in ({}, {"answers": [["a"], ["b"]], "skipped": True}, {"answers": "left"}):
            await home.post(path, 422, session_id=session, **wrong)
        await home.post("/questions/cal_none", 409, **said)
        await home.post(path, 404, **{**said, "session_id": "ses_none"})
        await home.post(path, **said)
        await home.at_rest(session)
        (call,) = (await home.get(f"/sessions/{session}/calls"))["calls"]
        assert '"left"' in str(call["envelope"]).replace("'", '"')
        await home.post(path, 409, **said)
        assert (await home.get("/questions"))["questions"] == []


async def test_a_person_may_skip_what_a_tool_asks(tmp_path: Path) -> None:
    async with served(tmp_path, [ASKS, "As you like."]) as home:
        session = await home.begun("Ask me.")
        (inquiry,) = await waiting(home, "questions", session=session)
        await home.post(f"/questions/{inquiry['call_id']}", session_id=session, skipped=True)
        await home.at_rest(session)
        (told,) = await home.events(session, "inquiry.answered")
        assert told["skipped"] is True


async def test_the_application_gives_the_result_of_its_own_tool(tmp_path: Path) -> None:
    turns = [calls(("order", '{"item": "tea"}')), "Here is tea."]
    options: dict[str, Any] = {"tools": [order], "application": "elsewhere", "profile": "locked"}
    async with served(tmp_path, turns, **options) as home:
        session = await home.begun("Tea, please.")
        (request,) = await waiting(home, "requests")
        assert (request["name"], request["input"]) == ("order", {"item": "tea"})
        row = await home.get(f"/sessions/{session}")
        assert row["waiting"]["requests"] == 1
        path = f"/requests/{request['id']}"
        await home.post("/requests/cus_none", 409, session_id=session, output="x")
        await home.post(path, 404, session_id="ses_none", output="x")
        await home.post(path, session_id=session, output="a cup of tea")
        await home.at_rest(session)
        (call,) = (await home.get(f"/sessions/{session}/calls"))["calls"]
        assert "a cup of tea" in str(call["envelope"])
        await home.post(path, 409, session_id=session, output="another")
        assert (await home.get("/requests"))["requests"] == []
