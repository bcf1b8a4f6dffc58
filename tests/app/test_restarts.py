"""Taking up a session whose runner was killed: closed, still open, or run once."""

import re
import signal
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from app.recorded import (
    LAUNCHED,
    YES,
    add,
    around,
    events_of,
    journal_of,
    opened,
    store_of,
)
from this_tree import this_tree

from holdfast import ConfigurationError, Holdfast, answer_question, open_questions, tool
from holdfast.app.any_session import StoreOptions
from holdfast.app.settings import Settings
from holdfast.contract.call import Ask
from holdfast.contract.events import (
    CallIntended,
    CallRefused,
    CallSettled,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import LeaseHeld, NotFitting
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.envelope.dialects import ok
from holdfast.runtime.abort import Abort


@pytest.fixture(autouse=True)
def nothing_launched() -> None:
    LAUNCHED.clear()


RUNNER = """
import sys
from pathlib import Path
import anyio
from app.recorded import opened

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
        env=this_tree(),
    )
    assert runner.stdout is not None
    session = runner.stdout.readline().decode().strip()
    assert runner.stdout.readline() == b"asked\n"
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    runner.stdout.close()
    return session


@pytest.mark.req("SPEC-REC-18", "SPEC-REC-20")
async def test_after_a_kill_open_calls_are_closed_and_questions_stay_open(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    async with opened(tmp_path, session=session) as hf:
        (question,) = await hf.questions()
        assert (question.tool, LAUNCHED) == ("launch", [])
        assert await hf.resume() == ()
        (owed,) = hf.owed
        assert (owed.tool, owed.ok) == ("forever", False)
    async with store_of(tmp_path) as (journal, archive, *_):
        state = (await journal.session(session)).state
        assert [call.stage for call in state.calls.values()] == ["waiting"]
        aborted = [
            event.payload
            for event in await journal.events(session)
            if isinstance(event.payload, CallSettled)
        ]
        rows = [part for message in await archive.messages(session) for part in message.parts]
    assert [part.tool_state for part in rows] == ["output-error", "approval-requested"]
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
        (envelope,) = await hf.resume()
        assert envelope.failure is not None
        assert envelope.failure.kind is FailureKind.USER_DENIED
    async with opened(tmp_path, session=session) as hf:
        assert await hf.resume() == ()
    async with journal_of(tmp_path) as journal:
        assert (await journal.session(session)).state.calls == {}
    assert LAUNCHED == []


async def test_a_no_that_was_given_while_nobody_ran_the_session_is_kept(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    where = StoreOptions(settings=Settings(), surroundings=around(tmp_path))
    (question,) = await open_questions(session, **where)
    no = Answer(allowed=False, by="ada", note="not today")
    await answer_question(session, question.approval_id, no, **where)
    async with opened(tmp_path, session=session) as hf:
        assert [owed.tool for owed in hf.owed] == ["forever", "launch"]
        refused = hf.owed[1]
        assert await hf.resume() == ()
    assert refused.failure is not None
    assert refused.failure.kind is FailureKind.USER_DENIED
    assert "not today" in refused.failure.message
    assert refused.failure.extras == {"note": "not today"}
    kept = [event.payload for event in await events_of(tmp_path, session)]
    assert [one.kind for one in kept if isinstance(one, CallRefused)] == ["user_denied"]
    async with opened(tmp_path, session=session) as hf:
        assert (hf.owed, await hf.resume()) == ((), ())
    assert LAUNCHED == []


async def test_what_an_import_tells_of_answers_allows_nothing(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    where = StoreOptions(settings=Settings(), surroundings=around(tmp_path))
    (question,) = await open_questions(session, **where)
    yes = Answer(allowed=True, by="ada", remember="project")
    await answer_question(session, question.approval_id, yes, **where)
    elsewhere = tmp_path / "elsewhere"
    async with store_of(elsewhere) as store:
        await store.archive.restore(session, await events_of(tmp_path, session))
    async with opened(elsewhere, session=session) as hf:
        assert [(owed.tool, owed.ok) for owed in hf.owed] == [("forever", False), ("launch", False)]
        assert await hf.resume() == ()
    assert LAUNCHED == []
    assert not (elsewhere / "state" / "grants").exists()
    async with opened(tmp_path, session=session) as hf:
        assert [one.ok for one in await hf.resume()] == [True]
    assert LAUNCHED == ["rocket"]


async def test_a_question_of_an_import_can_be_answered(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    async with store_of(elsewhere) as store:
        await store.archive.restore(session, await events_of(tmp_path, session))
    async with opened(elsewhere, session=session) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, YES)
        assert [one.ok for one in await hf.resume()] == [True]
    assert LAUNCHED == ["rocket"]


async def test_a_call_that_waits_for_an_answer_ends_with_its_holdfast_whatever_its_abort(
    tmp_path: Path,
) -> None:
    asked = anyio.Event()

    async def never(_ask: Ask) -> Answer | None:
        asked.set()
        await anyio.sleep_forever()
        return None

    hf = opened(tmp_path, approver=never)
    waiting: list[Question] = []
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group, hf:
            group.start_soon(partial(hf.settle, "launch", {"name": "rocket"}, abort=Abort()))
            await asked.wait()
            waiting += await hf.questions()
    where = StoreOptions(settings=Settings(), surroundings=around(tmp_path))
    with pytest.raises(NotFitting):
        await answer_question(hf.session_id, waiting[0].approval_id, YES, **where)
    assert LAUNCHED == []
    async with journal_of(tmp_path) as journal:
        session = await journal.session(hf.session_id)
    assert (session.lease, session.state.status) == (None, "terminated")


@pytest.mark.parametrize("abort", [None, Abort()])
async def test_a_call_that_ends_while_its_holdfast_closes_is_written_down(
    tmp_path: Path, abort: Abort | None
) -> None:
    begun = anyio.Event()

    @tool(interrupt_behavior="cancel")
    async def tidy() -> None:
        """Tidy up, once it is stopped."""
        try:
            begun.set()
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.1)

    hf = Holdfast(tools=[tidy], settings=Settings(), surroundings=around(tmp_path))
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group, hf:
            group.start_soon(partial(hf.settle, "tidy", abort=abort))
            await begun.wait()
    kinds = [event.type for event in await events_of(tmp_path, hf.session_id)]
    assert kinds[-2:] == ["call.settled", "session.closed"]


async def test_what_was_allowed_waits_for_its_tool(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    async with opened(tmp_path, session=session) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, YES)
    async with Holdfast(
        tools=[add], settings=Settings(), surroundings=around(tmp_path), session=session
    ) as hf:
        with pytest.raises(ConfigurationError, match="no such tool here: open the session with it"):
            await hf.resume()
    async with opened(tmp_path, session=session) as hf:
        assert [one.ok for one in await hf.resume()] == [True]
    assert LAUNCHED == ["rocket"]


async def test_what_was_allowed_in_one_workspace_does_not_run_in_another(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session = _killed_runner(tmp_path)
    told = f"session {session} was begun in no workspace and is taken up in {tmp_path.resolve()}: "
    async with opened(tmp_path, session=session, workspace=tmp_path) as hf:
        assert told in caplog.text
        assert hf.remarks[0].startswith(told)
        assert (await hf.settle("add", {"a": 1, "b": 2})).ok
        (question,) = await hf.questions()
        await hf.answer(question, YES)
        with pytest.raises(ConfigurationError, match=f"{told}.* open it without workspace="):
            await hf.resume()
    assert LAUNCHED == []
    caplog.clear()
    async with opened(tmp_path, session=session) as hf:
        assert not any("was begun in" in remark for remark in hf.remarks)
        assert [one.ok for one in await hf.resume()] == [True]
    assert (LAUNCHED, caplog.text) == (["rocket"], "")


async def test_what_was_refused_is_refused_in_any_workspace(tmp_path: Path) -> None:
    session = _killed_runner(tmp_path)
    async with opened(tmp_path, session=session, workspace=tmp_path) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, Answer(allowed=False, by="ada"))
        assert [one.ok for one in await hf.resume()] == [False]


async def test_the_workspace_a_session_was_begun_in_is_named(tmp_path: Path) -> None:
    async with opened(tmp_path, workspace=tmp_path) as hf:
        await hf.settle("add", {"a": 1, "b": 2})
    wanted = f"taken up in no workspace: .* with workspace='{tmp_path.resolve()}' for that"
    async with opened(tmp_path, session=hf.session_id) as again:
        assert re.search(wanted, again.remarks[0])


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
        told = (
            rf"session {hf.session_id} is run by .*; close that first, .* holdfast sessions answer"
        )
        with pytest.raises(LeaseHeld, match=told):
            async with opened(tmp_path, session=hf.session_id):
                pass
        assert (await hf.settle("add", {"a": 1, "b": 2})).ok
