"""The lines of what happens in few runs, for somebody who watches one.

Text only; what is shown of it where is not known here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.app.read_along import Below
from holdfast.contract.events import (
    ApprovalAsked,
    CallAsked,
    CallSettled,
    ChildCreated,
    ChildIdle,
    InquiryAsked,
    Payload,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.json_value import decode_json
from holdfast.contract.person import PersonQuestion
from holdfast.contract.truncate import cut_text
from holdfast.contract.wake_events import ContextCompacted, ModelFailed
from holdfast.surfaces.cli.call_cards import CardLine, card_of, result_lines
from holdfast.surfaces.cli.paint import Tone
from holdfast.surfaces.cli.screen import one_line

_SAID = 120


class Listener(NamedTuple):
    """What whoever watches knows by themselves."""

    said: str | None = None
    """What they said when the run began."""
    is_asked: bool = False
    """They are asked, and shown there what is asked."""


def lines_of(said: Payload, listener: Listener, names: dict[str, str]) -> Iterator[CardLine]:
    """What is told of it. ``names``: of subagents, by their sessions."""
    match said:
        case ModelFailed():
            later = said.retry_in_seconds
            again = "" if later is None else f"; asked again in {later:.1f} s"
            yield CardLine(one_line(f"! model: {said.trouble}: {said.message}{again}"), "bad")
        case InquiryAsked() if not listener.is_asked:
            for question in said.questions:
                yield CardLine(f"  ? {asked_line(question)}", "warn")
        case UserMessage() if said.message != listener.said:
            yield _cut(f"> {said.message}")
        case UserInterrupt():
            yield _cut(f"  interrupted{'' if said.note is None else f': {said.note}'}")
        case ContextCompacted():
            yield _cut("  (a summary stands for what was said before)")
        case ApprovalAsked() if not listener.is_asked:
            yield CardLine(f"  asks: {one_line(said.reason)}", "warn")
        case _:
            yield from _child_lines(said, names)


def _child_lines(said: Payload, names: dict[str, str]) -> Iterator[CardLine]:
    match said:
        case ChildCreated(child_session_id=child):
            yield CardLine(f"+ {names.get(child, 'a subagent')} begins ({child})", "dim")
        case ChildIdle(child_session_id=child, child_stop_reason=reason):
            name = names.get(child, child)
            well = reason == "idle"
            ended = f"- {name} is done" if well else f"! {name} ended"
            tone: Tone = "dim" if well else "bad"
            yield CardLine(_cut(f"{ended}: {said.summary}").text.rstrip(": "), tone)
        case _:
            return


def below_lines(below: Below) -> Iterator[CardLine]:
    """A line for each call of a subagent, and one where it failed."""
    begin = f"{'  ' * below.depth}{below.name}:"
    match below.event.payload:
        case CallAsked(tool=tool, arguments=arguments):
            yield CardLine(f"{begin} {card_of(tool, arguments).title}", "dim")
        case CallSettled(tool=tool, envelope=envelope):
            told = decode_json(bytes(envelope))
            first = next(result_lines(card_of(tool, "{}"), told if isinstance(told, dict) else {}))
            if first.tone == "bad":
                yield CardLine(f"{begin} {tool}: {first.text}", "bad")
        case _:
            return


def asked_line(question: PersonQuestion) -> str:
    """A question of a tool on one line, with the answers it offers."""
    header = "" if question.header is None else f"{question.header}: "
    offered = " | ".join(one.label for one in question.options)
    return one_line(f"{header}{question.question}{f' [{offered}]' if offered else ''}")


def _cut(text: str) -> CardLine:
    return CardLine(cut_text(" ".join(text.split("\n")), _SAID), "dim")
