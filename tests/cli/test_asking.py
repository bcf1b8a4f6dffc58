"""The person at the terminal: asked once, and only yes means yes."""

import io
import os
import sys

import msgspec
import pytest
from command import Terminal
from support import make_call, make_tool

from holdfast.contract.call import Ask, Prepared
from holdfast.contract.ports import Answer
from holdfast.surfaces.cli.asking import TerminalApprover, approver_here

ASK = Ask(
    prepared=Prepared(
        call=make_call(), tool=make_tool(), checked={"path": "a\x9bb"}, values={}, repairs=()
    ),
    reason="It always\nasks.",
)


async def _answered(typed: bytes, ask: Ask = ASK) -> tuple[Answer | None, str]:
    reading, writing = os.pipe()
    os.write(writing, typed)
    os.close(writing)
    shown = io.StringIO()
    with os.fdopen(reading, "r", encoding="utf-8") as answers:
        return await TerminalApprover(answers, shown)(ask), shown.getvalue()


@pytest.mark.parametrize("typed", [b"y\n", b" YES \n"])
async def test_yes_is_yes(typed: bytes) -> None:
    answer, shown = await _answered(typed)
    assert answer == Answer(allowed=True, by="the person at the terminal")
    assert shown.startswith("It always asks.\nprobe {")
    assert '"a\\u009bb"' in shown


@pytest.mark.parametrize("typed", [b"n\n", b"\n", b"yess\n", b"of course\n"])
async def test_everything_else_is_no(typed: bytes) -> None:
    answer, _shown = await _answered(typed)
    assert answer is not None
    assert not answer.allowed


async def test_a_terminal_that_is_gone_is_nobody() -> None:
    assert (await _answered(b""))[0] is None


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
        (b"always\n", False, "once"),
    ],
)
async def test_an_ask_shows_the_call_and_offers_once_always_and_reject(
    typed: bytes, allowed: bool, remember: str
) -> None:
    answer, shown = await _answered(typed, OFFERING)
    assert answer is not None
    assert (answer.allowed, answer.remember) == (allowed, remember)
    assert "probe" in shown
    assert '"path"' in shown
    assert "y/N" in shown
    assert "p = for this project" in shown
    assert "never" in shown


@pytest.mark.parametrize("typed", [b"p\n", b"s\n", b"never\n"])
async def test_what_was_not_offered_is_a_plain_no(typed: bytes) -> None:
    answer, shown = await _answered(typed, ASK)
    assert answer is not None
    assert (answer.allowed, answer.remember) == (False, "once")
    assert "project" not in shown
