"""A session taken up again: who ran it, what was answered meanwhile, what was given up."""

import os
import signal
import threading
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from holdfast import Answer, Ask, Holdfast, Rule, tool
from holdfast.app.holders import is_gone, lives_elsewhere, new_holder, this_process
from holdfast.app.options import Options
from holdfast.app.settings import Settings, StoreSettings, Surroundings
from holdfast.app.store import open_store
from holdfast.contract.events import (
    ApprovalAsked,
    CallAsked,
    CallSettled,
    Event,
    Payload,
    SessionCreated,
)
from holdfast.contract.journal import Journal, LeaseHeld, NotFitting
from holdfast.contract.ports import Approver
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio
ASKING = Rule(permission="save", pattern="*", action="ask", scope="session", source="test")
PLAIN = Settings()
POWER = Settings(store=StoreSettings(durability="power"))
saved: list[str] = []


@tool
async def save(text: str) -> str:
    """Save it."""
    saved.append(text)
    return "saved"


@pytest.fixture(autouse=True)
def nothing_saved() -> None:
    saved.clear()


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    return Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")


def opened(
    surroundings: Surroundings,
    session: str | None = None,
    *,
    rules: Sequence[Rule] = (ASKING,),
    approver: Approver | None = None,
    settings: Settings = PLAIN,
) -> Holdfast:
    options = Options(settings=settings, surroundings=surroundings, rules=rules, approver=approver)
    if session is not None:
        options["session"] = session
    return Holdfast(tools=[save], **options)


@asynccontextmanager
async def journal_of(surroundings: Surroundings) -> AsyncGenerator[Journal]:
    clock = SystemClock()
    journal = open_store(Settings(), surroundings, clock, TimeIds(clock)).journal
    try:
        yield journal
    finally:
        await journal.close()


async def events(surroundings: Surroundings, session_id: str) -> tuple[Event, ...]:
    async with journal_of(surroundings) as journal:
        return await journal.events(session_id)


async def left_waiting(surroundings: Surroundings, *more: Payload) -> str:
    """A session whose runner vanished while a question waited."""
    asked = ApprovalAsked(
        approval_id="apr_1",
        call_id="cal_1",
        tool="save",
        arguments_hash="of other arguments",
        reason="it asks",
    )
    call = CallAsked(call_id="cal_1", tool="save", arguments='{"text": "x"}')
    async with journal_of(surroundings) as journal:
        await journal.create("ses_1", [SessionCreated(), call, asked, *more])
    return "ses_1"


def ends(told: Sequence[Event]) -> list[str]:
    return [
        bytes(one.payload.envelope).decode() for one in told if isinstance(one.payload, CallSettled)
    ]


async def test_a_refusal_given_later_ends_the_call(surroundings: Surroundings) -> None:
    session = await left_waiting(surroundings)
    async with opened(surroundings, session) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, Answer(allowed=False, by="ada", note="not that"))
        (refused,) = await hf.resume()
        assert refused.failure is not None
        assert refused.failure.kind == "user_denied"
        assert await hf.resume() == ()
    (told,) = ends(await events(surroundings, session))
    assert "user_denied" in told
    assert saved == []


async def test_what_a_person_refused_does_not_run_when_the_rules_allow_it_since(
    surroundings: Surroundings,
) -> None:
    session = await left_waiting(surroundings)
    async with opened(surroundings, session, rules=()) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, Answer(allowed=False, by="ada"))
        (refused,) = await hf.resume()
        assert refused.failure is not None
        assert refused.failure.kind == "user_denied"
    assert saved == []


async def test_an_answer_to_other_arguments_runs_nothing_and_ends_the_call(
    surroundings: Surroundings,
) -> None:
    """The question was about other arguments than the tool would get by now."""
    session = await left_waiting(surroundings)
    async with opened(surroundings, session, approver=_at_once) as hf:
        (question,) = await hf.questions()
        await hf.answer(question, Answer(allowed=True, by="ada"))
        (told,) = await hf.resume()
        assert told.failure is not None
    assert len(ends(await events(surroundings, session))) == 1
    assert saved == []


async def test_resuming_leaves_the_calls_of_the_present_alone(surroundings: Surroundings) -> None:
    session = await left_waiting(surroundings)
    resumed: list[object] = []
    async with opened(surroundings, session, approver=_at_once) as hf:
        judge = hf._judge  # pyright: ignore[reportPrivateUsage] - where a call can be held up
        answered = judge.answered

        async def slowly(ask: Ask, answer: Answer | None) -> object:
            resumed.extend(await hf.resume())
            return await answered(ask, answer)

        judge.answered = slowly  # pyright: ignore[reportAttributeAccessIssue] - as above
        assert (await hf.settle("save", {"text": "now"})).ok
    assert resumed == []
    assert saved == ["now"]


async def test_two_who_resume_at_once_run_it_once(surroundings: Surroundings) -> None:
    envelopes: list[bool] = []
    copied: tuple[Event, ...] = ()
    async with opened(surroundings, approver=_forever) as hf:
        session = hf.session_id
        async with anyio.create_task_group() as group:
            group.start_soon(hf.settle, "save", {"text": "x"})
            while not await hf.questions():  # noqa: ASYNC110 - until it stands in the journal
                await anyio.sleep(0.005)
            copied = await events(surroundings, session)
            group.cancel_scope.cancel()
    async with journal_of(surroundings) as journal:
        await journal.create("ses_2", [one.payload for one in copied])
    async with opened(surroundings, "ses_2") as hf:
        (question,) = await hf.questions()
        await hf.answer(question, Answer(allowed=True, by="ada"))
        with pytest.raises(NotFitting, match="already recorded"):
            await hf.answer(question, Answer(allowed=True, by="bob"))

        async def resume() -> None:
            envelopes.extend(one.ok for one in await hf.resume())

        async with anyio.create_task_group() as group:
            group.start_soon(resume)
            group.start_soon(resume)
    assert envelopes == [True]
    assert saved == ["x"]


async def _at_once(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="ada")


async def _forever(_ask: Ask) -> Answer:
    await anyio.sleep_forever()
    raise AssertionError


async def test_a_call_given_up_at_any_moment_is_told_once_and_has_one_end(
    surroundings: Surroundings,
) -> None:
    """Writes take a thread and a while: a call can be given up in the middle of one."""
    async with opened(surroundings, rules=(), settings=POWER) as hf:
        for number in range(60):
            with anyio.move_on_after(number * 0.0001):
                await hf.settle("save", {"text": f"{number}"})
        assert (await hf.settle("save", {"text": "last"})).ok
        session = hf.session_id
    told = await events(surroundings, session)
    asked = [one.payload.call_id for one in told if isinstance(one.payload, CallAsked)]
    settled = [one.payload.call_id for one in told if isinstance(one.payload, CallSettled)]
    assert len(asked) == len(set(asked))
    assert sorted(asked) == sorted(settled)


async def test_giving_up_the_first_call_leaves_the_session_usable(
    surroundings: Surroundings,
) -> None:
    for number in range(12):
        async with opened(surroundings, rules=(), settings=POWER) as hf:
            with anyio.move_on_after(number * 0.002):
                await hf.settle("save", {"text": "first"})
            after = await hf.settle("save", {"text": "second"})
            assert after.ok, after.failure


def journal_threads() -> int:
    return sum(one.name.startswith("holdfast") for one in threading.enumerate())


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_session_that_cannot_be_taken_up_leaves_nothing_open(
    surroundings: Surroundings,
) -> None:
    async with opened(surroundings, rules=()) as hf:
        assert (await hf.settle("save", {"text": "x"})).ok
        counted: list[tuple[int, int]] = []
        for _ in range(4):
            with pytest.raises(LeaseHeld, match="is run by"):
                async with opened(surroundings, hf.session_id):
                    pass
            counted.append((journal_threads(), open_files()))
        assert len(set(counted)) == 1, counted


async def test_one_opened_again_leaves_the_session_to_another_of_the_same_process(
    surroundings: Surroundings,
) -> None:
    hf = opened(surroundings, rules=())
    async with hf:
        assert (await hf.settle("save", {"text": "first"})).ok
    async with opened(surroundings, hf.session_id, rules=()) as other:
        async with hf:
            refused = await hf.settle("save", {"text": "second"})
            assert refused.failure is not None
            assert "is run by" in refused.failure.message
        assert (await other.settle("save", {"text": "third"})).ok
    assert saved == ["first", "third"]


def test_no_two_holders_of_a_process_have_one_name() -> None:
    first, second = new_holder(), new_holder()
    assert first != second
    assert not is_gone(first)
    assert all(one.startswith(f"{this_process()}-") for one in (first, second))


def test_whoever_has_other_numbers_of_processes_is_not_known_to_be_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = this_process().rpartition("/")[0] + "/999999999-1"
    assert is_gone(there)
    monkeypatch.setattr("holdfast.app.holders._NUMBERS", "/proc/self/ns/net")
    assert not is_gone(there), "the same number means another process here, or none"
    monkeypatch.setattr("holdfast.app.holders._NUMBERS", "/nowhere")
    assert this_process().rpartition("/")[0] == os.uname().nodename


@pytest.mark.parametrize("naming", [this_process, new_holder])
def test_a_killed_process_is_gone_before_anybody_asked_how_it_ended(
    naming: Callable[[], str],
) -> None:
    read, write = os.pipe()
    number = os.fork()
    if number == 0:
        os.write(write, naming().encode())
        signal.pause()
    holder = os.read(read, 200).decode()
    assert not is_gone(holder)
    assert lives_elsewhere(holder)
    assert not lives_elsewhere(naming()), "it is this very process"
    os.kill(number, signal.SIGKILL)
    until = time.monotonic() + 5
    while not is_gone(holder):
        assert time.monotonic() < until
        time.sleep(0.01)
    os.waitpid(number, 0)
    assert is_gone(holder)
    assert not lives_elsewhere(holder)
    for one in (read, write):
        os.close(one)
