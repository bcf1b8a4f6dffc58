"""`holdfast sessions questions` and `answer`: what waits for a person, and what they say to it.

Answering runs nothing: it is written down, and whoever runs the session goes on with it.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from anyio import to_thread

from holdfast.app import answering, inquiring, session_store
from holdfast.app.control.client import poke
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.journal import NotFitting, Session
from holdfast.contract.json_value import JsonObject, plain
from holdfast.contract.person import Inquiry
from holdfast.contract.ports import Answer
from holdfast.contract.question import Question
from holdfast.envelope.redact import Redactor
from holdfast.record.export import moment_text
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.person import agrees, person_here
from holdfast.surfaces.cli.run_end import answer_line
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.session_list import shown_time
from holdfast.surfaces.cli.session_reply import inquiry_fields, inquiry_plain, reply
from holdfast.surfaces.cli.stores import settings_in, store_in
from holdfast.surfaces.cli.taking_up import how_to_take_up

_NOT_MEANT = 1
_SOON = "within half a second"
_NOBODY = "nobody now: an answer counts when the session is taken up again"
_WORKERS = "nobody now: once it is answered, a worker of the cluster goes on with it"
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


async def questions(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    words: list[str] = arguments.words
    found: tuple[Question, ...] = ()
    asked: tuple[Inquiry, ...] = ()
    runners: dict[str, str | None] = {}
    try:
        async with store_in(arguments) as store:
            session_id = await session_meant(store.archive, words[0], arguments) if words else None
            found = await answering.questions_in(store, session_id)
            asked = await inquiring.inquiries_in(store, session_id)
            for one in (*found, *asked):
                runners[one.session_id] = _runner(await store.journal.session(one.session_id))
    except session_store.NothingStored:
        if words:
            raise
    if arguments.json:
        screen.document(
            {
                "questions": [_plain(one, runners[one.session_id]) for one in found],
                "inquiries": [inquiry_plain(one, runners[one.session_id]) for one in asked],
            }
        )
        return 0
    nobody = _WORKERS if _has_workers(arguments) else _NOBODY
    now = SystemClock().now()
    shown = {one.approval_id: _fields(one, runners[one.session_id] or nobody, now) for one in found}
    shown |= {one.call_id: inquiry_fields(one, runners[one.session_id]) for one in asked}
    for number, (name, fields) in enumerate(shown.items()):
        if number:
            screen.look.text("")
        screen.look.heading(printable(name))
        screen.look.fields(fields)
    if not shown:
        screen.look.text("No question is open.")
    return 0


async def answer(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    if arguments.reply or arguments.skip:
        if arguments.allow or arguments.deny or arguments.note:
            raise UsageError("--reply and --skip answer what a tool asks, and stand alone")
        return await reply(arguments, screen)
    if arguments.allow == arguments.deny:
        raise UsageError(
            "may it run? give --allow or --deny, one of them; what a tool asks is answered with"
            " --reply"
        )
    said = answering.checked_answer(
        Answer(allowed=arguments.allow, by=person_here(), note=arguments.note)
    )
    around = surroundings_of_this_process(settings_in(arguments))
    name, *approval = arguments.words
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, name, arguments)
        waiting = await answering.questions_in(store, session_id)
        approval_id = _approval(session_id, waiting, approval)
        if said.allowed and [approval_id] != approval:
            # What was looked at before may have been another question.
            known = next((one for one in waiting if one.approval_id == approval_id), None)
            if known and not await to_thread.run_sync(_meant, known, screen):
                return _NOT_MEANT
        await answering.write_answer(
            store.journal, session_id, approval_id, said, Redactor(around.secrets)
        )
        heard = await poke(session_id, store.journal, around)
        session = await store.journal.session(session_id)
    run_by = _runner(session)
    follows = _what_follows(
        session, run_by, allowed=said.allowed, heard=heard, has_workers=_has_workers(arguments)
    )
    if arguments.json:
        told: Mapping[str, object] = {
            "session_id": session_id,
            "approval_id": approval_id,
            "allowed": said.allowed,
            "by": said.by,
            "run_by": run_by,
            "heard": heard,
            "next": follows,
        }
        screen.document(told)
    else:
        screen.raw(f"{approval_id} is {'allowed' if said.allowed else 'denied'}. {follows}")
    return 0


def _approval(session_id: str, waiting: Sequence[Question], given: Sequence[str]) -> str:
    """The one that was named, by its id or the beginning of it, or the only one that is open."""
    ids = [one.approval_id for one in waiting]
    named = given[0] if given else ""
    fitting = [one for one in ids if one.startswith(named)]
    if named in ids or len(fitting) == 1:
        return named if named in ids else fitting[0]
    if fitting:
        raise UsageError(
            f"session {session_id} has {counted(len(fitting), 'question')} that fit; write which:"
            f" {', '.join(fitting)}"
        )
    if named:
        return named  # writing it down tells what became of it
    raise NotFitting(f"session {session_id} has no open question (any more)")


def _meant(question: Question, screen: Screen) -> bool:
    """Whether it is this call that may run, of which the person has not given the whole id."""
    whole = f"holdfast sessions answer {question.session_id} {question.approval_id} --allow"
    return agrees(
        f"{one_line(question.tool)} {one_line(question.arguments)}\nMay it run?",
        screen,
        unasked=f"which call may run has to be said in full: {whole}",
        otherwise="nothing was answered",
    )


def _runner(session: Session) -> str | None:
    """Who runs the session, and so waits for the answer."""
    lease = session.lease
    if lease is None or session_store.runner_of(lease, SystemClock()) == "gone":
        return None
    return lease.holder


def _has_workers(arguments: Namespace) -> bool:
    """Whether sessions are run by the workers of a cluster."""
    return settings_in(arguments).engine.kind == "cluster"


def _what_follows(
    session: Session, run_by: str | None, *, allowed: bool, heard: bool, has_workers: bool
) -> str:
    what = "runs" if allowed else "gets its refusal"
    later = how_to_take_up(session)
    if run_by is None and has_workers and session.state.agent_id is not None:
        return f"A worker of the cluster goes on with the session: the call {what} there."
    if run_by is None:
        return f"Nobody runs the session now: the call {what} with {later}."
    return (
        f"{run_by} runs the session: the call {what} there {'at once' if heard else _SOON}, or"
        f" with {later} when it is from before a restart."
    )


def _fields(one: Question, waits: str, now: datetime) -> dict[str, str]:
    fields = {
        "session": one.session_id,
        "tool": one.tool,
        # Whole, whatever its length: nobody should allow what they were not shown.
        "arguments": " ".join(one.arguments.splitlines()) or "-",
        "reason": one_line(one.reason),
        "uses": one_line(", ".join(f"{use.capability or '-'} {use.target}" for use in one.uses)),
        "asked": f"{shown_time(one.asked_at)} UTC, {_age(now - one.asked_at)} ago",
        "waits": waits,
        "answer": answer_line(one),
    }
    return {name: printable(value) for name, value in fields.items() if value}


def _age(passed: timedelta) -> str:
    seconds = max(0, int(passed.total_seconds()))
    unit, name = next(((unit, name) for unit, name in _UNITS if seconds >= unit), _UNITS[-1])
    return counted(seconds // unit, name)


def _plain(one: Question, run_by: str | None) -> JsonObject:
    fields: JsonObject = {name: plain(value) for name, value in msgspec.structs.asdict(one).items()}
    return {**fields, "asked_at": moment_text(one.asked_at), "run_by": run_by}
