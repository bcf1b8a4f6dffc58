"""Calls leave their trail: what stands in the journal, when, and what happens when it cannot."""

import json
import sqlite3
from pathlib import Path

import anyio
import msgspec
import pytest
from app.recorded import (
    LAUNCHED,
    SECRET,
    YES,
    around,
    events_of,
    kinds,
    opened,
    unwilling,
    willing,
)

from holdfast import ConfigurationError, Holdfast, Rule, tool
from holdfast.app.settings import (
    LimitSettings,
    Settings,
    StoreSettings,
    ToolLimitSettings,
)
from holdfast.app.store import known_key
from holdfast.contract.call import Ask
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    ApprovalAnswered,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    SidecarKept,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.ports import Answer
from holdfast.envelope.dialects import ok


@pytest.fixture(autouse=True)
def nothing_launched() -> None:
    LAUNCHED.clear()


async def test_a_call_is_asked_intended_and_settled(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        envelope = await hf.settle("add", '{"a": 1, "b": "2"}', model_call_id="toolu_1")
        session = hf.session_id
    created, asked, intended, settled, closed = await events_of(tmp_path, session)
    assert kinds((created, closed)) == ["session.created", "session.closed"]
    assert asked.payload == CallAsked(
        call_id=envelope.call_id or "",
        model_call_id="toolu_1",
        tool="add",
        arguments='{"a": 1, "b": "2"}',
    )
    assert isinstance(intended.payload, CallIntended)
    assert [repair.repair for repair in intended.payload.repairs] == ["integer_from_text"]
    assert isinstance(settled.payload, CallSettled)
    kept = ok.parse(bytes(settled.payload.envelope).decode())
    assert msgspec.structs.replace(kept, call_id=envelope.call_id) == envelope


async def test_what_is_refused_before_it_could_run_is_written_down_too(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        for name, arguments in (("nothing", "{}"), ("add", '{"a": 1'), ("add", {"a": object()})):
            await hf.settle(name, arguments)
        session = hf.session_id
    events = (await events_of(tmp_path, session))[1:-1]
    assert kinds(events) == 3 * ["call.asked", "call.settled"]


async def test_the_intent_stands_in_the_journal_before_the_body_begins(tmp_path: Path) -> None:
    seen: list[str] = []

    @tool
    async def look() -> None:
        """Look into the journal."""
        connection = sqlite3.connect(tmp_path / "data" / "holdfast.db")
        rows = connection.execute("SELECT type FROM events ORDER BY place").fetchall()
        seen.extend(row[0] for row in rows)
        connection.close()

    async with Holdfast(tools=[look], settings=Settings(), surroundings=around(tmp_path)) as hf:
        assert (await hf.settle("look")).ok
    assert seen == ["session.created", "call.asked", "call.intended"]


async def test_a_question_and_its_answer_stand_around_it(tmp_path: Path) -> None:
    ids: list[str | None] = []

    async def asked(ask: Ask) -> Answer | None:
        ids.append(ask.approval_id)
        return YES

    async with opened(tmp_path, approver=asked) as hf:
        assert (await hf.settle("launch", {"name": "rocket"})).ok
        session = hf.session_id
    events = (await events_of(tmp_path, session))[1:-1]
    assert kinds(events) == [
        *("call.asked", "approval.asked", "approval.answered"),
        *("call.intended", "call.settled"),
    ]
    answered = events[2].payload
    assert isinstance(answered, ApprovalAnswered)
    assert (answered.allowed, answered.by, answered.note) == (True, "ada", "go on")
    assert [answered.approval_id] == ids
    intended = events[3].payload
    assert isinstance(intended, CallIntended)
    assert intended.grounds == "approved by ada"
    assert intended.arguments_hash == events[1].payload.arguments_hash  # type: ignore[attr-defined] - an ApprovalAsked


async def test_what_may_not_run_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with opened(tmp_path, approver=unwilling) as hf:
        await hf.settle("launch", {"name": "rocket"})
        session = hf.session_id
    events = (await events_of(tmp_path, session))[1:-1]
    assert kinds(events) == [
        *("call.asked", "approval.asked", "approval.answered"),
        *("call.refused", "call.settled"),
    ]
    refused = events[3].payload
    assert isinstance(refused, CallRefused)
    assert refused.kind == "user_denied"
    assert "not today" in refused.reason
    assert LAUNCHED == []


async def test_where_nobody_is_there_that_is_written_down(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        await hf.settle("launch", {"name": "rocket"})
        session = hf.session_id
    events = (await events_of(tmp_path, session))[1:-1]
    assert kinds(events) == ["call.asked", "call.refused", "call.settled"]


async def test_output_that_was_kept_elsewhere_is_named(tmp_path: Path) -> None:
    small = Settings(limits=LimitSettings(tool={"pages": ToolLimitSettings(max_bytes=100)}))
    async with opened(tmp_path, settings=small) as hf:
        envelope = await hf.settle("pages")
        session = hf.session_id
    kept = (await events_of(tmp_path, session))[3].payload
    assert kept == SidecarKept(
        call_id=envelope.call_id or "",
        path=envelope.metadata.output_path or "",
        stored_bytes=5000,
    )


async def test_secrets_never_reach_the_journal(tmp_path: Path) -> None:
    async def telling(_ask: Ask) -> Answer | None:
        return Answer(allowed=True, by="ada", note=f"the word is {SECRET}")

    async with opened(tmp_path, SECRET, approver=telling) as hf:
        await hf.settle("launch", {"name": SECRET})
        await hf.settle(f"tool-{SECRET}", SECRET)
        await hf.settle("add", f'{{"a": "{SECRET}"')
        await hf.settle("add", {"a": 1, "b": 2}, model_call_id=f"call-{SECRET}")
    assert LAUNCHED == [SECRET]
    for path in (tmp_path / "data").rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("written", [r"\u0065", r"\u0065".upper().replace("U", "u")])
async def test_a_secret_in_another_spelling_is_not_told_either(
    tmp_path: Path, written: str
) -> None:
    spelt = SECRET[:-1] + written
    inner = json.dumps({"name": SECRET}).replace(SECRET, spelt)
    async with opened(tmp_path, SECRET, approver=willing) as hf:
        await hf.settle("launch", inner)
        await hf.settle("launch", json.dumps(inner))
    assert LAUNCHED == [SECRET, SECRET]
    asked = [one.payload for one in await events_of(tmp_path, hf.session_id)]
    told = [one.arguments for one in asked if isinstance(one, CallAsked)]
    assert told[0] == '{"name":"***REDACTED***"}'
    assert json.loads(told[1]) == told[0]


@tool(requires={"fs": {"read": ["**"]}}, uses={"path": "fs.read"})
async def look(path: str) -> str:
    """Look at a file."""
    return path


@pytest.mark.parametrize("allowed", [True, False])
async def test_what_is_told_of_a_decision_holds_no_secret(tmp_path: Path, allowed: bool) -> None:
    async def decide(_ask: Ask) -> Answer | None:
        return Answer(allowed=allowed, by=f"ada {SECRET}", note=SECRET)

    ask = Rule(
        permission="look",
        pattern="*",
        action="ask",
        scope="manifest",
        source="here",
        reason=f"see {SECRET}",
    )
    workspace = tmp_path / "here"
    workspace.mkdir()
    async with Holdfast(
        tools=[look],
        approver=decide,
        rules=[ask],
        workspace=workspace,
        settings=Settings(),
        surroundings=around(tmp_path, SECRET),
    ) as hf:
        assert (await hf.settle("look", {"path": f"a/{SECRET}.txt"})).ok is allowed
    kinds = [one.type for one in await events_of(tmp_path, hf.session_id)]
    assert {"approval.asked", "call.intended" if allowed else "call.refused"} <= {*kinds}
    for path in (tmp_path / "data").rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


async def test_a_call_that_cannot_be_written_down_is_not_run(tmp_path: Path) -> None:
    async with opened(tmp_path, approver=willing) as hf:
        await hf.settle("add", {"a": 1, "b": 2})
        other = sqlite3.connect(tmp_path / "data" / "holdfast.db", isolation_level=None)
        other.execute("ALTER TABLE events RENAME TO hidden")
        failed = await hf.settle("launch", {"name": "rocket"})
        other.execute("ALTER TABLE hidden RENAME TO events")
        other.close()
        assert failed.failure is not None
        assert failed.failure.kind is FailureKind.UNAVAILABLE
        assert "was not asked about: it cannot be written down" in failed.failure.message
        assert LAUNCHED == []
        assert (await hf.settle("launch", {"name": "rocket"})).ok


async def test_an_answer_that_cannot_be_written_down_any_more_says_so(tmp_path: Path) -> None:
    other = sqlite3.connect(":memory:")

    @tool
    async def sabotage() -> str:
        """Break the journal."""
        nonlocal other
        other = sqlite3.connect(tmp_path / "data" / "holdfast.db", isolation_level=None)
        other.execute("ALTER TABLE events RENAME TO hidden")
        return "done"

    async with Holdfast(tools=[sabotage], settings=Settings(), surroundings=around(tmp_path)) as hf:
        envelope = await hf.settle("sabotage")
        other.execute("ALTER TABLE hidden RENAME TO events")
        other.close()
    assert envelope.result == {"text": "done"}
    assert "This answer could not be written down" in envelope.warnings[-1]


async def test_a_caller_that_goes_away_leaves_a_call_that_was_cancelled(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        with anyio.move_on_after(0.2):
            await hf.settle("forever")
        session = hf.session_id
    events = (await events_of(tmp_path, session))[1:-1]
    assert kinds(events) == ["call.asked", "call.intended", "call.settled"]
    settled = events[-1].payload
    assert isinstance(settled, CallSettled)
    assert b"was cancelled" in bytes(settled.envelope)


async def test_a_body_that_raises_is_settled(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        await hf.settle("broken")
        session = hf.session_id
    assert kinds(await events_of(tmp_path, session))[-2] == "call.settled"


async def test_many_calls_at_once_are_all_written_down(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(hf.settle, "add", {"a": number, "b": 1})
        session = hf.session_id
    found = kinds(await events_of(tmp_path, session))
    assert found.count("call.settled") == found.count("call.intended") == 50
    assert found[-1] == "session.closed"


async def test_nothing_is_written_down_where_that_is_wanted(tmp_path: Path) -> None:
    none = Settings(store=StoreSettings(kind="none"))
    async with opened(tmp_path, settings=none) as hf:
        assert (await hf.settle("add", {"a": 1, "b": 2})).ok
        with pytest.raises(RuntimeError, match="none"):
            await hf.questions()
    assert not (tmp_path / "data" / "holdfast.db").exists()
    with pytest.raises(ConfigurationError, match=r"cannot go on.*leave session= out"):
        opened(tmp_path, settings=none, session="ses_1")


async def test_nothing_is_made_before_there_is_something_to_write(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    assert not (tmp_path / "data").exists()


async def test_the_same_one_opened_again_goes_on_with_its_session(tmp_path: Path) -> None:
    hf = opened(tmp_path)
    for _ in range(2):
        async with hf:
            assert (await hf.settle("add", {"a": 1, "b": 2})).ok
    assert kinds(await events_of(tmp_path, hf.session_id)).count("call.settled") == 2


async def test_the_key_is_made_once_for_its_owner_and_is_not_beside_the_journal(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        async with opened(tmp_path) as hf:
            await hf.settle("add", {"a": 1, "b": 2})
    key = tmp_path / "state" / "journal.key"
    assert len(key.read_bytes()) == 32
    assert key.stat().st_mode & 0o777 == 0o600
    assert known_key(tmp_path / "state") == key.read_bytes()
    assert all(
        key.read_bytes() not in path.read_bytes()
        for path in (tmp_path / "data").rglob("*")
        if path.is_file()
    )
    key.write_bytes(b"short")
    async with opened(tmp_path) as hf:
        envelope: Envelope = await hf.settle("add", {"a": 1, "b": 2})
    assert envelope.failure is not None
    assert "is not a key: it must be 32 bytes" in envelope.failure.message
    key.unlink()
    with pytest.raises(JournalUnavailable, match="is not there"):
        known_key(tmp_path / "state")


async def test_an_end_that_cannot_be_written_down_harms_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = sqlite3.connect(":memory:")
    async with opened(tmp_path) as hf:
        assert (await hf.settle("add", {"a": 1, "b": 2})).ok
        other = sqlite3.connect(tmp_path / "data" / "holdfast.db", isolation_level=None)
        other.execute("ALTER TABLE events RENAME TO hidden")
    other.close()
    assert f"the end of session {hf.session_id} was not written down" in caplog.text
