"""A session as text and back: the same events, ids, times, marks and conversation; or an error."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from record.legal_events import Step, event_id, sessions
from record.session_texts import NAME, happened, in_a_store, told

from holdfast.contract import events
from holdfast.contract.event_kinds import KINDS
from holdfast.contract.events import Event, Payload, SessionCreated, UserMessage
from holdfast.contract.json_value import MAX_DEPTH
from holdfast.record.importing import (
    UnreadableExport,
    read_document,
    read_events,
    read_journal,
    renamed,
)
from holdfast.record.store import Store
from holdfast.testing.fakes import FakeClock, FakeIds

Everything = tuple[tuple[bytes, bytes], tuple[Event, ...]]

COMMON = {"id", "type", "created_at", "processed_at", "wake_id", "sequence", "version"}


def everything(steps: list[Step]) -> Everything:
    async def work(store: Store, clock: FakeClock) -> Everything:
        await happened(store, clock, steps)
        return await told(store), await store.journal.events(NAME)

    return in_a_store(work)


def restored(text: bytes) -> Everything:
    imported = read_journal(text)
    assert imported.remarks == ()

    async def work(store: Store, _clock: FakeClock) -> Everything:
        await store.archive.restore(imported.session_id, imported.events)
        assert await store.archive.rebuild(imported.session_id, repair=False) == ()
        session_id = imported.session_id
        return await told(store, session_id), await store.journal.events(session_id)

    return in_a_store(work)


@settings(max_examples=60)
@given(sessions())
@pytest.mark.timeout(90)  # many examples
def test_what_is_exported_imported_and_exported_again_is_the_same(steps: list[Step]) -> None:
    there = everything(steps)
    (text, _chat), written = there
    assert len(written) == len(steps)
    assert restored(text) == there


def lines_of(*payloads: Payload, marked: bool = False) -> list[bytes]:
    """An export of a session, line by line."""
    steps = [Step(event_id(at), one, None, 1) for at, one in enumerate(payloads)]
    (text, chat), _ = everything(steps)
    return (chat if marked else text).splitlines(keepends=True)


TALK = (
    SessionCreated(agent_id="coder"),
    UserMessage(message="zwei\nZeilen"),
    events.AgentMessage(message="ja", summary=""),
)


def test_marks_of_what_was_taken_into_account_survive() -> None:
    done = events.EventsProcessed(event_ids=(event_id(1),))
    text = b"".join(lines_of(SessionCreated(), *TALK[1:], UserMessage(message="late"), done))
    first, *rest = (json.loads(line) for line in text.splitlines())
    assert first["data"]["id"] == NAME
    created = {one["id"]: one["created_at"] for one in rest}
    processed = {one["id"]: one["processed_at"] for one in rest}
    assert processed[event_id(1)] == created[event_id(4)] == "2026-01-01T00:00:04.000000Z"
    assert processed[event_id(3)] is None
    (again, _), read = restored(text)
    assert again == text
    assert read[1].processed_at == read[4].at
    assert read[3].processed_at is None


def test_the_deepest_result_there_can_be_comes_back() -> None:
    deep = Raw(b'{"ok":true,"result":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}")
    asked = events.CallAsked(call_id="cal_1", tool="t", arguments="{}")
    settled = events.CallSettled(call_id="cal_1", tool="t", envelope=deep)
    told = read_journal(b"".join(lines_of(SessionCreated(), asked, settled)))
    assert told.events[-1].payload == settled


def test_an_envelope_with_line_feeds_stays_on_one_line() -> None:
    asked = events.CallAsked(call_id="cal_1", tool="t", arguments="{}")
    pretty = Raw(b'{\n  "ok": true,\n  "result": "a\\nb"\n}')
    settled = events.CallSettled(call_id="cal_1", tool="t", envelope=pretty)
    lines = lines_of(SessionCreated(), asked, settled)
    assert len(lines) == 4
    assert json.loads(lines[3])["envelope"] == {"ok": True, "result": "a\nb"}
    read_journal(b"".join(lines))


@pytest.mark.req("BOA-SES-05")
@given(st.data())
def test_a_text_cut_anywhere_is_read_up_to_its_last_whole_line(data: st.DataObject) -> None:
    lines = CUT
    text = b"".join(lines)
    at = data.draw(st.integers(len(lines[0]), len(text)))
    whole = text[:at].count(b"\n") - 1
    rest = text[:at].rpartition(b"\n")[2]
    complete = rest + b"\n" in lines
    found = read_journal(text[:at])
    kept = whole + complete
    assert [one.id for one in found.events] == [event_id(at) for at in range(kept)]
    broken = bool(rest) and not complete
    remark = f"line {whole + 2}, the last one, is broken and was left out"
    assert found.remarks == ((remark,) if broken else ())
    places = [found.line_of(one.id) for one in found.events]
    assert places == [f"line {number}" for number in range(2, kept + 2)]


CUT = lines_of(*TALK)


@pytest.mark.req("BOA-SES-05")
@pytest.mark.parametrize(
    "broken",
    [b"", b"{", b"17", b'{"id": "evt_', b"\xff\xfe", b"[]", b'{"a":' + b"[" * 10_000],
    ids=["empty", "open", "number", "cut", "bytes", "list", "deep"],
)
@pytest.mark.parametrize("at", [1, 2])
def test_a_broken_earlier_line_is_an_error_that_names_it(at: int, broken: bytes) -> None:
    lines = [*CUT]
    lines[at] = broken + b"\n"
    with pytest.raises(UnreadableExport, match=rf"^line {at + 1}: it is broken"):
        read_journal(b"".join(lines))
    with pytest.raises(UnreadableExport, match=rf"^line {at}: it is broken"):
        read_events(b"".join(lines[1:]), NAME)


def changed(line: bytes, changes: dict[str, object]) -> bytes:
    """A line with other fields; without those that are to be None."""
    fields = {**json.loads(line), **changes}
    left = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(left).encode() + b"\n"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 9}, "'agent.message' of version 9; it was written by a n"),
        ({"type": "agent.dream"}, "does not know 'agent.dream' of version 1"),
        ({"version": 0}, "it is no event"),
        ({"created_at": "yesterday"}, "it is no event"),
        ({"created_at": "2026-01-01T00:00:00"}, "it is no event"),
        ({"created_at": "0001-01-01T00:00:00+14:00"}, "it is no 'agent.message' .date"),
        ({"processed_at": "9999-12-31T23:59:59-14:00"}, "it is no 'agent.message' .date"),
        ({"more": json.loads("[" * 145 + "]" * 145)}, "it nests deeper than 144 levels"),
        ({"id": None}, "it is no event"),
        ({"message": None}, "it is no 'agent.message' .*message"),
        ({"more": 1}, "it is no 'agent.message' .*more"),
        ({"sequence": 4}, "event 4 stands where 3 has to be"),
        ({"id": event_id(1)}, f"the event {event_id(1)} stands in line 3 already"),
    ],
)
def test_a_last_line_that_is_whole_and_wrong_is_an_error(
    changes: dict[str, object], said: str
) -> None:
    lines = [*CUT[:-1], changed(CUT[-1], changes)]
    with pytest.raises(UnreadableExport, match=f"^line 4: .*{said}"):
        read_journal(b"".join(lines))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "line 1: it is no session"),
        (b"nonsense", "line 1: it is no session"),
        (CUT[1], "line 1: it is no session"),
        (b'{"type":"holdfast.session","data":{"version":2,"id":"s"}}', "version 2 of its form"),
        (b'{"type":"holdfast.session","data":{"version":1}}', "line 1: it is no session"),
        (b'{"type":"holdfast.session"}', "line 1: it is no session"),
        (b'{"type":"holdfast.session","data":' + b"[" * 10_000, "line 1: it is no session"),
        (b'{"type":"holdfast.session","data":{"version":1,"id":"../x"}}', "cannot be the id"),
        (b'{"type":"holdfast.session","data":{"version":1,"id":".."}}', "cannot be the id"),
        (b'{"type":"holdfast.session","data":{"version":1,"id":""}}', "cannot be the id"),
        (b"".join(lines_of(*TALK, marked=True)), "this is a conversation"),
    ],
)
def test_what_is_no_session_is_told_so(text: bytes, said: str) -> None:
    with pytest.raises(UnreadableExport, match=said):
        read_journal(text)


def test_a_document_is_read_for_its_id() -> None:
    assert read_document(b'{"version": 1, "id": "ses_x", "more": []}', "here") == "ses_x"
    with pytest.raises(UnreadableExport, match=r"^here: it is no session"):
        read_document(b"{", "here")


def test_under_another_name_events_name_each_other_by_their_new_ids() -> None:
    done = events.EventsProcessed(event_ids=(event_id(1), "evt_of_others"))
    idle = events.StatusIdle(reason="r", summary="", blocking_event_ids=(event_id(2),))
    rest = events.StatusIdle(reason="r", summary="")
    imported = read_journal(b"".join(lines_of(*TALK, done, idle, rest)))
    ids = FakeIds()
    new = renamed(imported, "ses_2", lambda: ids.new("evt"))
    names = [one.id for one in new.events]
    assert len({*names, *(one.id for one in imported.events)}) == 12
    assert new.session_id == "ses_2"
    assert {one.session_id for one in new.events} == {"ses_2"}
    assert new.events[3].payload == events.EventsProcessed(event_ids=(names[1], "evt_of_others"))
    assert new.events[4].payload == events.StatusIdle(
        reason="r", summary="", blocking_event_ids=(names[2],)
    )
    assert new.events[5].payload == rest
    assert [one.at for one in new.events] == [one.at for one in imported.events]

    async def beside(store: Store, _clock: FakeClock) -> list[int]:
        for one in (imported, new):
            await store.archive.restore(one.session_id, one.events)
        return [len(await store.archive.messages(name)) for name in (NAME, "ses_2")]

    assert in_a_store(beside) == [2, 2]


def test_no_kind_has_a_field_that_every_event_has() -> None:
    for kind in KINDS:
        assert COMMON.isdisjoint(kind.__struct_fields__), kind


@pytest.mark.req("SPEC-REC-17")
def test_a_conversation_is_the_session_then_each_message_followed_by_its_parts() -> None:
    asked = events.CallAsked(call_id="cal_1", tool="bash", arguments='{"command": "ls"}')
    settled = events.CallSettled(call_id="cal_1", tool="bash", envelope=Raw(b'{"ok":true}'))
    lines = lines_of(*TALK[:2], asked, settled, TALK[2], UserMessage(message="b"), marked=True)
    found = [json.loads(line) for line in lines]
    assert [set(one) for one in found] == [{"type", "data"}] * len(found)
    kinds = [one["type"] for one in found]
    assert kinds == ["session", "message", "part", "message", "part", "part", "message", "part"]
    session, first, text, second, call, said, *_ = (one["data"] for one in found)
    assert (session["id"], session["agent_id"]) == (NAME, "coder")
    assert [one["data"]["index"] for one in found if one["type"] == "message"] == [0, 1, 2]
    assert (first["role"], second["role"]) == ("user", "assistant")
    assert text["message_id"] == first["id"]
    assert {call["message_id"], said["message_id"]} == {second["id"]}
    assert [call["index"], said["index"]] == [0, 1]
    assert text["data"]["text"] == "zwei\nZeilen"
    assert (call["tool_call_id"], call["tool_state"]) == ("cal_1", "output-available")
    assert (call["data"]["input"], call["data"]["output"]) == ({"command": "ls"}, {"ok": True})
