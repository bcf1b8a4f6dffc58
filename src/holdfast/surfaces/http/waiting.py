"""What waits for somebody: leave for calls, questions of tools, results of custom ones."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import Annotated, TypeVar

import msgspec
from anyio import to_thread

from holdfast.app import answering, ingress, inquiring
from holdfast.app.changes import change_lines, files_below
from holdfast.app.shown_asks import looking_without_secrets
from holdfast.contract.journal import UnknownSession
from holdfast.contract.json_value import JsonValue, decode_json
from holdfast.contract.person import Inquiry, Replies, skipped
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.contract.rules import Remember, Use
from holdfast.record.codec import moment_of
from holdfast.runtime import recovery
from holdfast.surfaces.http.house import BY, House
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Query, Route

_SHOWN_LINES = 400
_T = TypeVar("_T")


class OfSession(Query, frozen=True, kw_only=True):
    """Of which session."""

    session: str | None = None
    """Of all, without it."""


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waits for a person's leave, with what they need to decide."""

    session_id: str
    approval_id: str
    call_id: str
    tool: str
    arguments: str
    arguments_hash: str
    reason: str
    uses: tuple[Use, ...]
    offers: tuple[Remember, ...]
    wider: tuple[str, ...]
    asked_at: datetime
    session_title: str | None
    workspace: str | None
    change: list[str]
    """What it would change in files, as lines with + and -."""


class Approvals(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, the oldest first."""

    approvals: list[Approval]


async def list_approvals(asked: Asked[OfSession, Body]) -> Approvals:
    """The calls that wait for a person's leave, the oldest first."""
    house = asked.house
    told = await _of_each(asked, lambda name: recovery.open_questions(house.journal, name))
    once = {one.approval_id: one for one in told}  # a session tells of those below it, too
    found = sorted(once.values(), key=lambda one: (one.asked_at, one.approval_id))
    return Approvals(approvals=[await _approval(house, one) for one in found])


async def _of_each(
    asked: Asked[OfSession, Body], read: Callable[[str], Awaitable[Iterable[_T]]]
) -> list[_T]:
    """What waits in the session that is meant, or in all in which something does."""
    house, session = asked.house, asked.query.session
    if session is not None:
        await house.journal.session(session)
        return list(await read(session))
    found: list[_T] = []
    for name in await house.home.waiting():
        try:
            found += await read(name)
        except UnknownSession:
            house.home.forget(name)  # another process took it away
    return found


async def _approval(house: House, question: Question) -> Approval:
    state = (await house.journal.session(question.session_id)).state
    return Approval(
        session_id=question.session_id,
        approval_id=question.approval_id,
        call_id=question.call_id,
        tool=question.tool,
        arguments=question.arguments,
        arguments_hash=question.arguments_hash,
        reason=question.reason,
        uses=question.uses,
        offers=question.offers,
        wider=question.wider,
        asked_at=question.asked_at,
        session_title=state.title,
        workspace=state.workspace,
        change=await to_thread.run_sync(_change, house, question, state.workspace),
    )


def _change(house: House, question: Question, workspace: str | None) -> list[str]:
    try:
        arguments = decode_json(question.arguments)
    except ValueError:
        return []
    if workspace is None or not isinstance(arguments, dict):
        return []
    before = looking_without_secrets(files_below(workspace), house.redactor)
    return change_lines(question.tool, arguments, before, _SHOWN_LINES)


class Leave(Body, frozen=True, kw_only=True):
    """What a person decides."""

    session_id: str
    allow: bool
    remember: Remember = "once"
    wider: bool = False
    note: Annotated[str, msgspec.Meta(max_length=10_000)] | None = None
    by: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] = BY


async def answer_approval(asked: Asked[Query, Leave]) -> None:
    """Allow a call, or refuse it. The first answer counts, wherever it is given."""
    said, house = asked.body, asked.house
    told = Answer(
        allowed=said.allow,
        by=said.by,
        note=said.note or None,
        remember=said.remember,
        wider=said.wider,
    )
    told = answering.checked_answer(told)
    name, approval = said.session_id, asked.names["approval"]
    await answering.write_answer(house.journal, name, approval, told, house.redactor)
    await house.written(name)


class Questions(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, the oldest first."""

    questions: list[Inquiry]


async def list_questions(asked: Asked[OfSession, Body]) -> Questions:
    """What tools ask a person, the oldest first."""
    house = asked.house
    found = await _of_each(asked, lambda name: recovery.open_inquiries(house.journal, name))
    return Questions(questions=sorted(found, key=lambda one: (one.asked_at, one.call_id)))


class Reply(Body, frozen=True, kw_only=True):
    """What a person replies."""

    session_id: str
    answers: tuple[tuple[str, ...], ...] | None = None
    """One list of texts for each question, in their order."""
    skipped: bool = False
    """They would not answer."""
    by: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] = BY


async def answer_question(asked: Asked[Query, Reply]) -> None:
    """Reply to what a tool asks. The first reply counts, wherever it is given."""
    said, house, call = asked.body, asked.house, asked.names["call"]
    if (said.answers is None) is not said.skipped:
        raise Problem(422, "give either answers, one list of texts a question, or skipped: true")
    if said.answers is None:
        open_ones = await recovery.open_inquiries(house.journal, said.session_id)
        count = next((len(one.questions) for one in open_ones if one.call_id == call), 0)
        replies = skipped(count, said.by)
    else:
        replies = Replies(answers=said.answers, by=said.by)
    told = inquiring.checked_replies(replies)
    await inquiring.write_replies(house.journal, said.session_id, call, told, house.redactor)
    await house.written(said.session_id)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool that the application fulfils."""

    session_id: str
    id: str
    name: str
    input: JsonValue
    requested_at: datetime


class Requests(msgspec.Struct, frozen=True, kw_only=True):
    """All of them."""

    requests: list[Request]


async def list_requests(asked: Asked[OfSession, Body]) -> Requests:
    """The calls of custom tools that wait for what the application gives."""

    async def read(name: str) -> list[Request]:
        custom = (await asked.house.journal.session(name)).state.custom
        if custom is None or custom.answered_by is not None:
            return []
        at = moment_of(custom.requested_at)
        return [
            Request(
                session_id=name, id=custom.id, name=custom.name, input=custom.input, requested_at=at
            )
        ]

    found = await _of_each(asked, read)
    return Requests(requests=sorted(found, key=lambda one: (one.requested_at, one.id)))


class Result(Body, frozen=True, kw_only=True):
    """What the application gives."""

    session_id: str
    output: str


async def answer_request(asked: Asked[Query, Result]) -> None:
    """Give a custom tool's result."""
    said, house = asked.body, asked.house
    name, request = said.session_id, asked.names["request"]
    await ingress.custom_result(house.journal, name, request, said.output, house.redactor)
    await house.written(name)


ROUTES = (
    Route(
        method="GET",
        path="/approvals",
        name="list_approvals",
        says="The calls that wait for a person's leave, the oldest first.",
        answer=list_approvals,
        query=OfSession,
        gives=Approvals,
        fails=(404,),
    ),
    Route(
        method="POST",
        path="/approvals/{approval}",
        name="answer_approval",
        says="Allow a call, or refuse it: once, for the session or for the project.",
        answer=answer_approval,
        body=Leave,
        status=202,
        fails=(404, 409),
    ),
    Route(
        method="GET",
        path="/questions",
        name="list_questions",
        says="What tools ask a person, the oldest first.",
        answer=list_questions,
        query=OfSession,
        gives=Questions,
        fails=(404,),
    ),
    Route(
        method="POST",
        path="/questions/{call}",
        name="answer_question",
        says="Reply to what a tool asks a person.",
        answer=answer_question,
        body=Reply,
        status=202,
        fails=(404, 409),
    ),
    Route(
        method="GET",
        path="/requests",
        name="list_requests",
        says="The calls of custom tools that wait for what the application gives.",
        answer=list_requests,
        query=OfSession,
        gives=Requests,
        fails=(404,),
    ),
    Route(
        method="POST",
        path="/requests/{request}",
        name="answer_request",
        says="Give the result of a custom tool.",
        answer=answer_request,
        body=Result,
        status=202,
        fails=(404, 409),
    ),
)
