"""Whom a call asks: what is written down first, which reply counts, what faults of a store do."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import anyio
import pytest
from msgspec import Raw
from runtime.shaky_journal import Shaky, kinds, log_on

from holdfast.contract.errors import Cancelled, OperationFailed, PolicyDenied, Unavailable
from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    Event,
    InquiryAnswered,
    Payload,
)
from holdfast.contract.journal import EventQuery, JournalUnavailable
from holdfast.contract.person import Asker, Inquiry, PersonQuestion, Replies
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.envelope.redact import Redactor
from holdfast.runtime.abort import Abort
from holdfast.runtime.people import LOOK_SECONDS, NOBODY, People
from holdfast.runtime.session_log import SessionLog
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock, FakeProgress

pytestmark = pytest.mark.anyio

WHICH = (PersonQuestion("Which?"),)
MINE = Replies(answers=(("mine",),), by="ada")
THEIRS = InquiryAnswered(call_id="cal_1", answers=(("theirs",),), by="bob")
SETTLED = CallSettled(call_id="cal_1", tool="question", envelope=Raw(b'{"ok":false}'))
CALL = Runtime(
    call_id="cal_1",
    tool="question",
    session=SessionFacts(id="ses_1"),
    progress=FakeProgress(),
    abort=Abort(),
)


class Forgetful(Shaky):
    """It cannot be read as often as it is told."""

    unreadable = 0

    async def find(self, session_id: str, query: EventQuery, /) -> tuple[Event, ...]:
        if self.unreadable:
            self.unreadable -= 1
            raise JournalUnavailable("the disk is away")
        return await super().find(session_id, query)


@pytest.fixture
async def journal() -> AsyncGenerator[Forgetful]:
    made = Forgetful(FakeClock())
    yield made
    await FakeJournal.close(made)


@pytest.fixture
async def log(journal: Forgetful) -> SessionLog:
    """Of a session one call of which has begun."""
    made = log_on(journal, FakeClock())
    asked = CallAsked(call_id="cal_1", tool="question", arguments="{}")
    begun = CallIntended(call_id="cal_1", tool="question", arguments_hash="a", grounds="")
    await made.append([asked, begun])
    return made


def people(asker: Asker | None, log: SessionLog | None = None, *secrets: str) -> People:
    return People(asker, log, Redactor(secrets), FakeClock())


async def mine(_inquiry: Inquiry) -> Replies | None:
    return MINE


async def never(_inquiry: Inquiry) -> Replies | None:
    await anyio.sleep_forever()


async def answers(journal: FakeJournal) -> list[InquiryAnswered]:
    told = [one.payload for one in await journal.events("ses_1")]
    return [one for one in told if isinstance(one, InquiryAnswered)]


async def test_a_reply_counts_once_it_is_written_down(journal: Forgetful, log: SessionLog) -> None:
    assert await people(mine, log).of(CALL).ask(WHICH, lasting=True) == MINE
    assert (await kinds(journal))[-2:] == ["inquiry.asked", "inquiry.answered"]
    assert [one.by for one in await answers(journal)] == ["ada"]


async def test_secrets_are_in_neither_question_nor_reply_of_the_journal(
    journal: Forgetful, log: SessionLog
) -> None:
    secret = "s3cr3t-of-the-house"

    async def tells(_inquiry: Inquiry) -> Replies | None:
        return Replies(answers=((f"it is {secret}",),), by=secret)

    question = PersonQuestion(f"Is it {secret}?")
    told = await people(tells, log, secret).of(CALL).ask([question], lasting=True)
    assert told.answers == ((f"it is {secret}",),)
    written = str([one.payload for one in await journal.events("ses_1")])
    assert secret not in written
    assert written.count("it is ***REDACTED***") == 1


async def test_what_need_not_last_is_not_written_down(journal: Forgetful, log: SessionLog) -> None:
    assert await people(mine, log).of(CALL).ask(WHICH) == MINE
    assert "inquiry.asked" not in await kinds(journal)


async def test_nobody_there_is_a_refusal_and_a_reply_of_before_counts_once() -> None:
    nobody = people(None)
    nobody.begun_anew("cal_1", MINE)
    assert await nobody.of(CALL).ask(WHICH) == MINE
    with pytest.raises(PolicyDenied):
        await nobody.of(CALL).ask(WHICH)


async def test_who_declines_has_skipped() -> None:
    async def declines(_inquiry: Inquiry) -> Replies | None:
        return None

    told = await people(declines).of(CALL).ask(WHICH)
    assert told == Replies(answers=((),), skipped=True, by=NOBODY)


async def test_what_is_no_reply_is_an_error_of_the_asker(log: SessionLog) -> None:
    async def yes(_inquiry: Inquiry) -> object:
        return "yes"

    wrong: Callable[[Inquiry], Awaitable[object]] = yes
    asks = people(wrong, log).of(CALL)  # pyright: ignore[reportArgumentType] - as a host may
    with pytest.raises(TypeError, match="the asker gave a str, and not Replies or None"):
        await asks.ask(WHICH)
    with pytest.raises(
        OperationFailed, match="could not be asked: TypeError: the asker gave a str"
    ):
        await asks.ask(WHICH, lasting=True)


async def test_answers_that_fit_no_question_are_an_error_of_the_asker(log: SessionLog) -> None:
    async def two(_inquiry: Inquiry) -> Replies | None:
        return Replies(answers=(("a", "b"),), by="ada")

    with pytest.raises(OperationFailed, match="reply does not fit: question 1 takes exactly one"):
        await people(two, log).of(CALL).ask(WHICH, lasting=True)


async def test_a_question_that_cannot_be_written_down_is_put_to_nobody(
    journal: Forgetful, log: SessionLog
) -> None:
    asked: list[Inquiry] = []

    async def keeps(inquiry: Inquiry) -> Replies | None:
        asked.append(inquiry)
        return MINE

    journal.fails["append"] = ["before"]
    with pytest.raises(Unavailable, match=r"Nobody was asked: .*the disk is full"):
        await people(keeps, log).of(CALL).ask(WHICH, lasting=True)
    assert asked == []


async def test_a_reply_that_cannot_be_written_down_does_not_count(
    journal: Forgetful, log: SessionLog
) -> None:
    async def fills_the_disk(_inquiry: Inquiry) -> Replies | None:
        journal.fails["append"] = ["before"]
        return MINE

    with pytest.raises(Unavailable, match=r"The reply cannot be written down .*the disk is full"):
        await people(fills_the_disk, log).of(CALL).ask(WHICH, lasting=True)
    assert await answers(journal) == []


async def test_of_two_replies_at_once_the_first_in_the_journal_counts(
    journal: Forgetful, log: SessionLog
) -> None:
    def faster(told: Payload) -> Payload | None:
        return THEIRS if isinstance(told, InquiryAnswered) else None

    journal.intruder = faster
    told = await people(mine, log).of(CALL).ask(WHICH, lasting=True)
    assert told == Replies(answers=(("theirs",),), by="bob")
    assert [one.by for one in await answers(journal)] == ["bob"]


async def test_a_reply_to_a_call_that_has_ended_meanwhile_is_an_error(
    journal: Forgetful, log: SessionLog
) -> None:
    def ends_it(told: Payload) -> Payload | None:
        return SETTLED if isinstance(told, InquiryAnswered) else None

    journal.intruder = ends_it
    with pytest.raises(OperationFailed, match="does not fit the question any more"):
        await people(mine, log).of(CALL).ask(WHICH, lasting=True)
    assert await answers(journal) == []


async def test_a_reply_elsewhere_is_found_although_a_look_failed(
    journal: Forgetful, log: SessionLog
) -> None:
    async def elsewhere(inquiry: Inquiry) -> Replies | None:
        await journal.append("ses_1", [THEIRS])
        journal.unreadable = 1
        return await never(inquiry)

    with anyio.fail_after(LOOK_SECONDS * 20):
        told = await people(elsewhere, log).of(CALL).ask(WHICH, lasting=True)
    assert (told.by, journal.unreadable) == ("bob", 0)


async def test_whoever_hears_of_a_reply_need_not_wait_for_the_next_look(
    journal: Forgetful, log: SessionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.runtime.people.LOOK_SECONDS", 600.0)
    asked = anyio.Event()

    async def replies() -> None:
        await asked.wait()
        await journal.append("ses_1", [THEIRS])
        asks.heard("cal_1")

    async def tells(inquiry: Inquiry) -> Replies | None:
        asked.set()
        return await never(inquiry)

    asks = people(tells, log)
    asks.heard("cal_1")  # nobody waits yet: nothing happens
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(replies)
            assert (await asks.of(CALL).ask(WHICH, lasting=True)).by == "bob"


@pytest.mark.parametrize("closed", [True, False])
async def test_a_wait_that_ends_stays_open_only_where_the_session_is_closed(
    log: SessionLog, closed: bool
) -> None:
    asked = anyio.Event()

    async def tells(inquiry: Inquiry) -> Replies | None:
        asked.set()
        return await never(inquiry)

    asks = people(tells, log)
    async with anyio.create_task_group() as group:

        async def end() -> None:
            await asked.wait()
            if closed:
                asks.close()
            else:
                group.cancel_scope.cancel()

        group.start_soon(end)
        if closed:
            with pytest.raises(Cancelled, match="the question stays open"):
                await asks.of(CALL).ask(WHICH, lasting=True)
        else:
            await asks.of(CALL).ask(WHICH, lasting=True)
    assert (asks.stays_open("cal_1"), asks.any_left_open) == (closed, closed)
    asks.open()
    assert not asks.any_left_open


async def test_a_wait_that_is_cancelled_while_the_session_closes_stays_open(
    log: SessionLog,
) -> None:
    async def tells(inquiry: Inquiry) -> Replies | None:
        asks.close()
        group.cancel_scope.cancel()
        return await never(inquiry)

    asks = people(tells, log)
    async with anyio.create_task_group() as group:
        await asks.of(CALL).ask(WHICH, lasting=True)
    assert asks.stays_open("cal_1")
