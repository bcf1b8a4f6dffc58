"""Calls leave their trail: what stands in the journal, when, and what happens when it cannot."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from holdfast import Holdfast, tool
from holdfast.app.settings import (
    LimitSettings,
    Settings,
    StoreSettings,
    Surroundings,
    ToolLimitSettings,
)
from holdfast.app.store import known_key, open_store
from holdfast.contract.call import Ask
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import (
    ApprovalAnswered,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Event,
    SidecarKept,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import Journal, JournalUnavailable, LeaseHeld, NotFitting
from holdfast.contract.ports import Answer
from holdfast.envelope.dialects import ok
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

YES = Answer(allowed=True, by="ada", note="go on")
SECRET = "s3cr3t-of-the-house"


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def pages() -> str:
    """Write much."""
    return "page\n" * 1000


@tool(permission_policy="always_ask")
async def launch(name: str) -> str:
    """Launch something."""
    LAUNCHED.append(name)
    return f"{name} is on its way"


@tool
async def broken() -> None:
    """Fail."""
    raise ValueError("it broke")


@tool
async def forever() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


LAUNCHED: list[str] = []


@pytest.fixture(autouse=True)
def nothing_launched() -> None:
    LAUNCHED.clear()


async def willing(_ask: Ask) -> Answer | None:
    return YES


async def unwilling(_ask: Ask) -> Answer | None:
    return Answer(allowed=False, by="ada", note="not today")


def around(root: Path, *secrets: str) -> Surroundings:
    return Surroundings(data_home=root / "data", state_home=root / "state", secrets=secrets)


@asynccontextmanager
async def journal_of(root: Path) -> AsyncGenerator[Journal]:
    clock = SystemClock()
    journal = open_store(Settings(), around(root), clock, TimeIds(clock)).journal
    try:
        yield journal
    finally:
        await journal.close()


async def events_of(root: Path, session_id: str) -> tuple[Event, ...]:
    async with journal_of(root) as journal:
        return await journal.events(session_id)


def kinds(events: tuple[Event, ...]) -> list[str]:
    return [event.type for event in events]


def opened(root: Path, *secrets: str, **options: object) -> Holdfast:
    tools = [add, pages, launch, broken, forever]
    chosen = {"settings": Settings(), "surroundings": around(root, *secrets), **options}
    return Holdfast(tools=tools, **chosen)  # type: ignore[arg-type] - options of the tests


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
        rows = connection.execute("SELECT type FROM events ORDER BY sequence").fetchall()
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
    assert LAUNCHED == [SECRET]
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
    with pytest.raises(TypeError, match="cannot go on with a session"):
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


RUNNER = """
import sys
from pathlib import Path
import anyio
from app.test_recording import opened

async def never(ask):
    print("asked", flush=True)
    await anyio.sleep_forever()

async def main(root):
    async with opened(Path(root), approver=never) as hf:
        print(hf.session_id, flush=True)
        async with anyio.create_task_group() as group:
            group.start_soon(hf.settle, "forever")
            await anyio.sleep(0.2)
            group.start_soon(hf.settle, "launch", {"name": "rocket"})

anyio.run(main, sys.argv[1])
"""


def _killed_runner(root: Path) -> str:
    """A session whose runner was killed while one call ran and another waited for a person."""
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(root)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert runner.stdout is not None
    session = runner.stdout.readline().decode().strip()
    assert runner.stdout.readline() == b"asked\n"
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    runner.stdout.close()
    return session


@pytest.mark.req("SPEC-REC-18", "SPEC-REC-19", "SPEC-REC-20")
async def test_after_a_kill_open_calls_are_closed_and_questions_stay_open(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    async with opened(tmp_path, session=session) as hf:
        (question,) = await hf.questions()
        assert (question.tool, LAUNCHED) == ("launch", [])
        assert await hf.resume() == ()
    async with journal_of(tmp_path) as journal:
        state = (await journal.session(session)).state
        assert [call.stage for call in state.calls.values()] == ["waiting"]
        aborted = [
            event.payload
            for event in await journal.events(session)
            if isinstance(event.payload, CallSettled)
        ]
    (settled,) = aborted
    assert settled.tool == "forever"
    failure = ok.parse(bytes(settled.envelope).decode()).failure
    assert failure is not None
    assert (failure.message, failure.retryable) == ("aborted by host restart", False)
    # Somebody answers; then the process ends before anything came of it.
    async with opened(tmp_path, session=session) as hf:
        await hf.answer(question, YES)
        with pytest.raises(NotFitting, match="already recorded an answer"):
            await hf.answer(question, YES)
        assert await hf.questions() == ()
    async with opened(tmp_path, session=session) as hf:
        (envelope,) = await hf.resume()
        assert envelope.result == {"text": "rocket is on its way"}
        assert envelope.call_id == question.call_id
        assert await hf.resume() == ()
    assert LAUNCHED == ["rocket"]
    kept = [event.payload for event in await events_of(tmp_path, session)]
    intents = [one for one in kept if isinstance(one, CallIntended) and one.tool == "launch"]
    assert [intent.grounds for intent in intents] == ["approved by ada"]


async def test_an_answer_that_was_no_lets_nothing_run(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    async with opened(tmp_path, session=session) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, Answer(allowed=False, by="ada"))
        assert await hf.resume() == ()
    async with opened(tmp_path, session=session) as hf:
        assert await hf.resume() == ()
    async with journal_of(tmp_path) as journal:
        assert (await journal.session(session)).state.calls == {}
    assert LAUNCHED == []


async def test_a_call_that_is_not_the_one_that_was_allowed_is_asked_about_again(
    tmp_path: Path,
) -> None:
    session = _killed_runner(tmp_path)
    async with opened(tmp_path, session=session) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, YES)
    path = tmp_path / "data" / "holdfast.db"
    connection = sqlite3.connect(path)
    connection.execute(
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'rocket', 'trojan') AS BLOB)"
        " WHERE type = 'call.asked'"
    )
    connection.commit()
    connection.close()
    async with opened(tmp_path, session=session) as hf:
        (envelope,) = await hf.resume()
    assert not envelope.ok
    assert LAUNCHED == []


async def test_a_session_that_somebody_runs_is_not_taken_from_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as hf:
        await hf.settle("add", {"a": 1, "b": 2})
        with pytest.raises(LeaseHeld, match=f"session {hf.session_id} is run by "):
            async with opened(tmp_path, session=hf.session_id):
                pass
        assert (await hf.settle("add", {"a": 1, "b": 2})).ok


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
