"""A loop stands in the journal: its rows, and the envelope of each call beside the row's text."""

import json
from pathlib import Path
from typing import cast

import pytest
from app.recorded import SECRET, around, events_of, kinds
from flow_kit import Does, Scripted, agent, asks, gives, raising, results, says, user

from holdfast.app.flow_options import SettlingOptions
from holdfast.app.settings import Settings, StoreSettings
from holdfast.contract.chunks import AssistantChunk
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    Event,
    FlowGrown,
    SessionCreated,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.json_value import JsonObject
from holdfast.envelope.dialects import flow_text, ok, typed
from holdfast.flow import (
    FileContent,
    FileEntries,
    FileEntry,
    Session,
    read_flow_log,
    run_session_compress_async,
    run_session_loop_async,
)
from holdfast.runtime.flow_rows import transcript_of


def _kept(root: Path, *secrets: str) -> SettlingOptions:
    return {"settings": Settings(), "surroundings": around(root, *secrets)}


async def _ran(
    root: Path, *calls: tuple[str, str], tools: tuple[FlowToolCall, ...] = ()
) -> Session:
    model = Scripted(asks(*calls), says("done"))
    return await run_session_loop_async(user().to("local"), agent(), model, tools, **_kept(root))


def _envelopes(events: tuple[Event, ...]) -> list[Envelope]:
    settled = [one.payload for one in events if isinstance(one.payload, CallSettled)]
    return [ok.parse(bytes(one.envelope).decode()) for one in settled]


async def test_the_rows_of_a_loop_are_what_its_journal_says(tmp_path: Path) -> None:
    first = user().to("local")
    model = Scripted(asks(("run_code", '{"code": "print(6 * 7)"}')), says("done", cost=5))
    out = await run_session_loop_async(first, agent(), model, **_kept(tmp_path))
    out.close()
    events = await events_of(tmp_path, out.id)
    assert transcript_of(out.id, events) == out.transcript()
    assert kinds(events) == [
        "session.created",
        *("flow.grown", "model.requested", "model.replied", "flow.grown"),
        *("call.asked", "call.intended", "call.settled"),
        *("flow.grown", "model.requested", "model.replied", "flow.grown"),
        "session.closed",
    ]
    grown = [one.payload for one in events if isinstance(one.payload, FlowGrown)]
    assert [len(one.chunks) for one in grown] == [1, 1, 1, 1]
    assert [one.lineage is not None for one in grown] == [True, False, False, False]


async def test_what_is_noted_at_the_end_is_written_down(tmp_path: Path) -> None:
    model = Scripted(says("more", "tool_calls"))
    out = await run_session_loop_async(user(), agent(), model, max_tool_rounds=1, **_kept(tmp_path))
    events = await events_of(tmp_path, out.id)
    told = transcript_of(out.id, events)
    assert told.lineage.extras == (("loop.truncated", True),)
    assert told == out.transcript()


@pytest.mark.req("RATH-SER-01")
async def test_the_envelope_of_each_call_is_recorded_with_its_text(tmp_path: Path) -> None:
    values: list[object] = [
        {"words": 3},
        "hé",
        None,
        True,
        [1, "a"],
        FileContent("text"),
        FileEntries((FileEntry("a", "/w/a", is_dir=False),)),
    ]
    tools = tuple(gives(f"t{place}", value) for place, value in enumerate(values))
    out = await _ran(tmp_path, *((tool.name, "{}") for tool in tools), tools=tools)
    assert results(out) == [flow_text.serialize(value) for value in values]
    envelopes = _envelopes(await events_of(tmp_path, out.id))
    assert [one.tool for one in envelopes] == [tool.name for tool in tools]
    assert [one.result for one in envelopes] == [
        {"words": 3},
        {"text": "hé"},
        None,
        True,
        [1, "a"],
        {"data": "text"},
        {"entries": [{"name": "a", "path": "/w/a", "is_dir": False}]},
    ]
    shown = cast("JsonObject", json.loads(ok.render(envelopes[0])))
    assert (shown["ok"], shown["result"]) == (True, {"words": 3})
    assert typed.parse(typed.render(envelopes[0])).result == {"words": 3}


async def _failed(
    root: Path, name: str, raw: str, *tools: FlowToolCall
) -> tuple[JsonObject, Envelope]:
    """The text of a failed call, read, and its recorded envelope."""
    out = await _ran(root, (name, raw), tools=tools)
    assert out.chunk_table.rows[-1] == AssistantChunk("done")
    (text,), events = results(out), await events_of(root, out.id)
    (envelope,) = _envelopes(events)
    # Both spellings come from the one record.
    assert flow_text.render(envelope) == text
    told = cast("JsonObject", json.loads(text))
    assert set(told) <= {"ok", "error_kind", "message", "detail"}
    wire = cast("JsonObject", json.loads(ok.render(envelope)))
    assert wire["kind"] in [kind.value for kind in FailureKind]
    assert (wire["error_kind"], wire["message"]) == (told["error_kind"], told["message"])
    return told, envelope


@pytest.mark.req("RATH-EDG-02", "RATH-EDG-09")
async def test_unreadable_arguments_are_invalid_args_in_the_record(tmp_path: Path) -> None:
    told, envelope = await _failed(tmp_path, "run_code", '{"code": ')
    assert told["error_kind"] == "invalid_tool_arguments"
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.INVALID_ARGS
    assert envelope.failure.extras == {
        "error_kind": "invalid_tool_arguments",
        "detail": '{"code": ',
    }


@pytest.mark.req("RATH-EDG-04", "RATH-EDG-09")
async def test_an_unknown_tool_is_tool_not_found_in_the_record(tmp_path: Path) -> None:
    told, envelope = await _failed(tmp_path, "nope", "{}")
    assert told == {"ok": False, "error_kind": "unknown_tool", "message": "unknown tool 'nope'"}
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.TOOL_NOT_FOUND


@pytest.mark.req("RATH-EDG-06", "RATH-EDG-09")
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (FileNotFoundError("a.txt"), FailureKind.NOT_FOUND),
        (ConnectionRefusedError("no"), FailureKind.UNAVAILABLE),
        (ValueError("bad x"), FailureKind.EXECUTION_ERROR),
        (AssertionError(), FailureKind.EXECUTION_ERROR),
    ],
)
async def test_what_a_tool_raises_has_the_kind_that_fits_it(
    error: Exception, kind: FailureKind, tmp_path: Path
) -> None:
    told, envelope = await _failed(tmp_path, "boom", "{}", Does("boom", raising(error)))
    name = type(error).__name__
    assert told["error_kind"] == "tool_execution_exception"
    assert (told["message"], told["detail"]) == (f"{name}: {error}", name)
    assert envelope.failure is not None
    assert envelope.failure.kind is kind


@pytest.mark.req("RATH-BLT-12", "RATH-EDG-06")
@pytest.mark.parametrize(
    ("command", "words"),
    [("a\nb", "multiline commands are rejected"), ("x" * 2_049, "command too long")],
)
async def test_a_guarded_command_is_the_arguments_fault_and_opens_nothing(
    command: str, words: str, tmp_path: Path
) -> None:
    model = Scripted(asks(("run_shell_command", json.dumps({"cmd": command}))), says("done"))
    first = user().to("local")
    out = await run_session_loop_async(first, agent(), model, **_kept(tmp_path))
    assert json.loads(results(out)[0]) == {
        "ok": False,
        "error_kind": "tool_execution_exception",
        "message": f"ValueError: {words}",
        "detail": "ValueError",
    }
    (envelope,) = _envelopes(await events_of(tmp_path, out.id))
    assert envelope.failure is not None
    assert (envelope.failure.kind, envelope.failure.field) == (FailureKind.INVALID_ARGS, "cmd")
    assert (first.sandbox, out.sandbox) == (None, None)


@pytest.mark.req("RATH-DSP-04")
@pytest.mark.parametrize("name", ["run_shell_command", "mine"])
async def test_a_missing_sandbox_is_a_result_and_unavailable_in_the_record(
    name: str, tmp_path: Path
) -> None:
    mine = Does("mine", lambda session, _arguments: session.require_sandbox())
    model = Scripted(asks((name, '{"cmd": "echo hi"}')), says("done"))
    out = await run_session_loop_async(user(), agent(), model, [mine], **_kept(tmp_path))
    words = 'session has no sandbox backend; call session.to("local") or session.bind_sandbox(...)'
    assert json.loads(results(out)[0]) == {
        "ok": False,
        "error_kind": "tool_execution_exception",
        "message": f"RuntimeError: {words}",
        "detail": "RuntimeError",
    }
    assert out.chunk_table.rows[-1] == AssistantChunk("done")
    (envelope,) = _envelopes(await events_of(tmp_path, out.id))
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.UNAVAILABLE


@pytest.mark.req("RATH-SER-03", "RATH-EDG-10")
@pytest.mark.parametrize(
    ("value", "cut"),
    [
        ("x" * 47_998, False),
        ("x" * 47_999, True),
        ([1] * 16_000, False),  # "[1, 1, ...]" has three characters for each
        ([1] * 16_001, True),  # of which a compact form would drop one
        (FileContent("x" * 12_000), False),
        (FileContent("x" * 12_001), True),
        (FileEntries(tuple(FileEntry("f", "/f", is_dir=False) for _ in range(500))), False),
        (FileEntries(tuple(FileEntry("f", "/f", is_dir=False) for _ in range(501))), True),
    ],
    ids=["text", "long text", "list", "long list", "file", "long file", "entries", "many entries"],
)
async def test_what_is_cut_for_the_model_is_told_in_the_record(
    value: object, cut: bool, tmp_path: Path
) -> None:
    out = await _ran(tmp_path, ("a", "{}"), tools=(gives("a", value),))
    (text,) = results(out)
    if isinstance(value, (str, list)):
        assert len(text) == 48_014 if cut else len(text) <= 48_000
        assert text.endswith("...(truncated)") is cut
    elif isinstance(value, FileContent):
        assert len(json.loads(text)["data"]) == (12_014 if cut else 12_000)
    else:
        assert len(json.loads(text)["entries"]) == 500
    (envelope,) = _envelopes(await events_of(tmp_path, out.id))
    assert envelope.ok
    assert envelope.metadata.truncated is cut


async def test_each_call_keeps_the_models_own_id_and_arguments(tmp_path: Path) -> None:
    out = await _ran(tmp_path, ("nope", "{"), ("run_code", '{"code": "1"}'))
    out.close()
    events = await events_of(tmp_path, out.id)
    asked = [one.payload for one in events if isinstance(one.payload, CallAsked)]
    assert [(one.model_call_id, one.tool, one.arguments) for one in asked] == [
        ("c1", "nope", "{"),
        ("c2", "run_code", '{"code": "1"}'),
    ]


async def test_the_grant_is_written_down(tmp_path: Path) -> None:
    out = await _ran(tmp_path, ("run_shell_command", '{"cmd": "true"}'))
    out.close()
    events = await events_of(tmp_path, out.id)
    created = events[0].payload
    assert isinstance(created, SessionCreated)
    assert created.metadata == {"flow": "loop", "sandbox": "local"}
    (intended,) = [one.payload for one in events if isinstance(one.payload, CallIntended)]
    assert "the program gave this flow session the sandbox 'local'" in intended.grounds


async def test_secrets_are_neither_shown_to_the_model_nor_kept(tmp_path: Path) -> None:
    tool = gives("tell", {"a": SECRET, "b": f"x\n{SECRET}"})
    path = tmp_path / "rows.jsonl"
    model = Scripted(asks(("tell", "{}"), ("tell", f'{{"{SECRET}')), says("done"))
    out = await run_session_loop_async(
        Session.from_user_message(f"my word is {SECRET}"),
        agent(),
        model,
        [tool],
        persist_path=path,
        **_kept(tmp_path, SECRET),
    )
    assert SECRET not in json.dumps(results(out))
    assert SECRET not in str(model.requests[1].rows[-2:])
    written = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert SECRET.encode() not in written
    assert len(read_flow_log(path).transcript.chunk_table) == len(out.chunk_table)


async def test_a_loop_needs_no_store(tmp_path: Path) -> None:
    options: SettlingOptions = {
        "settings": Settings(store=StoreSettings(kind="none")),
        "surroundings": around(tmp_path),
    }
    model = Scripted(asks(("nope", "{}"), ("a", "{}")), says("done"))
    out = await run_session_loop_async(user(), agent(), model, [gives("a", 1)], **options)
    assert results(out)[1] == "1"
    assert list(tmp_path.rglob("*.sqlite*")) == []


async def test_a_compressed_session_stands_in_the_journal_too(tmp_path: Path) -> None:
    model = Scripted(says("in short", cost=3))
    made = await run_session_compress_async(user(), agent(), model, **_kept(tmp_path))
    assert transcript_of(made.id, await events_of(tmp_path, made.id)) == made.transcript()


async def test_a_session_that_could_not_be_written_down_tells_so(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way", "utf-8")
    with pytest.raises(Exception, match="data"):
        await run_session_loop_async(user(), agent(), Scripted(says("a")), **_kept(tmp_path))
