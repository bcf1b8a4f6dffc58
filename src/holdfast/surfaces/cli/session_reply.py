"""What tools ask a person: shown by `holdfast sessions questions`, answered by `answer --reply`.

Replying runs nothing: it is written down, and whoever runs the session goes on with it.
"""

from argparse import Namespace
from collections.abc import Sequence

import msgspec

from holdfast.app import inquiring
from holdfast.app.control.client import poke
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.journal import NotFitting
from holdfast.contract.json_value import JsonObject, plain
from holdfast.contract.person import Inquiry, PersonQuestion, Replies, misfit, skipped
from holdfast.envelope.redact import Redactor
from holdfast.record.export import moment_text
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.person import person_here
from holdfast.surfaces.cli.run_end import answer_line
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.session_list import shown_time
from holdfast.surfaces.cli.stores import settings_in, store_in
from holdfast.surfaces.cli.taking_up import how_to_take_up


async def reply(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    given: list[str] = arguments.reply or []
    if bool(given) == arguments.skip:
        raise UsageError("give --reply for each question, or --skip for none of them")
    around = surroundings_of_this_process(settings_in(arguments))
    name, *call = arguments.words
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, name, arguments)
        inquiry = _meant(session_id, await inquiring.inquiries_in(store, session_id), call)
        replies = skipped(len(inquiry.questions), person_here())
        if given:
            replies = _replies(inquiry.questions, given)
        told = inquiring.checked_replies(replies)
        journal = store.journal
        redactor = Redactor(around.secrets)
        await inquiring.write_replies(journal, session_id, inquiry.call_id, told, redactor)
        heard = await poke(session_id, journal, around)
        later = how_to_take_up(await journal.session(session_id))
    follows = (
        f"A program that waits for it goes on {'now' if heard else 'within half a second'};"
        f" otherwise go on with {later}."
    )
    if arguments.json:
        screen.document(
            {
                "session_id": session_id,
                "call_id": inquiry.call_id,
                "answers": told.answers,
                "skipped": told.skipped,
                "by": told.by,
                "heard": heard,
                "next": follows,
            }
        )
    else:
        how = "skipped" if told.skipped else "answered"
        screen.raw(f"{inquiry.call_id} is {how}. {follows}")
    return 0


def _meant(session_id: str, waiting: Sequence[Inquiry], given: Sequence[str]) -> Inquiry:
    """The one that was named, by its call's id or the beginning of it, or the only one there is."""
    named = given[0] if given else ""
    fitting = [one for one in waiting if one.call_id.startswith(named)]
    exact = [one for one in fitting if one.call_id == named]
    if exact or len(fitting) == 1:
        return (exact or fitting)[0]
    if not fitting:
        which = f"asks nothing in call {named}" if named else "asks nothing"
        raise NotFitting(
            f"session {session_id} {which} (any more); see: holdfast sessions questions"
        )
    names = ", ".join(one.call_id for one in fitting)
    raise UsageError(
        f"session {session_id} has {counted(len(fitting), 'question')} that fit; write which:"
        f" {names}"
    )


def _replies(questions: Sequence[PersonQuestion], given: Sequence[str]) -> Replies:
    if len(given) != len(questions):
        wanted = counted(len(questions), "question")
        raise UsageError(f"it asks {wanted}: give --reply as often, in their order")
    answers = tuple(
        _several(text) if one.multi_select else (text,)
        for one, text in zip(questions, given, strict=True)
    )
    problem = misfit([one.multi_select for one in questions], answers, was_skipped=False)
    if problem is not None:
        raise UsageError(problem)
    return Replies(answers=answers, by=person_here())


def _several(text: str) -> tuple[str, ...]:
    """Several answers are a JSON list; anything else is one."""
    try:
        return msgspec.json.decode(text, type=tuple[str, ...])
    except msgspec.MsgspecError:
        return (text,)


def inquiry_fields(one: Inquiry, run_by: str | None) -> dict[str, str]:
    """What a person is shown of an inquiry."""
    fields = {
        "session": one.session_id,
        "tool": one.tool,
        **{f"question {number}": _shown(asked) for number, asked in enumerate(one.questions, 1)},
        "asked": f"{shown_time(one.asked_at)} UTC",
        "waits": run_by or "nobody now: a reply counts when the session is taken up again",
        "reply": answer_line(one),
    }
    return {name: printable(value) for name, value in fields.items()}


def _shown(question: PersonQuestion) -> str:
    offered = " | ".join(
        option.label if option.description is None else f"{option.label} ({option.description})"
        for option in question.options
    )
    several = " [several]" if question.multi_select else ""
    header = f"{question.header}: " if question.header else ""
    options = f" [{offered}]" if offered else ""
    return one_line(f"{header}{question.question}{options}{several}")


def inquiry_plain(one: Inquiry, run_by: str | None) -> JsonObject:
    """All of an inquiry, for programs."""
    return {
        "session_id": one.session_id,
        "call_id": one.call_id,
        "tool": one.tool,
        "questions": plain(one.questions),
        "asked_at": moment_text(one.asked_at),
        "run_by": run_by,
    }
