"""The person at the terminal: asked once, and only yes means yes."""

import io
import os
import sys

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


async def _answered(typed: bytes) -> tuple[Answer | None, str]:
    reading, writing = os.pipe()
    os.write(writing, typed)
    os.close(writing)
    shown = io.StringIO()
    with os.fdopen(reading, "r", encoding="utf-8") as answers:
        return await TerminalApprover(answers, shown)(ASK), shown.getvalue()


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
