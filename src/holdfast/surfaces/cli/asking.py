"""Asking the person at the terminal whether a call may run. Without a terminal nobody is asked."""

import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from holdfast.contract.call import Ask
from holdfast.contract.json_value import encode_json
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Remember
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.person import person_here
from holdfast.surfaces.cli.screen import indented, one_line
from holdfast.surfaces.cli.typed import Typing

_ANSWERS: dict[str, tuple[bool, Remember]] = {
    "y": (True, "once"),
    "yes": (True, "once"),
    "s": (True, "session"),
    "session": (True, "session"),
    "p": (True, "project"),
    "project": (True, "project"),
    "never": (False, "session"),
    "n": (False, "once"),
    "no": (False, "once"),
    "": (False, "once"),
}
_REFUSALS = frozenset({"n", "no", "never"})
_OFFERED: dict[Remember, str] = {
    "session": "s = for this session",
    "project": "p = for this project",
}
_WHOLE = frozenset({"w", "whole"})
_SHOW = "  w = show all of it first"
_UNKNOWN = "That is none of the answers there are:"
_ALWAYS: tuple[Remember, ...] = ("once", "session", "project")


class TerminalApprover:
    """Puts the question on a terminal and reads a line, until it knows what that means."""

    def __init__(
        self, answers: TextIO, questions: TextIO, *, lasting: Sequence[Remember] = _ALWAYS
    ) -> None:
        """Lasting is what means something here: a session that ends with the call is none."""
        self._typing = Typing(answers, questions)
        self._lasting = lasting

    async def __call__(self, ask: Ask, /) -> Answer | None:
        """Show the call and wait for an answer; a closed terminal gives none."""
        prepared = ask.prepared
        shown = printable(indented(encode_json(prepared.arguments)))
        self._typing.show(one_line(ask.reason), *f"{prepared.tool.name} {shown}".split("\n"))
        return await self.decided(ask, None)

    async def decided(self, ask: Ask, whole: Callable[[], None] | None, /) -> Answer | None:
        """Wait for the answer about a call that was shown.

        ``whole``: shows all of it, where not all of it was.
        """
        self._typing.forget()
        choices = _choices(ask, [kind for kind in ask.offers if kind in self._lasting])
        if whole is not None:
            choices = [*choices, _SHOW]
        self._typing.show(*choices)
        while True:
            line = await self._typing.line("Run it? [y/N] ", tuple(choices))
            if line is None:
                return None
            if whole is not None and line.strip().lower() in _WHOLE:
                whole()
                self._typing.show(*choices)
                continue
            answer = answer_in(line)
            if answer is None:
                self._typing.show(_UNKNOWN, *choices)
                continue
            objection = _objection(answer, ask, self._lasting)
            if objection is None:
                return answer
            self._typing.show(objection)


def _choices(ask: Ask, offers: Sequence[Remember]) -> list[str]:
    longer = [_OFFERED[kind] for kind in offers if kind in _OFFERED]
    lines = [", ".join(["y = once", *longer])]
    if ask.wider and longer:
        stars = " or ".join(f"{kind[0]}*" for kind in offers if kind in _OFFERED)
        lines.append(f"{stars} = and for all that fits {printable(' or '.join(ask.wider))}")
    never = ", never = not in this session" if "session" in offers else ""
    lines.append(f"n = no, n: WORDS = no, and the model is told these words{never}")
    return [f"  {line}" for line in lines]


def answer_in(line: str) -> Answer | None:
    """What a line means; None: nothing that was offered."""
    word, colon, said = line.strip().partition(":")
    word = word.strip().lower()
    wider = word.endswith("*")
    known = _ANSWERS.get(word.removesuffix("*"))
    if known is None:
        return None
    allowed, remember = known
    if (colon and word not in _REFUSALS) or (wider and not (allowed and remember != "once")):
        return None  # it is not quite a yes
    return Answer(
        allowed=allowed,
        by=person_here(),
        note=(said.strip() or None) if word in _REFUSALS else None,
        remember=remember,
        wider=wider,
    )


def _objection(answer: Answer, ask: Ask, lasting: Sequence[Remember]) -> str | None:
    """Why an answer that could be given elsewhere is none here."""
    if answer.remember not in ask.offers:
        return "An answer to this call cannot be remembered."
    if answer.remember not in lasting:
        return "The session ends with this call: nothing can be remembered for it."
    if answer.wider and not ask.wider:
        return "Nothing but exactly this can be remembered here."
    return None


def approver_here(*, lasting: Sequence[Remember] = _ALWAYS) -> TerminalApprover | None:
    """Whoever can be asked: the person at the terminal; None when nobody is there."""
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stderr.isatty():
        return None
    return TerminalApprover(sys.stdin, sys.stderr, lasting=lasting)
