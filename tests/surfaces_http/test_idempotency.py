"""Writing once: a key that was used before is answered as before, whatever happened in between."""

import stat
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import calls
from served_home import PATIENCE, Served, served

from holdfast import tool
from holdfast.surfaces.http import receipts

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool
async def note(text: str) -> str:
    """Note something, slowly where it is `slow`."""
    RAN.append(text)
    if text == "slow":
        await anyio.sleep(1.0)
    return text


async def written(home: Served, path: str, key: str, status: int = 202, /, **body: Any) -> Any:
    headers = {"idempotency-key": key}
    answer = await home.client.post(f"/api/v1{path}", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return answer


async def test_the_same_key_is_answered_the_same_and_nothing_is_done_twice(tmp_path: Path) -> None:
    async with served(tmp_path, ["One.", "Two."]) as home:
        first = await written(home, "/sessions", "k1", 201, message="Go.")
        again = await written(home, "/sessions", "k1", 201, message="Go.")
        assert again.content == first.content
        assert again.headers["idempotent-replayed"] == "true"
        assert again.headers["content-type"] == first.headers["content-type"]
        assert len((await home.get("/sessions"))["sessions"]) == 1
        session = first.json()["id"]
        await home.at_rest(session)
        path = f"/sessions/{session}/messages"
        said = await written(home, path, "k2", message="More.")
        assert (await written(home, path, "k2", message="More.")).json() == said.json()
        assert len(await home.events(session, "user.message")) == 2
        other = await written(home, path, "k2", 422, message="Else.")
        assert "another request" in other.json()["error"]["message"]
        await written(home, f"/sessions/{session}/interrupt", "k2", 422)
        await home.until(session, lambda row: row["turns"] == 2 and row["runner"] == "nobody")
        gone = {"idempotency-key": "k3"}
        for replayed in (None, "true"):
            answer = await home.client.delete(f"/api/v1/sessions/{session}", headers=gone)
            assert (answer.status_code, answer.content) == (204, b"")
            assert answer.headers.get("idempotent-replayed") == replayed


async def test_other_words_of_an_event_are_another_request(tmp_path: Path) -> None:
    async with served(tmp_path, ["One."]) as home:
        session = await home.begun(None)
        path = f"/sessions/{session}/events"
        one = {"type": "user.message", "message": "One."}
        await written(home, path, "k1", **one)
        again = await written(home, path, "k1", **dict(reversed(one.items())))
        assert again.headers["idempotent-replayed"] == "true"
        await written(home, path, "k1", 422, type="user.message", message="Two.")
        said = await home.events(session, "user.message")
        assert [event["message"] for event in said] == ["One."]


async def test_a_key_holds_over_a_restart_and_its_file_is_private(tmp_path: Path) -> None:
    async with served(tmp_path, ["One."]) as home:
        first = await written(home, "/sessions", "k1", 201, message="Go.")
        await home.at_rest(first.json()["id"])
    (kept,) = (tmp_path / "state").rglob("http-receipts.db")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    async with served(tmp_path) as home:
        again = await written(home, "/sessions", "k1", 201, message="Go.")
        assert again.content == first.content
        assert len((await home.get("/sessions"))["sessions"]) == 1


async def test_while_the_first_is_under_way_the_second_is_told_to_look(tmp_path: Path) -> None:
    async with served(tmp_path, tools=[note], profile="locked") as home:
        answers: list[Any] = []
        path = "/tools/note/calls"

        async def call() -> None:
            answers.append(await written(home, path, "k1", 200, arguments={"text": "slow"}))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            with anyio.fail_after(PATIENCE):
                while not RAN:
                    await anyio.sleep(0.01)
            told = await written(home, path, "k1", 409, arguments={"text": "slow"})
            assert "under way" in told.json()["error"]["message"]
        again = await written(home, path, "k1", 200, arguments={"text": "slow"})
        assert again.content == answers[0].content
        assert RAN == ["slow"]


async def test_what_was_refused_may_be_sent_again_with_the_same_key(tmp_path: Path) -> None:
    async with served(tmp_path, ["One."]) as home:
        await written(home, "/sessions", "k1", 422, agent="nobody")
        await written(home, "/sessions/ses_none/messages", "k2", 404, message="Hi.")
        first = await written(home, "/sessions", "k1", 201, message="Go.")
        await written(home, f"/sessions/{first.json()['id']}/messages", "k2", message="Hi.")


@pytest.mark.parametrize(
    "key",
    ["", "k" * 201, "a\tb", "\x7f", "é" * 3, "';DROP/**/TABLE/**/receipts;--", "k" * 200, "💥"],
)
async def test_keys_are_plain_and_short(tmp_path: Path, key: str) -> None:
    plain = 0 < len(key) <= 200 and all("!" <= one <= "~" for one in key)
    async with served(tmp_path) as home:
        for _ in range(2):
            headers = {b"idempotency-key": key.encode()}
            answer = await home.client.post("/api/v1/sessions", json={}, headers=headers)
            assert answer.status_code in ({201} if plain else {422, 400}), answer.text
        assert len((await home.get("/sessions"))["sessions"]) == int(plain)


async def test_a_key_is_forgotten_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipts, "KEPT_SECONDS", -1)
    async with served(tmp_path) as home:
        first = await written(home, "/sessions", "k1", 201)
        again = await written(home, "/sessions", "k1", 201)
        assert again.json()["id"] != first.json()["id"]


async def test_where_no_key_can_be_kept_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "http-receipts.db").write_bytes(b"this is no database, and never was" * 9)
    async with served(tmp_path) as home:
        told = (await written(home, "/sessions", "k1", 503)).json()["error"]
        assert "http-receipts.db" in told["next"]
        assert (await home.get("/sessions"))["sessions"] == []
        await home.begun(None)


async def test_what_ended_unexpectedly_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows how far it came: it may have been written down."""

    async def breaks(*_: object) -> None:
        raise OSError("the disk is gone")

    async with served(tmp_path, [calls(("glob", "{}"))]) as home:
        session = await home.begun(None)
        monkeypatch.setattr("holdfast.surfaces.http.house.House.written", breaks)
        path = f"/sessions/{session}/messages"
        broken = await written(home, path, "k1", 500, message="Hi.")
        assert broken.json()["error"]["code"] == "broken"
        monkeypatch.undo()
        await written(home, path, "k1", 409, message="Hi.")
        assert len(await home.events(session, "user.message")) == 1
