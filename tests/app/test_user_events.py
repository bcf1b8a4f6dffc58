"""What somebody outside says to a session as JSON: read by either spelling, and taken in."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from holdfast.app.user_events import read_user_event, take_user_event
from holdfast.contract.envelope import Repair
from holdfast.contract.events import (
    CustomToolResult,
    CustomToolUse,
    OutcomeDefined,
    SessionClosed,
    SessionCreated,
    ToolConfirmation,
    ToolUse,
    UserInterrupt,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.journal import Journal, NotFitting
from holdfast.envelope.redact import Redactor
from holdfast.testing.fake_journal import FakeJournal

S = "ses_1"
SECRET = "s3cr3t-of-the-house"
REDACTOR = Redactor((SECRET,))
ASKS = ToolUse(
    request_id="apr_1",
    tool_name="deploy",
    ownership="managed",
    permission_policy="always_ask",
    input={},
)
OUTSIDE = CustomToolUse(request_id="cus_1", tool_name="order", input={})
CONFIRMS = {"type": "user.tool_confirmation", "allowed": True}
GIVES = {"type": "user.custom_tool_result", "output": "tea"}


@pytest.fixture
async def journal() -> AsyncGenerator[Journal]:
    journal = FakeJournal()
    await journal.create(S, [SessionCreated(agent_id="coder")])
    yield journal
    await journal.close()


async def last(journal: Journal) -> Any:
    return (await journal.events(S))[-1].payload


@pytest.mark.req("BOA-ARG-08")
@pytest.mark.parametrize(
    ("camel", "snake", "renamed"),
    [
        (
            {**CONFIRMS, "requestId": "apr_1", "toolName": "deploy"},
            ToolConfirmation(request_id="apr_1", tool_name="deploy", allowed=True),
            {"request_id": "requestId", "tool_name": "toolName"},
        ),
        (
            {**GIVES, "requestId": "cus_1", "toolName": "order"},
            CustomToolResult(request_id="cus_1", tool_name="order", output="tea"),
            {"request_id": "requestId", "tool_name": "toolName"},
        ),
        (
            {
                "type": "user.define_outcome",
                "outcome": {"title": "Tea", "successCriteria": ["hot"]},
            },
            OutcomeDefined(outcome=WantedOutcome(title="Tea", success_criteria=("hot",))),
            {"outcome.success_criteria": "successCriteria"},
        ),
    ],
)
def test_the_camel_case_spelling_is_the_same_field_and_told(
    camel: Any, snake: object, renamed: dict[str, str]
) -> None:
    read = read_user_event(camel)
    assert read.event == snake
    wanted = {Repair("renamed_key", field, was) for field, was in renamed.items()}
    assert {*read.repairs} == wanted


def test_an_event_as_it_is_named_needs_no_repair() -> None:
    sent: Any = {**CONFIRMS, "request_id": "apr_1", "tool_name": "deploy"}
    assert read_user_event(sent).repairs == ()
    assert read_user_event({"type": "user.message", "message": "hi"}).event == UserMessage(
        message="hi"
    )


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({**CONFIRMS, "request_id": "a", "requestId": "b", "tool_name": "t"}, "requestId"),
        ({"type": "user.message"}, "message"),
        ({"type": "user.message", "message": 3}, "message"),
        ({"type": "agent.message", "message": "x", "summary": ""}, "agent.message"),
        ({"message": "x"}, "type"),
        ({"type": "user.define_outcome", "outcome": {"title": "a", "more": 1}}, "more"),
    ],
)
def test_what_no_person_can_send_is_refused_by_the_field_at_fault(sent: Any, said: str) -> None:
    with pytest.raises(NotFitting, match=said):
        read_user_event(sent)


async def test_each_kind_is_taken_in_as_if_it_were_said_here(journal: Journal) -> None:
    await take_user_event(journal, S, {"type": "user.message", "message": "hi"}, REDACTOR)
    assert await last(journal) == UserMessage(message="hi")
    outcome: Any = {"title": f" Tea {SECRET} ", "successCriteria": ["hot", " hot", ""]}
    await take_user_event(journal, S, {"type": "user.define_outcome", "outcome": outcome}, REDACTOR)
    defined = await last(journal)
    assert isinstance(defined, OutcomeDefined)
    assert SECRET not in defined.outcome.title
    assert defined.outcome.success_criteria == ("hot",)
    await journal.append(S, [ASKS])
    await take_user_event(
        journal, S, {**CONFIRMS, "requestId": "apr_1", "toolName": "deploy"}, REDACTOR
    )
    said = await last(journal)
    assert (said.request_id, said.tool_name, said.allowed) == ("apr_1", "deploy", True)
    await journal.append(S, [OUTSIDE])
    await take_user_event(
        journal, S, {**GIVES, "request_id": "cus_1", "tool_name": "order"}, REDACTOR
    )
    assert isinstance(await last(journal), CustomToolResult)
    await take_user_event(journal, S, {"type": "user.interrupt"}, REDACTOR)
    assert await last(journal) == UserInterrupt()


async def test_what_does_not_fit_the_session_is_refused_and_not_kept(journal: Journal) -> None:
    refused: list[Any] = [
        {**CONFIRMS, "request_id": "apr_9", "tool_name": "deploy"},
        {**GIVES, "request_id": "cus_9", "tool_name": "order"},
        {"type": "user.define_outcome", "outcome": {"title": " "}},
    ]
    before = await journal.events(S)
    for sent in refused:
        with pytest.raises(NotFitting):
            await take_user_event(journal, S, sent, REDACTOR)
    assert await journal.events(S) == before
    await journal.append(S, [SessionClosed(reason="done")])
    with pytest.raises(NotFitting, match="is over"):
        await take_user_event(
            journal, S, {"type": "user.define_outcome", "outcome": {"title": "x"}}, REDACTOR
        )
