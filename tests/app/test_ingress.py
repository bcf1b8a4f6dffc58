"""What comes to a session from outside, without a lease: words, answers, results, wakes."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from msgspec import Raw
from msgspec.structs import replace
from record.store_places import StorePlace

from holdfast.app import answering, ingress
from holdfast.app.ingress import LaterRun
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallSettled,
    CustomToolResult,
    CustomToolUse,
    EventsProcessed,
    Payload,
    SessionClosed,
    SessionCreated,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.journal import Journal, NotFitting, UnknownSession
from holdfast.contract.ports import Answer
from holdfast.contract.wake_events import QueuedWake, WakesCompleted
from holdfast.envelope.redact import Redactor
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.fake_journal import FakeJournal

S = "ses_1"
SECRET = "s3cr3t-of-the-house"
REDACTOR = Redactor((SECRET,))
IDS = TimeIds(SystemClock())
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
LATER = LaterRun(due_at=NOON, reason="look again", note="the build", dedupe_key="build")
YES, NO = Answer(allowed=True, by="ada", note="fine"), Answer(allowed=False, by="ada")
CALL: list[Payload] = [
    CallAsked(call_id="cal_1", tool="deploy", arguments="{}"),
    ApprovalAsked(
        approval_id="apr_1", call_id="cal_1", tool="deploy", arguments_hash="h", reason="r"
    ),
]
ASKS = ToolUse(
    request_id="apr_1",
    tool_name="deploy",
    ownership="managed",
    permission_policy="always_ask",
    input={},
)
OUTSIDE = CustomToolUse(request_id="cus_1", tool_name="order", input={})


@pytest.fixture
async def journal() -> AsyncGenerator[Journal]:
    journal = FakeJournal()
    await journal.create(S, [SessionCreated(agent_id="coder")])
    yield journal
    await journal.close()


async def last(journal: Journal, count: int = 1) -> list[Payload]:
    return [one.payload for one in (await journal.events(S))[-count:]]


async def test_what_is_said_to_a_session_is_written_down_without_secrets(journal: Journal) -> None:
    event = await ingress.send_message(journal, S, f"use {SECRET}\ud800", REDACTOR)
    assert isinstance(event.payload, UserMessage)
    assert SECRET not in event.payload.message
    assert event.payload.message.startswith("use ")
    assert (await journal.session(S)).state.pending == (event.id,)
    assert await journal.next_due() == 0


async def test_a_session_is_stopped_by_whoever_wants_to(journal: Journal) -> None:
    first = await ingress.interrupt(journal, S, REDACTOR)
    second = await ingress.interrupt(journal, S, REDACTOR, f"not with {SECRET}")
    assert first.payload == UserInterrupt()
    assert isinstance(second.payload, UserInterrupt)
    assert second.payload.note is not None
    assert SECRET not in second.payload.note
    assert (await journal.session(S)).state.interrupts == (first.id, second.id)


@pytest.mark.parametrize("empty", ["", " \n"])
async def test_an_empty_message_says_nothing(journal: Journal, empty: str) -> None:
    with pytest.raises(NotFitting, match="the message is empty; say what"):
        await ingress.send_message(journal, S, empty, REDACTOR)


async def test_a_session_that_is_over_or_unknown_is_told_as_that(journal: Journal) -> None:
    await journal.append(S, [OUTSIDE, SessionClosed(reason="done")])
    over = rf"session {S} is over; open it again with Holdfast\(session='{S}'\), or begin"
    with pytest.raises(NotFitting, match=over):
        await ingress.send_message(journal, S, "hi", REDACTOR)
    with pytest.raises(NotFitting, match=over):
        await ingress.interrupt(journal, S, REDACTOR)
    with pytest.raises(NotFitting, match=over):
        await ingress.custom_result(journal, S, "cus_1", "tea", REDACTOR)
    with pytest.raises(NotFitting, match=over):
        await ingress.queue_wake(journal, S, LATER, IDS, REDACTOR)
    with pytest.raises(UnknownSession):
        await ingress.send_message(journal, "ses_2", "hi", REDACTOR)


async def test_a_program_gone_wild_is_stopped(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingress, "MOST_WAITING", 2)
    for number in range(2):
        await ingress.send_message(journal, S, "hi", REDACTOR)
        await ingress.queue_wake(journal, S, replace(LATER, dedupe_key=f"{number}"), IDS, REDACTOR)
    with pytest.raises(NotFitting, match="2 messages wait for session ses_1 already; let it run"):
        await ingress.send_message(journal, S, "hi", REDACTOR)
    with pytest.raises(NotFitting, match="2 wakes of session ses_1 are queued already; cancel"):
        await ingress.queue_wake(journal, S, LATER, IDS, REDACTOR)


async def test_what_a_session_asked_the_application_for_is_given_once(journal: Journal) -> None:
    with pytest.raises(NotFitting, match="does not wait for cus_1: it waits for nothing"):
        await ingress.custom_result(journal, S, "cus_1", "tea", REDACTOR)
    await journal.append(S, [OUTSIDE])
    with pytest.raises(NotFitting, match="it waits for cus_1, the output of order"):
        await ingress.custom_result(journal, S, "cus_2", "tea", REDACTOR)
    event = await ingress.custom_result(journal, S, "cus_1", f"tea {SECRET}", REDACTOR)
    given = event.payload
    assert isinstance(given, CustomToolResult)
    assert (given.request_id, given.tool_name) == ("cus_1", "order")
    assert SECRET not in given.output
    with pytest.raises(NotFitting, match="already recorded a custom tool result"):
        await ingress.custom_result(journal, S, "cus_1", "tea", REDACTOR)


@pytest.mark.req("BOA-WAKE-02")
async def test_a_wake_of_a_key_that_is_queued_is_the_one_that_is_queued(place: StorePlace) -> None:
    found: list[QueuedWake] = []

    async def queue(journal: Journal, minutes: int) -> None:
        wanted = replace(LATER, due_at=NOON + timedelta(minutes=minutes))
        found.append(await ingress.queue_wake(journal, S, wanted, IDS, REDACTOR))

    async with place.opened() as store, place.opened() as other:
        await store.journal.create(S, [SessionCreated(agent_id="coder")])
        async with anyio.create_task_group() as group:
            for minutes in range(6):
                group.start_soon(queue, (store, other)[minutes % 2].journal, minutes)
        (queued,) = (await store.journal.session(S)).state.wakes
        assert found == [queued] * 6
        await queue(other.journal, 9)
        assert found[-1] == queued
        different = replace(LATER, dedupe_key="other")
        again = await ingress.queue_wake(store.journal, S, different, IDS, REDACTOR)
        keyless = replace(LATER, dedupe_key=None)
        more = [
            await ingress.queue_wake(store.journal, S, keyless, IDS, REDACTOR) for _ in range(2)
        ]
        state = (await store.journal.session(S)).state
        assert state.wakes == (queued, again, *more)


async def test_a_wake_is_queued_as_it_was_wanted(journal: Journal) -> None:
    wanted = replace(LATER, reason=f"look at {SECRET}", priority="high")
    wake = await ingress.queue_wake(journal, S, wanted, IDS, REDACTOR)
    assert (wake.note, wake.dedupe_key, wake.priority) == ("the build", "build", "high")
    assert SECRET not in wake.reason
    assert await journal.next_due() == wake.due_micros == int(NOON.timestamp()) * 1_000_000
    with pytest.raises(NotFitting, match="a wake needs a reason"):
        await ingress.queue_wake(journal, S, replace(LATER, reason=" "), IDS, REDACTOR)
    naive = replace(LATER, due_at=datetime(2026, 1, 1), dedupe_key=None)  # noqa: DTZ001 - that is it
    with pytest.raises(NotFitting, match="no time zone"):
        await ingress.queue_wake(journal, S, naive, IDS, REDACTOR)


async def test_a_wake_that_is_over_before_anybody_looks_is_told_as_it_was(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = FakeJournal.append

    async def taken(kept: FakeJournal, session_id: str, payloads: list[Payload], /) -> object:
        written = await append(kept, session_id, payloads)
        ids = tuple(one.id for one in (await kept.session(S)).state.wakes)
        await append(kept, session_id, [WakesCompleted(queued_wake_ids=ids)])
        return written

    monkeypatch.setattr(FakeJournal, "append", taken)
    wanted = replace(LATER, dedupe_key=None, note=None)
    wake = await ingress.queue_wake(journal, S, wanted, IDS, REDACTOR)
    assert (wake.reason, wake.due_micros) == ("look again", int(NOON.timestamp()) * 1_000_000)
    assert wake.created_micros == int((await journal.events(S))[1].at.timestamp() * 1_000_000)


@pytest.mark.req("BOA-WAKE-03")
async def test_a_wake_that_is_cancelled_is_completed(place: StorePlace) -> None:
    async with place.opened() as store:
        journal = store.journal
        await journal.create(S, [SessionCreated(agent_id="coder")])
        wakes = [
            await ingress.queue_wake(
                journal, S, replace(LATER, dedupe_key=f"{number}"), IDS, REDACTOR
            )
            for number in range(3)
        ]
        first, *rest = (one.id for one in wakes)
        with pytest.raises(
            NotFitting, match=f"no wake wak_nobody in its queue; queued are: {first}"
        ):
            await ingress.cancel_wakes(journal, S, (first, "wak_nobody"))
        assert await ingress.cancel_wakes(journal, S, (first,)) == (first,)
        assert await last(journal) == [WakesCompleted(queued_wake_ids=(first,), cancelled=True)]
        assert [one.id for one in (await journal.session(S)).state.wakes] == rest
        assert await ingress.cancel_wakes(journal, S) == tuple(rest)
        assert await journal.next_due() is None
        before = len(await journal.events(S))
        assert await ingress.cancel_wakes(journal, S) == ()
        assert len(await journal.events(S)) == before
        with pytest.raises(NotFitting, match="queued are: none"):
            await ingress.cancel_wakes(journal, S, (first,))


@pytest.mark.parametrize("way", ["answer", "confirm"])
@pytest.mark.parametrize("answer", [YES, NO])
async def test_an_answer_is_both_that_to_the_question_and_the_confirmation(
    journal: Journal, way: str, answer: Answer
) -> None:
    await journal.append(S, [*CALL, ASKS])
    told = replace(answer, note=f"by {SECRET}")
    write = answering.write_answer if way == "answer" else ingress.confirm
    await write(journal, S, "apr_1", told, REDACTOR)
    confirmed, given = await last(journal, 2)
    assert isinstance(given, ApprovalAnswered)
    assert isinstance(confirmed, ToolConfirmation)
    assert (given.approval_id, given.call_id, given.by) == ("apr_1", "cal_1", "ada")
    assert (confirmed.request_id, confirmed.tool_name) == ("apr_1", "deploy")
    assert given.allowed == confirmed.allowed == answer.allowed
    assert given.note == confirmed.note != told.note
    before = len(await journal.events(S))
    for again in (answering.write_answer, ingress.confirm):
        with pytest.raises(NotFitting):
            await again(journal, S, "apr_1", YES, REDACTOR)
    assert len(await journal.events(S)) == before, "one answer counts"


async def test_of_answers_that_come_at_once_one_counts(place: StorePlace) -> None:
    counted: list[bool] = []

    async def say(journal: Journal, number: int) -> None:
        write = (answering.write_answer, ingress.confirm)[number % 2]
        try:
            await write(journal, S, "apr_1", (YES, NO)[number % 3 % 2], REDACTOR)
        except NotFitting:
            return
        counted.append((YES, NO)[number % 3 % 2].allowed)

    async with place.opened() as store, place.opened() as other:
        await store.journal.create(S, [SessionCreated(agent_id="coder"), *CALL, ASKS])
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(say, (store, other)[number // 4].journal, number)
        confirmed, given = await last(store.journal, 2)
        assert isinstance(given, ApprovalAnswered)
        assert isinstance(confirmed, ToolConfirmation)
        assert counted == [given.allowed] == [confirmed.allowed]


async def test_a_question_without_a_request_to_confirm_is_only_answered(journal: Journal) -> None:
    await journal.append(S, CALL)
    await ingress.confirm(journal, S, "apr_1", YES, REDACTOR)
    assert [type(one) for one in await last(journal, 2)] == [ApprovalAsked, ApprovalAnswered]


async def test_a_request_without_a_call_is_only_confirmed(journal: Journal) -> None:
    await journal.append(S, [ASKS])
    unknown = "does not wait for a confirmation of apr_9; see: holdfast sessions questions ses_1"
    with pytest.raises(NotFitting, match=unknown):
        await ingress.confirm(journal, S, "apr_9", YES, REDACTOR)
    await ingress.confirm(journal, S, "apr_1", YES, REDACTOR)
    assert [type(one) for one in await last(journal, 2)] == [ToolUse, ToolConfirmation]


async def test_a_request_is_over_with_its_call_however_that_got_its_answer(
    journal: Journal,
) -> None:
    settled = CallSettled(call_id="cal_1", tool="deploy", envelope=Raw(b'{"ok":true}'))
    other = CallAsked(call_id="cal_2", tool="t", arguments="{}")
    await journal.append(S, [*CALL, ASKS, other, replace(settled, call_id="cal_2")])
    assert (await journal.session(S)).state.confirmation is not None
    await journal.append(S, [settled])
    assert (await journal.session(S)).state.confirmation is None


@pytest.mark.parametrize("way", ["answer", "confirm"])
async def test_what_is_allowed_after_an_interrupt_is_refused_until_that_was_heard(
    journal: Journal, way: str
) -> None:
    await journal.append(S, [*CALL, ASKS])
    stop = await ingress.interrupt(journal, S, REDACTOR)
    write = answering.write_answer if way == "answer" else ingress.confirm
    with pytest.raises(NotFitting, match="was interrupted: what it asked for before is not run"):
        await write(journal, S, "apr_1", YES, REDACTOR)
    assert (await journal.session(S)).state.calls["cal_1"].stage == "waiting"
    await write(journal, S, "apr_1", NO, REDACTOR)
    settled = CallSettled(call_id="cal_1", tool="deploy", envelope=Raw(b'{"ok":false}'))
    await journal.append(S, [settled, EventsProcessed(event_ids=(stop.id,))])
    again = CallAsked(call_id="cal_2", tool="deploy", arguments="{}")
    asked = ApprovalAsked(
        approval_id="apr_2", call_id="cal_2", tool="deploy", arguments_hash="h", reason="r"
    )
    await journal.append(S, [again, asked])
    await write(journal, S, "apr_2", YES, REDACTOR)


async def test_where_nobody_hears_interrupts_answers_count(journal: Journal) -> None:
    await journal.create("ses_2", [SessionCreated(), *CALL, UserInterrupt()])
    await answering.write_answer(journal, "ses_2", "apr_1", YES, REDACTOR)
    assert (await journal.session("ses_2")).state.calls["cal_1"].allowed is True
