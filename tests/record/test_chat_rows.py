"""The rows of a conversation in a real file: their columns, ids, states, and one row per call."""

import json
import re
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from record.conversations import SESSION, closing

from holdfast import Answer, Holdfast, tool
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract import events
from holdfast.contract.events import AgentChunk, CallAsked, CallSettled, Payload
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.fakes import FakeApprover

pytestmark = pytest.mark.anyio

ID = re.compile(r"[a-z]{3}_[0-9a-f]{12}[0-9A-Za-z]{14}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "holdfast.db"


@pytest.fixture
async def store(path: Path) -> AsyncGenerator[Store]:
    clock = SystemClock()
    async with closing(open_sqlite(path, Chain(bytes(32)), clock, TimeIds(clock))) as opened:
        await opened.journal.create(SESSION, [events.SessionCreated()])
        yield opened


def select(path: Path, columns: str, table: str = "chat_parts") -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        order = "place" if table == "events" else "id"
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY {order}").fetchall()
    finally:
        connection.close()


def chunk(**fields: Any) -> AgentChunk:
    return AgentChunk(chunk=fields)


ASKED = CallAsked(call_id="cal_1", tool="run", arguments='{"a": 1}')
QUESTION = events.ApprovalAsked(
    approval_id="apr_1", call_id="cal_1", tool="run", arguments_hash="x", reason="why"
)
YES = events.ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="ada")
INTENT = events.CallIntended(call_id="cal_1", tool="run", arguments_hash="x", grounds="ada")


def settled(envelope: object) -> CallSettled:
    return CallSettled(call_id="cal_1", tool="run", envelope=Raw(json.dumps(envelope).encode()))


OK = settled({"ok": True, "result": 7})
FAILED = settled({"ok": False, "kind": "timeout", "message": "late", "retryable": True})
DENIED = settled({"ok": False, "kind": "user_denied", "message": "no", "retryable": False})


def around(home: Path) -> Surroundings:
    return Surroundings(data_home=home, state_home=home / "state")


@tool
def double(number: int) -> int:
    """Double a number. number: e.g. 3."""
    return 2 * number


@tool(permission_policy="always_ask")
def wipe(path: str) -> str:
    """Wipe a path. path: e.g. 'x'."""
    return f"wiped {path}"


@pytest.mark.req("SPEC-REC-01")
async def test_every_result_of_a_tool_is_a_row(tmp_path: Path) -> None:
    approver = FakeApprover([Answer(allowed=False, by="ada")])
    async with Holdfast(
        tools=[double, wipe],
        settings=Settings(),
        surroundings=around(tmp_path),
        approver=approver,
    ) as hf:
        good = await hf.settle("double", {"number": "4"})
        await hf.settle("double", {"nonsense": 1})
        await hf.settle("wipe", {"path": "x"})
        await hf.settle("nothing", "{}")
    rows = select(tmp_path / "holdfast.db", "type, tool_state, data_json, tool_call_id")
    assert [(kind, state) for kind, state, *_ in rows] == [
        ("tool-double", "output-available"),
        ("tool-double", "output-error"),
        ("tool-wipe", "output-denied"),
        ("tool-nothing", "output-error"),
    ]
    output = json.loads(rows[0][2])["output"]
    assert rows[0][3] == good.call_id
    assert output["result"] == 8
    assert output["metadata"]["duration_ms"] == good.metadata.duration_ms
    assert all("output" in json.loads(row[2]) for row in rows)


@pytest.mark.req("SPEC-REC-05")
async def test_a_part_has_its_columns_and_its_number_only_grows(store: Store, path: Path) -> None:
    await store.journal.append(
        SESSION,
        [
            chunk(type="text-start", id="t"),
            ASKED,
            chunk(type="text-delta", id="t", delta="x"),
            chunk(type="reasoning-start", id="r"),
        ],
    )
    wanted = "id message_id session_id index type data_json tool_call_id tool_state"
    connection = sqlite3.connect(path)
    names = [row[1] for row in connection.execute("PRAGMA table_info(chat_parts)")]
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute("INSERT INTO chat_parts SELECT * FROM chat_parts LIMIT 1")
    connection.close()
    assert names == [*wanted.split(), "created_at", "updated_at"]
    rows = select(path, 'id, message_id, session_id, "index", created_at, updated_at')
    assert [row[3] for row in rows] == [0, 1, 2]
    assert all(row[0].startswith("prt_") and row[2] == SESSION for row in rows)
    assert len({row[1] for row in rows}) == 1
    assert all(0 < row[4] <= row[5] for row in rows)
    assert [row[0] for row in select(path, "tool_call_id")] == [None, "cal_1", None]


@pytest.mark.req("SPEC-REC-06")
async def test_a_part_is_of_one_of_the_known_types(store: Store, path: Path) -> None:
    said: list[Payload] = [
        chunk(type="text-start", id="t"),
        chunk(type="reasoning-start", id="t"),
        ASKED,
        chunk(type="file", url="u", mediaType="m"),
        chunk(type="source-url", sourceId="s", url="u"),
        chunk(type="source-document", sourceId="s", mediaType="m", title="t"),
        chunk(type="data-weather", data={"sky": "blue"}),
        chunk(type="data-weather", data=1, transient=True),
        chunk(type="data-compaction", data="not theirs to say"),
        chunk(type="data-abort", data="nor this"),
        chunk(type="step-start"),
        chunk(type="file", url="without a type"),
    ]
    await store.journal.append(SESSION, said)
    rows = select(path, "type, data_json")
    assert [kind for kind, _ in rows] == [
        *("text", "reasoning", "tool-run", "file", "source-url", "source-document"),
        "data-weather",
    ]
    assert all(json.loads(data)["type"] == kind for kind, data in rows)
    assert json.loads(rows[-1][1])["data"] == {"sky": "blue"}


@pytest.mark.req("SPEC-REC-07")
async def test_ids_have_their_shape_and_sort_in_the_order_of_creation(tmp_path: Path) -> None:
    sessions: list[str] = []
    for _ in range(3):
        async with Holdfast(
            tools=[double], settings=Settings(), surroundings=around(tmp_path)
        ) as hf:
            for number in range(5):
                await hf.settle("double", {"number": number})
            sessions.append(hf.session_id)
    path = tmp_path / "holdfast.db"
    for table, order in (
        ("chat_sessions", "created_at"),
        ("events", "micros, place"),
        ("chat_messages", "created_at"),
        ("chat_parts", "created_at"),
    ):
        connection = sqlite3.connect(path)
        created = [row[0] for row in connection.execute(f"SELECT id FROM {table} ORDER BY {order}")]
        connection.close()
        assert all(ID.fullmatch(one) and len(one) == 30 for one in created), table
        assert created == sorted(created), table
        assert len(set(created)) == len(created) > 2
    assert sessions == sorted(sessions)
    assert all(ID.fullmatch(row[0]) for row in select(path, "tool_call_id"))


@pytest.mark.req("SPEC-REC-08")
@pytest.mark.parametrize(
    ("steps", "states"),
    [
        ([OK], ["output-available"]),
        ([INTENT, OK], ["input-available", "output-available"]),
        ([INTENT, FAILED], ["input-available", "output-error"]),
        (
            [QUESTION, YES, INTENT, OK],
            [*("approval-requested", "approval-responded", "approval-responded"), OK],
        ),
        ([QUESTION, YES, DENIED], ["approval-requested", "approval-responded", "output-denied"]),
    ],
    ids=["at once", "runs", "fails", "asked", "denied"],
)
async def test_a_call_goes_from_state_to_state(
    store: Store, path: Path, steps: Sequence[Payload], states: Sequence[object]
) -> None:
    seen: list[str] = []
    streamed = chunk(type="tool-input-start", toolCallId="cal_1", toolName="run")
    for payload in (streamed, ASKED, *steps):
        await store.journal.append(SESSION, [payload])
        ((state, data),) = select(path, "tool_state, data_json")
        assert json.loads(data)["state"] == state
        seen.append(state)
    wanted = ["output-available" if state is OK else state for state in states]
    assert seen == ["input-streaming", "input-available", *wanted]


@pytest.mark.req("SPEC-REC-09")
async def test_a_call_has_one_row_that_is_replaced_with_its_input_carried_along(
    store: Store, path: Path
) -> None:
    ids: set[str] = set()
    begun = chunk(type="tool-input-start", toolCallId="cal_1", toolName="run")
    again = chunk(type="tool-input-start", toolCallId="cal_1", toolName="run")
    for payload in (begun, ASKED, QUESTION, YES, INTENT, OK, again):
        await store.journal.append(SESSION, [payload])
        ((part_id, call_id, data),) = select(path, "id, tool_call_id, data_json")
        ids.add(part_id)
        assert call_id == "cal_1"
        if payload is not begun:
            assert json.loads(data)["input"] == {"a": 1}
    assert len(ids) == 1


@pytest.mark.req("SPEC-REC-10")
async def test_a_call_that_is_taken_up_again_completes_its_own_row(tmp_path: Path) -> None:
    """The process dies with the question open; it is answered and run by another one."""
    path = tmp_path / "holdfast.db"
    given: dict[str, Any] = {
        "tools": [wipe],
        "settings": Settings(),
        "surroundings": around(tmp_path),
    }
    async with Holdfast(**given, approver=FakeApprover([Answer(allowed=True, by="ada")])) as hf:
        await hf.settle("wipe", {"path": "x"})
        session = hf.session_id
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT sequence, type FROM session_events ORDER BY sequence"
    ).fetchall()
    (question,) = [number for number, kind in rows if kind == "approval.asked"]
    connection.close()
    store = open_sqlite(path, Chain(bytes(32)), SystemClock(), TimeIds(SystemClock()))
    kept = (await store.journal.events(session))[:question]
    await store.archive.delete(session)
    await store.archive.restore(session, kept)  # as it was when the process died
    await store.journal.close()
    ((part, state),) = select(path, "id, tool_state")
    assert state == "approval-requested"
    async with Holdfast(**given, session=session, approver=FakeApprover()) as hf:
        (asked,) = await hf.questions()
        await hf.answer(asked, Answer(allowed=True, by="bob"))
        (envelope,) = await hf.resume()
        assert envelope.ok
    ((same, state, data),) = select(path, "id, tool_state, data_json")
    assert (same, state) == (part, "output-available")
    assert json.loads(data)["input"] == {"path": "x"}


@pytest.mark.req("SPEC-REC-12")
async def test_the_first_chunk_brings_the_row_and_every_chunk_is_saved(
    store: Store, path: Path
) -> None:
    assert select(path, "id", "chat_messages") == []
    await store.journal.append(SESSION, [chunk(type="start")])
    ((role, count),) = select(path, "role, 1", "chat_messages")
    assert (role, count) == ("assistant", 1)
    so_far = ""
    await store.journal.append(SESSION, [chunk(type="text-start", id="t")])
    for piece in ("He", "l", "lo"):
        await store.journal.append(SESSION, [chunk(type="text-delta", id="t", delta=piece)])
        so_far += piece
        ((data,),) = select(path, "data_json")
        assert json.loads(data) == {
            "id": "t",
            "state": "streaming",
            "text": so_far,
            "type": "text",
        }
    await store.journal.append(SESSION, [chunk(type="text-end", id="t")])
    ((data,),) = select(path, "data_json")
    assert json.loads(data) == {"id": "t", "text": "Hello", "type": "text"}
    assert len(select(path, "id", "chat_messages")) == 1


@pytest.mark.req("SPEC-REC-13")
@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"type": None},
        {"type": 7},
        {"type": "text-delta"},
        {"type": "text-delta", "id": "nobody", "delta": "x"},
        {"type": "text-end", "id": "nobody"},
        {"type": "text-start", "id": 5},
        {"type": "tool-input-start", "toolCallId": "cal_1"},
        {"type": "tool-input-delta", "toolCallId": "cal_9", "inputTextDelta": "{"},
        {"type": "what is this"},
        {"type": "data-", "transient": "yes", "data": 1},
    ],
    ids=str,
)
async def test_a_malformed_frame_changes_nothing(
    store: Store, path: Path, frame: dict[str, Any]
) -> None:
    await store.journal.append(SESSION, [AgentChunk(chunk=frame)])
    assert select(path, "id", "chat_messages") == []
    await store.journal.append(SESSION, [chunk(type="text-start", id="t")])
    before = select(path, "*")
    await store.journal.append(SESSION, [AgentChunk(chunk=frame)])
    assert select(path, "*") == before
    assert await store.archive.rebuild(SESSION, repair=False) == ()


def replied(text: str | None, *, calls: bool = True) -> events.ModelReplied:
    call = {"id": "cal_1", "model_call_id": "x", "name": "run", "arguments": "{}"}
    reply: dict[str, Any] = {"text": text, "calls": [call] if calls else [], "finish": "stop"}
    return events.ModelReplied(request_id="mod_1", reply=reply)


LOOKS = replied("I look.")
SAYS = events.AgentMessage(message="It is 7.", summary="")


async def parts_of(store: Store, *payloads: Payload) -> list[list[tuple[str, str]]]:
    await store.journal.append(SESSION, payloads)
    messages = await store.archive.messages(SESSION)
    return [[(part.type, str(part.data.get("text"))) for part in one.parts] for one in messages]


async def test_words_beside_calls_stand_before_them_in_the_same_message(store: Store) -> None:
    assert await parts_of(store, LOOKS, ASKED, OK, SAYS) == [
        [("text", "I look."), ("tool-run", "None"), ("text", "It is 7.")]
    ]
    assert await store.archive.rebuild(SESSION, repair=False) == ()


@pytest.mark.parametrize(
    "reply",
    [
        *(replied("It is 7.", calls=False), replied(None), replied("")),
        events.ModelReplied(request_id="mod_1", reply={"text": "ok"}),
        events.ModelReplied(request_id="mod_1", reply={"text": 7, "calls": [1]}),
        events.ModelReplied(request_id="mod_1", reply=["another's"]),
    ],
)
async def test_a_reply_without_words_and_calls_adds_nothing(
    store: Store, reply: events.ModelReplied
) -> None:
    assert await parts_of(store, reply) == []
    assert await parts_of(store, SAYS) == [[("text", "It is 7.")]]


async def test_words_that_were_streamed_are_not_said_twice(store: Store) -> None:
    streamed = [
        chunk(type="text-start", id="a"),
        chunk(type="text-delta", id="a", delta="I look."),
        chunk(type="text-end", id="a"),
    ]
    looked = [("text", "I look."), ("tool-run", "None")]
    assert await parts_of(store, *streamed, LOOKS, ASKED, OK) == [looked]
    # What follows came whole.
    again = [*looked, ("text", "It is 7.")]
    assert await parts_of(store, SAYS) == [again]
