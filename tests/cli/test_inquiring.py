"""What tools ask the person at the terminal, and what is answered from another one."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from cli.stored_sessions import in_store, made
from command import Cli, Terminal

from holdfast.contract import events
from holdfast.contract.person import Choice, Inquiry, PersonQuestion, Replies
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.inquiring import TerminalPerson, asker_here, chosen
from holdfast.surfaces.cli.person import person_here

WHICH = PersonQuestion(
    question="Which\ndatabase?",
    header="Storage",
    options=(Choice(label="SQLite", description="One\x1b[2J file"), Choice(label="PostgreSQL")),
)
WHERE = PersonQuestion(
    question="Where?", options=(Choice(label="here"), Choice(label="there")), multi_select=True
)
INQUIRY = Inquiry(
    session_id="ses_1",
    call_id="cal_1",
    tool="question",
    questions=(WHICH, WHERE),
    asked_at=SystemClock().now(),
)


async def _answered(typed: bytes) -> tuple[Replies | None, str]:
    reading, writing = os.pipe()
    os.write(writing, typed)
    os.close(writing)
    shown = io.StringIO()
    with os.fdopen(reading, "r", encoding="utf-8") as answers:
        return await TerminalPerson(answers, shown)(INQUIRY), shown.getvalue()


@pytest.mark.anyio
async def test_numbers_choose_and_other_words_are_meant_as_they_are() -> None:
    replies, shown = await _answered(b"2\n\n1, 2\n")
    assert replies == Replies(answers=(("PostgreSQL",), ("here", "there")), by=person_here())
    assert shown.startswith("Storage: Which database?\n  1  SQLite - One\\u001b[2J file\n")
    assert "An answer is wanted" in shown
    replies, _ = await _answered(b"neither of them\n1, elsewhere\n")
    assert replies is not None
    assert replies.answers == (("neither of them",), ("1, elsewhere",))


@pytest.mark.anyio
async def test_a_terminal_that_is_gone_skips_all() -> None:
    assert (await _answered(b"1\n"))[0] is None


def test_a_number_that_is_no_option_is_an_answer() -> None:
    assert chosen(WHICH, "3") == ("3",)
    assert chosen(WHERE, "1,1") == ("here",)


def test_only_a_terminal_on_both_sides_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert asker_here() is not None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert asker_here() is None


def waiting(home: Path, session: str) -> None:
    asked = events.CallAsked(call_id="cal_1", tool="question", arguments="{}")
    intended = events.CallIntended(call_id="cal_1", tool="question", arguments_hash="a", grounds="")
    inquiry = events.InquiryAsked(call_id="cal_1", questions=(WHICH, WHERE))
    made(home, session, [events.SessionCreated(), asked, intended, inquiry])


def said(home: Path) -> list[events.InquiryAnswered]:
    async def work(store: Store) -> list[events.InquiryAnswered]:
        found = [one.payload for one in await store.journal.events("ses_1")]
        return [one for one in found if isinstance(one, events.InquiryAnswered)]

    return in_store(home, work)


def test_what_a_tool_asks_is_shown_and_answered_once(cli: Cli, home: Path) -> None:
    waiting(home, "ses_1")
    shown = cli("sessions", "questions").out
    assert shown.startswith("cal_1\n-----\n")
    assert "Storage: Which database? [SQLite (One\\u001b[2J file) | PostgreSQL]" in shown
    assert "holdfast sessions answer ses_1 cal_1 --reply TEXT --reply TEXT" in shown
    (one,) = json.loads(cli("sessions", "questions", "--json").out)["inquiries"]
    assert one["questions"][1]["multi_select"] is True
    assert "what to reply to cal_1?" in cli("sessions", "show", "ses_1").out
    few = cli("sessions", "answer", "ses_1", "--reply", "SQLite")
    assert (few.status, few.out) == (2, "")
    assert "it asks 2 questions: give --reply as often" in few.err
    empty = cli("sessions", "answer", "ses_1", "--reply", " ", "--reply", "x")
    assert "an answer to question 1 is empty" in empty.err
    both = cli("sessions", "answer", "ses_1", "--reply", "x", "--allow")
    assert (both.status, "stand alone" in both.err) == (2, True)
    assert said(home) == []
    done = cli("sessions", "answer", "ses_1", "cal", "--reply", "SQLite", "--reply", '["a","b"]')
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("cal_1 is answered. ")
    (reply,) = said(home)
    assert (reply.answers, reply.by) == ((("SQLite",), ("a", "b")), person_here())
    again = cli("sessions", "answer", "ses_1", "--skip")
    assert (again.status, again.out) == (1, "")
    assert "session ses_1 asks nothing (any more)" in again.err


def test_who_skips_answers_nothing(cli: Cli, home: Path) -> None:
    waiting(home, "ses_1")
    told = json.loads(cli("sessions", "answer", "ses_1", "--skip", "--json").out)
    assert (told["answers"], told["skipped"]) == ([[], []], True)
    assert [one.skipped for one in said(home)] == [True]
