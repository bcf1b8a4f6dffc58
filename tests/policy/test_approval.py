"""Questions that wait, and answers that are used once."""

import threading
from datetime import timedelta
from typing import cast

import anyio
import anyio.lowlevel
import msgspec
import pytest
from support import make_call, make_judge, make_pipeline, make_tool

from holdfast.contract.call import Ask, Prepared
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Answer
from holdfast.policy.approval import (
    ApprovalError,
    ApprovalLedger,
    ApprovalRequest,
    call_hash,
    shown_to_a_person,
)
from holdfast.runtime.abort import Abort
from holdfast.runtime.approvals import ApprovalDesk
from holdfast.testing.fakes import FakeClock, FakeIds

YES = Answer(allowed=True, by="ada")
NO = Answer(allowed=False, by="ada")
TOOL = make_tool(name="deploy")


def prepared(
    arguments: JsonObject, *, call_id: str = "cal_1", session: str = "ses_test"
) -> Prepared:
    call = msgspec.structs.replace(make_call("deploy", arguments, session=session), id=call_id)
    return Prepared(call=call, tool=TOOL, values=arguments, checked=arguments)


def ask(arguments: JsonObject | None = None) -> Ask:
    return Ask(prepared=prepared(arguments or {"to": "prod"}), reason="It always asks.")


def test_a_question_is_shown_with_all_a_person_needs() -> None:
    ledger, clock = ApprovalLedger(), FakeClock()
    request = ledger.request(ask(), "apr_1", clock.now())
    assert (request.id, request.tool_name, request.ownership) == ("apr_1", "deploy", "managed")
    assert request.permission_policy == "always_allow"
    assert request.input == {"to": "prod"}
    assert request.requested_at == clock.now()
    assert request.call_hash == call_hash(ask().prepared)
    assert ledger.pending == (request,)


@pytest.mark.req("BOA-ASK-11")
def test_an_answer_is_used_once() -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(ask(), "apr_1", now)
    ledger.answer("apr_1", "deploy", YES, now)
    assert ledger.use("apr_1", ask().prepared, now) == YES
    assert ledger.use("apr_1", ask().prepared, now) is None
    assert ledger.pending == ()


@pytest.mark.parametrize(
    "other",
    [
        prepared({"to": "test"}),
        prepared({"to": "prod"}, call_id="cal_2"),
        prepared({"to": "prod"}, session="ses_other"),
        msgspec.structs.replace(prepared({"to": "prod"}), tool=make_tool(name="other")),
    ],
)
def test_an_answer_holds_for_exactly_the_call_it_was_given_for(other: Prepared) -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(ask(), "apr_1", now)
    ledger.answer("apr_1", "deploy", YES, now)
    assert ledger.use("apr_1", other, now) is None


def test_an_answer_that_is_not_used_expires_and_a_question_does_not() -> None:
    ledger, clock = ApprovalLedger(unused_for=timedelta(minutes=5)), FakeClock()
    ledger.request(ask(), "apr_1", clock.now())
    clock.advance(86_400)
    assert len(ledger.pending) == 1
    ledger.answer("apr_1", "deploy", YES, clock.now())
    clock.advance(301)
    assert ledger.use("apr_1", ask().prepared, clock.now()) is None


def test_the_same_call_asks_only_once_at_a_time() -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    first = ledger.request(ask(), "apr_1", now)
    assert ledger.request(ask(), "apr_2", now) is first
    assert ledger.request(ask({"to": "test"}), "apr_3", now).id == "apr_3"


@pytest.mark.req("BOA-ASK-19")
def test_an_answer_that_fits_no_open_question_is_refused() -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    none = "does not have a pending tool confirmation request for deploy"
    with pytest.raises(ApprovalError, match=none):
        ledger.answer("apr_1", "deploy", YES, now)
    ledger.request(ask(), "apr_1", now)
    mismatch = "pending tool confirmation request does not match apr_9/deploy"
    with pytest.raises(ApprovalError, match=mismatch):
        ledger.answer("apr_9", "deploy", YES, now)
    with pytest.raises(ApprovalError, match=r"does not have a pending .* for other"):
        ledger.answer("apr_1", "other", YES, now)
    ledger.answer("apr_1", "deploy", YES, now)
    with pytest.raises(ApprovalError, match="already recorded a tool confirmation for apr_1"):
        ledger.answer("apr_1", "deploy", YES, now)


def test_a_question_can_be_withdrawn() -> None:
    ledger, now = ApprovalLedger(), FakeClock().now()
    ledger.request(ask(), "apr_1", now)
    ledger.answer("apr_1", "deploy", YES, now)
    ledger.withdraw("apr_1")
    assert ledger.pending == ()
    assert ledger.use("apr_1", ask().prepared, now) is None


def test_whoever_answers_cannot_change_the_call() -> None:
    given: JsonObject = {"to": ["prod"]}
    shown = shown_to_a_person(ask(given))
    cast("list[str]", shown.prepared.arguments["to"]).append("elsewhere")
    shown.prepared.arguments["to"] = "elsewhere"
    assert given == {"to": ["prod"]}


ASKS = msgspec.structs.replace(TOOL, permission_policy="always_ask")


async def test_a_desk_answers_from_another_thread() -> None:
    desk = ApprovalDesk(FakeClock(), FakeIds())
    pipeline = make_pipeline(ASKS, judge=make_judge(), approver=desk)
    envelopes: list[bool] = []

    async def call() -> None:
        envelopes.append((await pipeline.settle(make_call("deploy", {}), Abort())).ok)

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        while not desk.pending:
            await anyio.lowlevel.checkpoint()
        (request,) = desk.pending
        thread = threading.Thread(target=desk.answer, args=(request, YES))
        thread.start()
        await anyio.to_thread.run_sync(thread.join)
    assert envelopes == [True]
    assert desk.pending == ()


async def test_a_question_nobody_waits_for_any_more_is_withdrawn() -> None:
    desk = ApprovalDesk(FakeClock(), FakeIds())
    pipeline = make_pipeline(ASKS, judge=make_judge(), approver=desk)
    abort = Abort()

    async def pull() -> None:
        while not desk.pending:
            await anyio.lowlevel.checkpoint()
        abort.set()

    answers: list[bool] = []
    async with anyio.create_task_group() as group:
        group.start_soon(pull)
        answers.append((await pipeline.settle(make_call("deploy", {}), abort)).ok)
    assert answers == [False]
    assert desk.pending == ()


@pytest.mark.parametrize("first_leaves", ["before", "after", "never"])
async def test_who_stops_waiting_takes_the_question_from_nobody_else(first_leaves: str) -> None:
    desk = ApprovalDesk(FakeClock(), FakeIds())
    question = ask()
    answers: list[Answer | None] = []

    async def wait(scope: anyio.CancelScope) -> None:
        with scope:
            answers.append(await desk(question))

    first, second = anyio.CancelScope(), anyio.CancelScope()
    async with anyio.create_task_group() as group:
        group.start_soon(wait, first)
        group.start_soon(wait, second)
        await anyio.wait_all_tasks_blocked()
        (request,) = desk.pending
        if first_leaves == "before":
            first.cancel()
            await anyio.wait_all_tasks_blocked()
        assert desk.pending == (request,)
        desk.answer(request, YES)
        if first_leaves == "after":
            first.cancel()
    # An answer is used once: for the same call a second one who waits gets none.
    assert answers == ([YES, None] if first_leaves == "never" else [YES])
    assert desk.pending == ()


def test_what_is_no_answer_leaves_the_question_open() -> None:
    desk = ApprovalDesk(FakeClock(), FakeIds())
    by_nobody = Answer(allowed=True, by=cast("str", None))
    asked = ApprovalLedger().request(ask(), "apr_1", FakeClock().now())
    for wrong in (True, None, Answer(allowed=cast("bool", "yes"), by="x"), by_nobody):
        with pytest.raises(ApprovalError, match="is no answer"):
            desk.answer(asked, cast("Answer", wrong))


@pytest.mark.req("SPEC-REPLY-08")
async def test_a_desk_takes_an_answer_to_the_very_question_that_it_shows() -> None:
    desk = ApprovalDesk(FakeClock(), FakeIds())
    pipeline = make_pipeline(ASKS, judge=make_judge(), approver=desk)
    ended: list[bool] = []

    async def call() -> None:
        ended.append((await pipeline.settle(make_call("deploy", {}), Abort())).ok)

    async def seen() -> ApprovalRequest:
        while not desk.pending:
            await anyio.lowlevel.checkpoint()
        return desk.pending[0]

    kept: list[ApprovalRequest] = []
    async with anyio.create_task_group() as group:
        group.start_soon(call)
        shown = await seen()
        kept.append(shown)
        for other in ("id", "session_id", "call_id", "call_hash", "tool_name"):
            forged = msgspec.structs.replace(shown, **{other: "another"})
            with pytest.raises(ApprovalError):
                desk.answer(forged, YES)
        await anyio.wait_all_tasks_blocked()
        assert (desk.pending, ended) == ((shown,), [])
        desk.answer(shown, NO)
        with pytest.raises(ApprovalError):  # a second one, before the first is used
            desk.answer(shown, YES)
    assert ended == [False]
    with pytest.raises(ApprovalError, match=f"no question {kept[0].id} about call .* is open"):
        desk.answer(kept[0], YES)
