"""Looking for what was said, what agents know, what ran, and whether all is as it was written."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from agents_at_work import calls
from served_home import Served, served

from holdfast import tool

pytestmark = pytest.mark.anyio

ECHOES = calls(("bash", '{"command": "echo hello"}'))
CHANGED: list[str] = []


@tool
def tell() -> str:
    """Tell what is so."""
    return "now" if CHANGED else "then"


async def test_words_are_found_in_all_sessions_or_in_one(tmp_path: Path) -> None:
    async with served(tmp_path, ["Pears are sweet.", "So are plums."]) as home:
        first = await home.begun("Tell me about pears.")
        await home.at_rest(first)
        second = await home.begun("And plums?")
        await home.at_rest(second)
        found = (await home.get("/search", q="pears"))["found"]
        assert {one["session_id"] for one in found} == {first}
        assert {"session_id", "sequence", "event_id", "type", "excerpt"} <= set(found[0])
        assert (await home.get("/search", q="pears", session=second))["found"] == []
        assert len((await home.get("/search", q="pears", limit=1))["found"]) == 1
        nothing = await home.get("/search", 422, q="...")
        assert "no word" in nothing["error"]["message"]
        await home.get("/search", 422, q="x", limit=0)
        await home.get("/search", 422)
        await home.get("/search", q='pears" OR \0 NEAR(x) *')


async def test_what_an_agent_knows_is_shown_and_nothing_beside_it(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        facts = await home.get("/server")
        empty = await home.get("/memory")
        assert empty == {"agent": facts["default_agent"], "notes": None, "learnings": []}
        kept = tmp_path / "data" / "agents" / facts["default_agent"] / "substrate"
        kept.mkdir(parents=True)
        (kept / "MEMORY.md").write_text("Plums are blue.", "utf-8")
        assert (await home.get("/memory"))["notes"]["text"] == "Plums are blue."
        outside = tmp_path / "substrate"
        outside.mkdir()
        (outside / "MEMORY.md").write_text("a secret", "utf-8")
        for agent in ("../..", "..", "/", str(tmp_path), "a/b", "a\0b", "x" * 65, ""):
            told = await home.get("/memory", 422, agent=agent)
            assert "a secret" not in str(told)
        (kept / "MEMORY.md").unlink()
        (kept / "MEMORY.md").symlink_to(outside / "MEMORY.md")
        assert (await home.get("/memory"))["notes"] is None


async def test_programs_that_ran_are_told(tmp_path: Path) -> None:
    async with served(tmp_path, [ECHOES, "Done."]) as home:
        assert (await home.get("/audit/programs"))["lines"] == []
        session = await home.begun("Go.")
        await home.at_rest(session)
        told = await home.get("/audit/programs")
        assert told["lines"], told
        assert told["day"] in told["days"]
        assert {one["session"] for one in told["lines"]} == {session}
        same = await home.get("/audit/programs", day=told["day"], session=session, limit=1)
        assert len(same["lines"]) == 1
        assert (await home.get("/audit/programs", session="ses_none"))["lines"] == []
        assert (await home.get("/audit/programs", day="19990101"))["lines"] == []
        await home.get("/audit/programs", 422, day="../../etc")


async def test_one_edited_byte_is_found(tmp_path: Path) -> None:
    async with served(tmp_path, ["Hello there."]) as home:
        session = await home.begun("Go.")
        await home.at_rest(session)
        await home.until(session, lambda row: row["runner"] == "nobody")
        for asked in ({}, {"session": session}):
            verdict = await home.post("/audit/verify", 200, **asked)
            assert (verdict["whole"], verdict["problems"]) == (True, [])
            assert verdict["events"] > 0
        await home.post("/audit/verify", 404, session="ses_none")
        (store,) = (tmp_path / "data").glob("*.db")
        edited = edit_one_byte(store)
        assert edited == 1
        verdict = await home.post("/audit/verify", 200)
        assert verdict["whole"] is False
        assert verdict["problems"][0]["session_id"] == session
        assert verdict["problems"][0]["sequence"]


def edit_one_byte(store: Path) -> int:
    with sqlite3.connect(store) as file:
        names = [row[0] for row in file.execute("SELECT name FROM pragma_table_info('events')")]
        for name in names:
            done = file.execute(
                f"UPDATE events SET {name} = CAST(replace(CAST({name} AS TEXT), 'Hello there',"
                f" 'Hello where') AS BLOB) WHERE instr({name}, 'Hello there') AND type ="
                " 'agent.message'"
            ).rowcount
            if done:
                return done
    return 0


async def test_a_session_is_replayed_and_what_became_other_is_named(tmp_path: Path) -> None:
    CHANGED.clear()
    turns = [calls(("tell", "{}")), "Done."]
    async with served(tmp_path, turns, tools=[tell], profile="locked") as home:
        session = await home.begun("Go.")
        await home.at_rest(session)
        await home.until(session, lambda row: row["runner"] == "nobody")
        path = f"/sessions/{session}/replay"
        whole = await home.post(path, 200)
        assert (whole["same"], whole["what"], whole["divergence"]) == (True, "run", None)
        assert whole["compared"] > 0
        again = await home.post(path, 200, what="calls")
        assert (again["same"], again["compared"]) == (True, 1)
        await home.post(path, 422, what="everything")
        await home.post("/sessions/ses_none/replay", 404)
        await settled(home)
        bench = (await home.get("/server"))["workbench"]
        told = await home.post(f"/sessions/{bench}/replay", 409)
        assert "replay its calls" in told["error"]["message"]


async def settled(home: Served) -> Any:
    return await home.post("/tools/tell/calls", 200)


async def test_a_divergence_names_the_first_event_that_is_another_one(tmp_path: Path) -> None:
    turns = [calls(("tell", "{}")), "Done."]
    async with served(tmp_path, turns, tools=[tell], profile="locked") as home:
        session = await home.begun("Go.")
        await home.at_rest(session)
        await home.until(session, lambda row: row["runner"] == "nobody")
    async with served(tmp_path, tools=[], profile="locked") as home:
        told = await home.post(f"/sessions/{session}/replay", 200, what="calls")
        assert told["same"] is False
        assert told["divergence"]["sequence"] > 0


async def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as home:
        for place in ("relative", "", "\0", f"{tmp_path}/a\0b"):
            await home.post("/sessions", 422, workspace=place)
        loop = tmp_path / "loop"
        loop.symlink_to(loop)
        for place in (str(loop), str(tmp_path / "missing"), "/" + "x" * 5000):
            told = await home.post("/sessions", 422, workspace=place)
            assert told["error"]["message"]
        same = await home.begun(None, workspace=f"{home.workspace}/../work/")
        row = await home.get(f"/sessions/{same}")
        assert row["workspace"] == str(home.workspace)
