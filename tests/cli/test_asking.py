"""The person at the terminal: asked until the answer is one, and only yes means yes."""

import io
import os
import sys
from collections.abc import Sequence

import msgspec
import pytest
from command import Terminal
from support import make_call, make_tool

from holdfast.contract.call import Ask, Prepared
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Remember
from holdfast.surfaces.cli.asking import TerminalApprover, approver_here
from holdfast.surfaces.cli.person import person_here

ASK = Ask(
    prepared=Prepared(
        call=make_call(), tool=make_tool(), checked={"path": "a\x9bb"}, values={}, repairs=()
    ),
    reason="It always\nasks.",
)


async def _answered(
    typed: bytes, ask: Ask = ASK, lasting: Sequence[Remember] = ("once", "session", "project")
) -> tuple[Answer | None, str]:
    reading, writing = os.pipe()
    os.write(writing, typed)
    os.close(writing)
    shown = io.StringIO()
    with os.fdopen(reading, "r", encoding="utf-8") as answers:
        return await TerminalApprover(answers, shown, lasting=lasting)(ask), shown.getvalue()


@pytest.mark.parametrize("typed", [b"y\n", b" YES \n"])
async def test_yes_is_yes(typed: bytes) -> None:
    answer, shown = await _answered(typed)
    assert answer == Answer(allowed=True, by=person_here())
    assert shown.startswith("It always asks.\nprobe {")
    assert '"a\\u009bb"' in shown


@pytest.mark.parametrize("typed", [b"n\n", b"\n", b" No \n"])
async def test_no_and_nothing_are_no(typed: bytes) -> None:
    answer, shown = await _answered(typed)
    assert answer == Answer(allowed=False, by=person_here())
    assert shown.count("[y/N]") == 1


@pytest.mark.parametrize(
    "typed", [b"xyz\n", b"yess\n", b"of course\n", b"y: but be careful\n", b"yes*\n", b": x\n"]
)
async def test_what_is_no_answer_is_asked_again_with_the_answers_there_are(typed: bytes) -> None:
    answer, shown = await _answered(typed + b"n: not now\n", OFFERING)
    assert answer == Answer(allowed=False, by=person_here(), note="not now")
    again = shown.partition("[y/N] ")[2]
    assert again.startswith("That is none of the answers there are:\n  y = once, s = for")
    assert "never = not in this session" in again
    assert (await _answered(typed))[0] is None


async def test_a_terminal_that_is_gone_is_nobody() -> None:
    answer, shown = await _answered(b"")
    assert answer is None
    assert shown.endswith("[y/N] \n")  # what follows begins a line of its own


def test_only_a_terminal_on_both_sides_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(approver_here(), TerminalApprover)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert approver_here() is None
    monkeypatch.setattr(sys, "stdin", None)
    assert approver_here() is None


OFFERING = msgspec.structs.replace(ASK, offers=("once", "session", "project"))


@pytest.mark.req("SPEC-REPLY-01")
@pytest.mark.parametrize(
    ("typed", "allowed", "remember"),
    [
        (b"y\n", True, "once"),
        (b"s\n", True, "session"),
        (b"p\n", True, "project"),
        (b"n\n", False, "once"),
        (b"\n", False, "once"),
        (b"never\n", False, "session"),
    ],
)
async def test_an_ask_shows_the_call_and_offers_once_always_and_reject(
    typed: bytes, allowed: bool, remember: str
) -> None:
    answer, shown = await _answered(typed, OFFERING)
    assert answer is not None
    assert (answer.allowed, answer.remember, answer.note) == (allowed, remember, None)
    assert "probe" in shown
    assert '"path"' in shown
    assert "y = once, s = for this session, p = for this project\n" in shown
    assert "never = not in this session" in shown
    assert "*" not in shown
    assert shown.endswith("Run it? [y/N] ")


@pytest.mark.parametrize(
    ("typed", "remember", "note"),
    [
        (b"n: use git mv instead\n", "once", "use git mv instead"),
        (b" No :Not on a Friday: ask Ada \n", "once", "Not on a Friday: ask Ada"),
        (b"never: that is Ada's\n", "session", "that is Ada's"),
        (b"n:\n", "once", None),
    ],
)
async def test_words_behind_a_no_are_for_the_model_and_no_yes_has_any(
    typed: bytes, remember: str, note: str | None
) -> None:
    answer, _shown = await _answered(typed, OFFERING)
    assert answer is not None
    assert (answer.allowed, answer.remember, answer.note) == (False, remember, note)


@pytest.mark.parametrize(("typed", "remember"), [(b"s*\n", "session"), (b"P*\n", "project")])
async def test_a_wider_pattern_is_shown_and_taken_only_when_asked_for(
    typed: bytes, remember: str
) -> None:
    ask = msgspec.structs.replace(OFFERING, wider=("git log *", "ls *"))
    answer, shown = await _answered(typed, ask)
    assert "s* or p* = and for all that fits git log * or ls *\n" in shown
    assert answer is not None
    assert (answer.allowed, answer.remember, answer.wider) == (True, remember, True)
    narrow, _shown = await _answered(typed.replace(b"*", b""), ask)
    assert narrow is not None
    assert (narrow.allowed, narrow.wider) == (True, False)


@pytest.mark.parametrize(
    ("typed", "ask", "said"),
    [
        (b"p\n", ASK, "An answer to this call cannot be remembered."),
        (b"never\n", ASK, "An answer to this call cannot be remembered."),
        (b"s*\n", OFFERING, "Nothing but exactly this can be remembered here."),
    ],
)
async def test_what_was_not_offered_is_said_and_asked_again(
    typed: bytes, ask: Ask, said: str
) -> None:
    answer, shown = await _answered(typed + b"y\n", ask)
    assert answer == Answer(allowed=True, by=person_here())
    assert f"{said}\nRun it? [y/N] " in shown
    assert (await _answered(typed, ask))[0] is None


@pytest.mark.parametrize("typed", [b"s\n", b"never\n"])
async def test_where_the_session_ends_with_the_call_nothing_is_offered_for_it(
    typed: bytes,
) -> None:
    ask = msgspec.structs.replace(OFFERING, wider=("ls *",))
    answer, shown = await _answered(typed + b"p*\n", ask, lasting=("once", "project"))
    assert "y = once, p = for this project\n  p* = and for all that fits ls *\n" in shown
    assert "never" not in shown
    assert "The session ends with this call: nothing can be remembered for it.\n" in shown
    assert answer is not None
    assert (answer.allowed, answer.remember, answer.wider) == (True, "project", True)
