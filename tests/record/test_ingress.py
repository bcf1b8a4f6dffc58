"""Answers that fit a question count once; steps of a call come in their order; the rest is refused.

On both stores: what is looked at is looked at inside of the transaction.
"""

from pathlib import Path

import pytest
from anyio import create_task_group
from msgspec import Raw
from msgspec.structs import replace
from record.stores import Opened, postgres_at, sqlite_at

from holdfast.contract.events import (
    AgentMessage,
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    ChildAnswered,
    ChildWaits,
    CustomToolResult,
    CustomToolUse,
    EventsProcessed,
    InquiryAsked,
    Payload,
    SessionCreated,
    StatusIdle,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.journal import EventQuery, Journal, NotFitting
from holdfast.contract.person import PersonQuestion
from holdfast.contract.session_state import ConfirmationRequest
from holdfast.record.codec import micros_of

pytestmark = pytest.mark.anyio

S = "ses_1"
WAITS = ToolUse(
    request_id="apr_1",
    tool_name="bash",
    ownership="managed",
    permission_policy="always_ask",
    input={"command": "ls"},
)
YES = ToolConfirmation(request_id="apr_1", tool_name="bash", allowed=True)
CUSTOM = CustomToolUse(request_id="cus_1", tool_name="deploy", input={})
RESULT = CustomToolResult(request_id="cus_1", tool_name="deploy", output="done")


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    if request.param == "sqlite":
        return sqlite_at(tmp_path / "h.db")
    return postgres_at(request.getfixturevalue("postgres_url"))


async def refused(journal: Journal, said: Payload, told: str) -> None:
    before = (await journal.session(S)).sequence
    with pytest.raises(NotFitting) as problem:
        await journal.append(S, [UserMessage(message="beside it"), said])
    assert told in str(problem.value)
    assert (await journal.session(S)).sequence == before


async def test_a_confirmation_counts_once_and_only_for_the_request_that_waits(
    opened: Opened,
) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated()])
        none = "does not have a pending tool confirmation request for bash"
        await refused(journal, YES, none)
        await journal.append(S, [WAITS])
        other = ToolConfirmation(request_id="apr_2", tool_name="bash", allowed=True)
        await refused(journal, other, "pending tool confirmation request does not match apr_2/bash")
        other = ToolConfirmation(request_id="apr_1", tool_name="rm", allowed=True)
        await refused(journal, other, "pending tool confirmation request does not match apr_1/rm")
    async with opened() as journal:  # what is pending is in the journal, and nowhere else
        (answer,) = await journal.append(S, [YES])
        await refused(journal, YES, "already recorded a tool confirmation for apr_1")
        await journal.append(S, [EventsProcessed(event_ids=(answer.id,))])
        await refused(journal, YES, none)


@pytest.mark.req("BOA-ASK-02", "BOA-ASK-03")
async def test_what_waits_is_one_request_in_the_record_of_its_session(opened: Opened) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated()])
        (event,) = await journal.append(S, [WAITS])
    async with opened() as journal:
        assert (await journal.session(S)).state.confirmation == ConfirmationRequest(
            id="apr_1",
            tool_name="bash",
            ownership="managed",
            permission_policy="always_ask",
            input={"command": "ls"},
            requested_at=micros_of(event.at),
        )
        second = replace(WAITS, request_id="apr_2", tool_name="rm")
        await refused(journal, second, "waits for a tool confirmation of apr_1 already")
        assert (await journal.session(S)).state.confirmation is not None
        await journal.append(S, [YES, second])
        no = ToolConfirmation(request_id="apr_2", tool_name="rm", allowed=False)
        await journal.append(S, [no])


@pytest.mark.req("BOA-ASK-07")
async def test_a_session_that_waits_is_runnable_once_its_request_is_confirmed(
    opened: Opened,
) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated()])
        (use,) = await journal.append(S, [WAITS])
        idle = StatusIdle(reason="requires_action", summary="", blocking_event_ids=(use.id,))
        await journal.append(S, [idle])
        other = ToolConfirmation(request_id="apr_2", tool_name="bash", allowed=True)
        await refused(journal, other, "does not match")
        state = (await journal.session(S)).state
        assert (state.status, state.stop_reason) == ("requires_action", "requires_action")
        assert await journal.find(S, EventQuery(processed=False)) == ()
        (answer,) = await journal.append(S, [YES])
        assert (await journal.session(S)).state.status == "rescheduling"
        assert await journal.find(S, EventQuery(processed=False)) == (answer,)


@pytest.mark.req("BOA-ASK-12")
@pytest.mark.parametrize("ends", [YES, UserInterrupt(note="no")], ids=["decision", "interrupt"])
async def test_a_request_stays_until_a_decision_or_an_interrupt(
    opened: Opened, ends: Payload
) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated(), WAITS])
        (said,) = await journal.append(S, [UserMessage(message="what is it for?")])
        await journal.append(S, [EventsProcessed(event_ids=(said.id,))])
        await refused(journal, replace(WAITS, request_id="apr_2"), "of apr_1 already")
        done = replace(WAITS, request_id=None, output={})
        await journal.append(S, [done, AgentMessage(message="I wait", summary="")])
        pending = (await journal.session(S)).state.confirmation
        assert pending is not None
        assert (pending.id, pending.answered_by) == ("apr_1", None)
        (last,) = await journal.append(S, [ends])
        await journal.append(S, [EventsProcessed(event_ids=(last.id,))])
        assert (await journal.session(S)).state.confirmation is None


async def test_a_custom_result_counts_once_and_only_for_the_request_that_waits(
    opened: Opened,
) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated()])
        none = "does not have a pending custom tool request for deploy"
        await refused(journal, RESULT, none)
        await journal.append(S, [CUSTOM])
        other = CustomToolResult(request_id="cus_2", tool_name="deploy", output="x")
        await refused(journal, other, "pending custom tool request does not match cus_2/deploy")
        # Something else that a person says does not answer it.
        (said,) = await journal.append(S, [UserMessage(message="how is it going?")])
        await journal.append(S, [EventsProcessed(event_ids=(said.id,))])
        (answer,) = await journal.append(S, [RESULT])
        await refused(journal, RESULT, "already recorded a custom tool result for cus_1")
        await journal.append(S, [EventsProcessed(event_ids=(answer.id,))])
        await refused(journal, RESULT, none)


async def test_an_interrupt_that_was_taken_into_account_ends_both_requests(
    opened: Opened,
) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated(), WAITS, CUSTOM])
        (stop,) = await journal.append(S, [UserInterrupt(note="no")])
        state = (await journal.session(S)).state
        assert state.confirmation is not None
        assert state.custom is not None
        await journal.append(S, [EventsProcessed(event_ids=(stop.id,))])
        state = (await journal.session(S)).state
        assert (state.confirmation, state.custom, state.interrupts) == (None, None, ())


async def test_what_was_taken_into_account_once_stays_so(opened: Opened) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated()])
        (said,) = await journal.append(S, [UserMessage(message="hello")])
        done = EventsProcessed(event_ids=(said.id, "evt_nobody_knows"))
        await journal.append(S, [done])
        (_, first, *_) = await journal.events(S)
        assert first.processed_at is not None
        await journal.append(S, [done])
        (_, again, *_) = await journal.events(S)
        assert again == first


async def test_of_many_answers_at_once_one_counts(opened: Opened) -> None:
    outcomes: list[bool] = []

    async def answer(journal: Journal, allowed: bool) -> None:
        said = ToolConfirmation(request_id="apr_1", tool_name="bash", allowed=allowed)
        try:
            await journal.append(S, [said])
        except NotFitting:
            outcomes.append(False)
        else:
            outcomes.append(True)

    async with opened() as first, opened() as second:
        await first.create(S, [SessionCreated(), WAITS])
        async with create_task_group() as people:
            for number in range(20):
                people.start_soon(answer, (first, second)[number % 2], number % 3 == 0)
        kept = await first.events(S)
    assert sorted(outcomes) == [False] * 19 + [True]
    assert len([event for event in kept if isinstance(event.payload, ToolConfirmation)]) == 1


ASKED = CallAsked(call_id="cal_1", tool="bash", arguments="{}")
APPROVAL = ApprovalAsked(
    approval_id="apr_1", call_id="cal_1", tool="bash", arguments_hash="ab", reason="r"
)
APPROVED = ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by="ada")
INTENDED = CallIntended(call_id="cal_1", tool="bash", arguments_hash="ab", grounds="g")
REFUSED = CallRefused(
    call_id="cal_1", tool="bash", arguments_hash="ab", kind="rejected", reason="r"
)
WITHDRAWN = ApprovalWithdrawn(approval_id="apr_1", call_id="cal_1", reason="a rule allows it")
INQUIRY = InquiryAsked(call_id="cal_1", questions=(PersonQuestion(question="Which?"),))
SETTLED = CallSettled(call_id="cal_1", tool="bash", envelope=Raw(b'{"ok":true,"result":1}'))


@pytest.mark.req("SPEC-REPLY-08")
async def test_a_reply_counts_for_the_approval_that_waits_and_for_no_other(opened: Opened) -> None:
    async with opened() as journal:
        await journal.create("ses_2", [SessionCreated()])
        await journal.create(S, [SessionCreated(), ASKED])
        await refused(journal, APPROVED, "does not wait for approval apr_1")
        await journal.append(S, [APPROVAL])
        forged = ApprovalAnswered(approval_id="apr_9", call_id="cal_1", allowed=True, by="eve")
        await refused(journal, forged, "does not wait for approval apr_9")
        forged = ApprovalAnswered(approval_id="apr_1", call_id="cal_9", allowed=True, by="eve")
        await refused(journal, forged, "knows no call cal_9")
        with pytest.raises(NotFitting, match="session ses_2 knows no call cal_1"):
            await journal.append("ses_2", [APPROVED])
        await journal.append(S, [APPROVED])
        again = ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=False, by="eve")
        await refused(journal, again, "already recorded an answer to approval apr_1")
        assert (await journal.session(S)).state.calls["cal_1"].allowed is True
        await journal.append(S, [INTENDED, SETTLED])
        await refused(journal, APPROVED, "the call cal_1 has its answer already")


@pytest.mark.parametrize(
    ("so_far", "said", "told"),
    [
        ([], INTENDED, "knows no call cal_1"),
        ([], SETTLED, "knows no call cal_1"),
        ([ASKED], ASKED, "was asked for before"),
        ([ASKED, APPROVAL], APPROVAL, "cannot be asked about any more: it is waiting already"),
        ([ASKED, APPROVAL], INTENDED, "cannot run any more: it is waiting already"),
        ([ASKED, INTENDED], INTENDED, "cannot run any more: it is intended already"),
        ([ASKED, INTENDED], REFUSED, "cannot be refused any more: it is intended already"),
        ([ASKED, INTENDED, SETTLED], INTENDED, "has its answer already"),
        ([ASKED, INTENDED, SETTLED], SETTLED, "has its answer already"),
        ([ASKED, INTENDED, SETTLED], ASKED, "was asked for before"),
        ([ASKED, REFUSED, SETTLED], SETTLED, "has its answer already"),
        ([ASKED], WITHDRAWN, "does not wait for approval apr_1"),
        ([ASKED, APPROVAL, APPROVED], WITHDRAWN, "already recorded an answer to approval apr_1"),
        ([ASKED, APPROVAL, WITHDRAWN], WITHDRAWN, "approval apr_1 was withdrawn"),
        ([ASKED, APPROVAL, WITHDRAWN], APPROVED, "approval apr_1 was withdrawn"),
        ([ASKED, APPROVAL, WITHDRAWN, INTENDED], APPROVED, "approval apr_1 was withdrawn"),
    ],
)
async def test_a_call_goes_its_way_once(
    opened: Opened, so_far: list[Payload], said: Payload, told: str
) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated(), *so_far])
        await refused(journal, said, told)


@pytest.mark.parametrize(
    "way",
    [
        [ASKED, APPROVAL, WITHDRAWN, INTENDED, SETTLED],
        [ASKED, APPROVAL, WITHDRAWN, APPROVAL, APPROVED, INTENDED, SETTLED],
        [ASKED, APPROVAL, WITHDRAWN, REFUSED, SETTLED],
        [ASKED, INTENDED, INQUIRY, REFUSED, SETTLED],
    ],
)
async def test_a_call_that_was_asked_about_goes_on_when_rules_change(
    opened: Opened, way: list[Payload]
) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated(), *way])
        assert (await journal.session(S)).state.calls == {}


async def test_of_two_that_would_run_an_approved_call_one_may(opened: Opened) -> None:
    ran: list[int] = []

    async def run(journal: Journal, number: int) -> None:
        try:
            await journal.append(S, [INTENDED])
        except NotFitting:
            return
        ran.append(number)

    async with opened() as first, opened() as second:
        await first.create(S, [SessionCreated(), ASKED, APPROVAL, APPROVED])
        async with create_task_group() as runners:
            for number in range(10):
                runners.start_soon(run, (first, second)[number % 2], number)
    assert len(ran) == 1


@pytest.mark.req("BOA-SES-04")
async def test_an_event_whose_id_is_there_changes_nothing(opened: Opened) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated()])
        (kept,) = await journal.append(S, [UserMessage(message="a")], ids=["evt_mine"])
        assert kept.id == "evt_mine"
        again = [UserMessage(message="changed"), UserMessage(message="b")]
        (more,) = await journal.append(S, again, ids=["evt_mine", "evt_more"])
        assert (more.id, more.payload) == ("evt_more", again[1])
        assert await journal.append(S, again, ids=["evt_mine", "evt_more"]) == ()
        (processed,) = await journal.append(S, [EventsProcessed(event_ids=("evt_mine",))])
        events = await journal.events(S)
    assert [event.payload for event in events[1:3]] == [UserMessage(message="a"), again[1]]
    assert [event.processed_at for event in events[1:3]] == [processed.at, None]
    assert [event.hash for event in events[1:3]] == [kept.hash, more.hash]


async def test_a_call_waits_for_the_session_below_that_it_named_and_for_no_other(
    opened: Opened,
) -> None:
    async with opened() as journal:
        asked = CallAsked(call_id="cal_1", tool="task", arguments="{}")
        waits = ChildWaits(call_id="cal_1", child_session_id="ses_2", summary="waits")
        answered = ChildAnswered(call_id="cal_1", child_session_id="ses_2")
        await journal.create(S, [SessionCreated(), asked])
        await refused(journal, waits, "it is asked already")
        intended = CallIntended(call_id="cal_1", tool="task", arguments_hash="h", grounds="g")
        await journal.append(S, [intended])
        await refused(journal, answered, "does not wait for ses_2")
        await journal.append(S, [waits])
        await refused(journal, replace(answered, child_session_id="ses_3"), "does not wait for")
        await journal.append(S, [answered])
        assert (await journal.session(S)).state.calls["cal_1"].stage == "replied"
        await refused(journal, answered, "does not wait for ses_2")
        await journal.append(S, [waits])  # it may pause again
