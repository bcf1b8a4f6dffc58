"""What is said of sessions that nobody runs, and how what happens is shown to people."""

import io
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli.stored_sessions import ASKED, SETTLED, TALK, answered, in_store, made
from command import Cli, Terminal

from holdfast.agent.place import Sign
from holdfast.app.control.following import Followed, Following, Lost, Missed
from holdfast.app.holders import this_process
from holdfast.contract import events
from holdfast.contract.events import Event, Payload
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.person import PersonQuestion
from holdfast.contract.runtime import Progress
from holdfast.contract.wake_events import ModelFailed
from holdfast.record.store import Store
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.watched import Watched


def shown(*what: Followed | Payload, full: bool = False, out: io.StringIO | None = None) -> str:
    written, err = out or io.StringIO(), io.StringIO()
    watched = Watched("ses_1", Screen(written, err), full=full)
    for one in what:
        watched.show(_event(one) if isinstance(one, Payload) else one)
    return written.getvalue() + err.getvalue()


def _event(payload: Payload) -> Event:
    return Event(
        session_id="ses_1",
        sequence=1,
        id="evt_1",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        wake_id=None,
        payload=payload,
        previous=b"",
        hash=b"",
    )


def replied(text: str | None) -> events.ModelReplied:
    return events.ModelReplied(request_id="msg_1", reply={} if text is None else {"text": text})


def test_words_are_shown_once_however_they_came() -> None:
    assert shown(TextDelta("one "), TextDelta("two"), replied("one two")) == "one two\n"
    assert shown(TextDelta("one "), replied("one two")) == "one two\n"
    assert shown(replied("one two")) == "one two\n"
    assert shown(TextDelta("one\n"), replied("one\n"), replied("two")) == "one\ntwo\n"
    assert shown(TextDelta("one"), replied("another")) == "one\nanother\n"
    assert shown(replied(None), ReasoningDelta("hm")) == ""
    assert shown(events.ModelReplied(request_id="msg_1", reply="foreign")) == ""


def test_last_words_are_shown_only_where_the_reply_was_another() -> None:
    said = events.AgentMessage(message="done", summary="done")
    assert shown(replied("done"), said) == "done\n"
    assert shown(replied("done\n```json```"), said) == "done\n```json```\ndone\n"


def test_a_reply_that_failed_is_told_and_begun_anew() -> None:
    failed = ModelFailed(
        request_id="msg_1", trouble="timeout", message="too slow", attempt=1, retry_in_seconds=2.0
    )
    told = shown(TextDelta("on"), failed, TextDelta("one"), replied("one"))
    assert told == "on\n! the model gave no reply: too slow; again in 2 s\none\n"
    last = ModelFailed(request_id="msg_1", trouble="timeout", message="too slow", attempt=1)
    assert shown(last) == "! the model gave no reply: too slow\n"


def test_each_step_of_a_call_is_a_line() -> None:
    sign = Sign(call_id="cal_1", progress=Progress(message="testing", done=1, total=3))
    assert shown(ASKED, sign, sign, SETTLED) == (
        '* bash {"command":"make test"}\n'
        ". bash: testing 1/3\n"
        "! bash: timeout: the tests took too long\n"
    )
    unknown = Sign(call_id="cal_9", progress=Progress(done=0.5))
    silent = Sign(call_id="cal_9", progress=Progress(partial=[1]))
    assert shown(unknown, silent) == ". cal_9: 0.5\n"
    piece = CallDelta(index=0, id="c", name="bash", arguments="{")
    assert shown(piece) == ""
    for result, line in ((b'"a b"', "a b"), (b'{"text":"t"}', "t"), (b'{"text":"t","n":1}', None)):
        _, settled = answered(result)
        assert shown(settled) == f"+ bash: {line or result.decode()}\n"
    _, settled = answered(b'"' + b"x" * 300 + b'"')
    assert len(shown(settled)) < 120
    assert len(shown(settled, full=True)) > 300


def test_questions_are_shown_whole_with_how_to_answer() -> None:
    approval = events.ApprovalAsked(
        approval_id="apr_1", call_id="cal_1", tool="bash", arguments_hash="ab", reason="why " * 90
    )
    told = shown(approval)
    assert told.startswith("? may bash run? why why")
    assert "sessions answer ses_1 apr_1 --allow | --deny\n" in told
    assert len(told) > 360
    inquiry = events.InquiryAsked(
        call_id="cal_1", questions=(PersonQuestion("Which?"), PersonQuestion("When?"))
    )
    assert shown(inquiry) == (
        "? Which?\n? When?\n? holdfast sessions answer ses_1 cal_1 --reply TEXT --reply TEXT\n"
    )


def test_what_people_said_is_shown() -> None:
    denied = events.ApprovalAnswered(
        approval_id="apr_1", call_id="cal_1", allowed=False, by="ada", note="no"
    )
    alone = events.ApprovalAnswered(approval_id="apr_1", call_id="cal_1", allowed=True, by=None)
    reply = events.InquiryAnswered(call_id="cal_1", answers=(("a",),), by="ada")
    skipped = events.InquiryAnswered(call_id="cal_1", answers=((),), skipped=True, by="ada")
    assert shown(
        events.UserMessage(message="go\non"),
        denied,
        alone,
        reply,
        skipped,
        events.UserInterrupt(),
        events.UserInterrupt(note="wait"),
        events.StatusIdle(reason="idle", summary="all"),
        events.StatusIdle(reason="requires_action", summary="waits"),
        events.EventsProcessed(event_ids=()),
    ).splitlines() == [
        "> go on",
        "? denied by ada: no",
        "? allowed by nobody: cal_1",
        "? answered by ada",
        "? skipped by ada",
        "x a person interrupted",
        "x a person interrupted: wait",
        "- idle",
        "- requires_action: waits",
    ]


def test_what_was_not_shown_live_is_told_beside_it() -> None:
    told = shown(TextDelta("on"), Missed(3), Lost("it has ended"))
    assert told == (
        "on\nholdfast: 3 pieces came too fast to be shown live\n"
        "holdfast: it is not told live any more what happens; the journal is read instead"
        " (it has ended)\n"
    )


def test_nothing_steers_the_terminal_of_whoever_watches() -> None:
    assert "\x1b" not in shown(TextDelta("\x1b[2J"), out=Terminal())


def test_a_session_that_rests_is_not_waited_for(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    told = cli("sessions", "watch", "ses_1")
    assert (told.status, told.out) == (0, "")
    assert told.err == "holdfast: session ses_1 rests; --follow waits for what comes\n"


def test_whoever_follows_sees_what_comes_until_the_session_is_closed(cli: Cli, home: Path) -> None:
    made(home, "ses_1", [*TALK, events.SessionClosed(reason="closed")])
    told = cli("sessions", "watch", "ses_1", "--follow")
    assert (told.status, told.out, told.err) == (0, "", "")


def test_a_session_that_waits_for_a_person_is_shown_with_its_question(cli: Cli, home: Path) -> None:
    began = events.SpanStarted(span_id="wak_1", span_kind="wake", name="wake")
    inside = events.SpanStarted(span_id="spn_1", span_kind="tool", name="bash")
    approval = events.ApprovalAsked(
        approval_id="apr_1", call_id="cal_1", tool="bash", arguments_hash="ab", reason="why"
    )
    said = events.UserMessage(message="before")
    made(home, "ses_1", [events.SessionCreated(), said, began, inside, ASKED, approval])
    told = cli("sessions", "watch", "ses_1")
    assert told.status == 4
    assert told.out.startswith('* bash {"command":"make test"}\n? may bash run? why\n')


def test_for_programs_what_happens_is_a_line_each(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (created, *_) = made(home, "ses_1")

    async def told(_self: object, *, stays: bool) -> AsyncGenerator[Followed]:
        assert not stays
        for one in (created, TextDelta("word"), Missed(3), Lost("it has ended")):
            yield one

    monkeypatch.setattr(Following, "__call__", told)
    lines = cli("sessions", "watch", "ses_1", "--json").out.splitlines()
    assert json.loads(lines[0])["type"] == "session.created"
    assert [json.loads(line) for line in lines[1:]] == [
        {"type": "live.text", "text": "word"},
        {"type": "watch.missed", "count": 3},
        {"type": "watch.lost", "why": "it has ended"},
    ]


def test_a_session_whose_program_is_gone_is_told_so(cli: Cli, home: Path) -> None:
    runs = events.StatusChanged(from_status="idle", to_status="running", reason="go")
    made(home, "ses_1", [*TALK, runs])
    machine = this_process().rpartition("/")[0]

    async def work(store: Store) -> None:
        await store.journal.lease("ses_1", f"{machine}/{2**22 + 1}-77-ab", 60)

    in_store(home, work)
    told = cli("sessions", "watch", "ses_1")
    assert (told.status, told.out) == (1, "")
    assert told.err.startswith("holdfast: session ses_1: its program is gone: take it up")


def test_words_to_a_session_that_nobody_runs_are_written_down(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    told = cli("sessions", "send", "last", "go on")
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith("Sent. It is written down: whoever runs the session finds it")
    told = cli("sessions", "interrupt", "ses_1", "--json")
    assert (told.status, json.loads(told.out)["heard"]) == (0, False)

    async def work(store: Store) -> list[Payload]:
        return [one.payload for one in await store.journal.events("ses_1")][-2:]

    assert in_store(home, work) == [events.UserMessage(message="go on"), events.UserInterrupt()]


def test_a_secret_in_what_is_said_is_not_stored(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_TOKEN", "s3cr3t-of-the-house")
    made(home, "ses_1")
    assert cli("sessions", "send", "ses_1", "use s3cr3t-of-the-house").status == 0
    assert cli("sessions", "interrupt", "ses_1", "--note", "s3cr3t-of-the-house").status == 0

    async def work(store: Store) -> str:
        return repr([one.payload for one in await store.journal.events("ses_1")])

    assert "s3cr3t" not in in_store(home, work)


@pytest.mark.parametrize(
    "words",
    [("commands", "ses_1"), ("terminate", "ses_1", "job_1"), ("interrupt", "ses_1", "--call")],
)
def test_what_only_a_running_session_can_do_is_said(
    cli: Cli, home: Path, words: tuple[str, ...]
) -> None:
    made(home, "ses_1")
    told = cli("sessions", *words)
    assert (told.status, told.err) == (1, "holdfast: nobody runs session ses_1 now\n")

    async def work(store: Store) -> None:
        await store.journal.lease("ses_1", f"{this_process()}-ab", 60)

    in_store(home, work)
    told = cli("sessions", *words, "--json")
    assert told.status == 1
    assert "has no socket for session ses_1" in json.loads(told.out)["error"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("send", "ses_1"), "which? write: holdfast sessions send ID TEXT"),
        (("send", "ses_1", "  "), "there is nothing to send"),
        (("send", "ses_1", "a", "b"), "takes one ID TEXT, and not also 'b'"),
        (("terminate", "ses_1"), "write: holdfast sessions terminate ID COMMAND"),
        (("interrupt", "ses_1", "--call", "--note", "x"), "leave --note out"),
        (("watch", "ses_1", "--limit", "3"), "--limit is for"),
        (("watch", "ses_9"), "ses_9"),
    ],
)
def test_what_cannot_be_meant_is_said(
    cli: Cli, home: Path, words: tuple[str, ...], problem: str
) -> None:
    made(home, "ses_1")
    told = cli("sessions", *words)
    assert told.status == 2
    assert problem in told.err
