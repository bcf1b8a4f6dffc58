"""A run as somebody sees it who watches: every kind of thing that can happen has its line."""

import io
import signal
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec
import pytest
from command import Terminal
from support import make_call, make_tool

from holdfast.agent.place import Sign
from holdfast.app.read_along import Subagents
from holdfast.app.telling import Told
from holdfast.contract.call import Ask, Prepared
from holdfast.contract.events import (
    ApprovalAsked,
    CallAsked,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    InquiryAsked,
    ModelReplied,
    ModelRequested,
    Payload,
    SessionClosed,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.person import Choice, Inquiry, PersonQuestion, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.runtime import Progress
from holdfast.contract.wake_events import ContextCompacted, ModelFailed
from holdfast.contract.wakes import WakeEnd
from holdfast.surfaces.cli.asked_about import Asked, Whole
from holdfast.surfaces.cli.asked_here import ApprovedHere, Desk, InquiredHere
from holdfast.surfaces.cli.call_cards import CardLine
from holdfast.surfaces.cli.live_view import LiveView
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.run_view import JsonView, QuietView
from holdfast.surfaces.cli.stopping import Ladder, Stops, heed_signals
from holdfast.surfaces.cli.told_lines import Listener

END = WakeEnd(session_id="ses_1", executed=True, ended="final_response", response="Bye.")


def _event(payload: Payload) -> Event:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Event(
        session_id="ses_1",
        sequence=1,
        id="evt_1",
        at=now,
        wake_id=None,
        payload=payload,
        previous=b"",
        hash=b"",
    )


def _asked(call_id: str = "cal_1", tool: str = "bash") -> Event:
    return _event(CallAsked(call_id=call_id, tool=tool, arguments='{"command": "ls"}'))


def _settled(call_id: str = "cal_1", tool: str = "bash") -> Event:
    envelope = msgspec.Raw(b'{"ok":true,"result":{"exit_code":0,"stdout":"","stderr":""}}')
    return _event(CallSettled(call_id=call_id, tool=tool, envelope=envelope))


def _requested(purpose: str = "turn") -> Event:
    asked = {"request_id": "r", "model": "m", "request_hash": "h", "purpose": purpose}
    return _event(msgspec.convert(asked, ModelRequested, strict=False))


def _replied(**reply: object) -> Event:
    return _event(
        msgspec.convert({"type": "model.replied", "request_id": "r", "reply": reply}, ModelReplied)
    )


def _shown(*told: Told, out: io.StringIO | None = None) -> str:
    stage = out or io.StringIO()
    listener = Listener(said="mine", is_asked=stage.isatty())
    view = LiveView(Paint(stage, {"NO_COLOR": "1"}), None, listener)
    view.begin("ses_1", "m")
    for one in told:
        view.show(one)
    return stage.getvalue().partition("\n")[2]


@pytest.mark.parametrize(
    ("payload", "line"),
    [
        (
            ModelFailed(
                request_id="r", trouble="timeout", message="late", attempt=1, retry_in_seconds=2.0
            ),
            "! model: timeout: late; asked again in 2.0 s",
        ),
        (
            ModelFailed(request_id="r", trouble="unavailable", message="gone", attempt=1),
            "! model: unavailable: gone",
        ),
        (
            ApprovalAsked(
                approval_id="a", call_id="c", tool="t", arguments_hash="h", reason="Really?"
            ),
            "  asks: Really?",
        ),
        (
            ChildCreated(child_session_id="ses_2", outcome_title="coder", message="Do\nit"),
            "+ coder begins (ses_2)",
        ),
        (ChildCreated(child_session_id="ses_2", message=""), "+ a subagent begins (ses_2)"),
        (
            InquiryAsked(
                call_id="c",
                questions=(PersonQuestion(question="Which?", options=(Choice("a"), Choice("b"))),),
            ),
            "  ? Which? [a | b]",
        ),
        (
            ChildIdle(
                child_session_id="ses_2",
                child_stop_reason="idle",
                summary="Done",
                executed_cycles=1,
            ),
            "- ses_2 is done: Done",
        ),
        (
            ChildIdle(
                child_session_id="ses_2",
                child_stop_reason="terminated",
                summary="lost",
                executed_cycles=0,
            ),
            "! ses_2 ended: lost",
        ),
        (
            ContextCompacted(summary="s", kept_from=3),
            "  (a summary stands for what was said before)",
        ),
        (UserInterrupt(), "  interrupted"),
        (UserInterrupt(note="enough"), "  interrupted: enough"),
        (UserMessage(message="theirs"), "> theirs"),
    ],
)
def test_what_happens_in_few_runs_has_a_line(payload: Payload, line: str) -> None:
    assert _shown(_event(payload)) == f"{line}\n"


@pytest.mark.parametrize("payload", [UserMessage(message="mine"), SessionClosed(reason="x")])
def test_what_whoever_watches_knows_is_not_told(payload: Payload) -> None:
    assert _shown(_event(payload)) == ""


def test_a_question_at_a_terminal_is_put_by_whoever_asks() -> None:
    asked = ApprovalAsked(approval_id="a", call_id="c", tool="t", arguments_hash="h", reason="Why?")
    assert "Why?" not in _shown(_event(asked), out=Terminal())


def test_text_and_thoughts_come_apart_also_without_pieces() -> None:
    pieces = (ReasoningDelta("Hm"), ReasoningDelta("."), TextDelta("So"), TextDelta(" be it."))
    reply = _replied(text="So be it.", reasoning="Hm.")
    assert _shown(_requested(), *pieces, reply) == "Hm.\nSo be it.\n"
    assert _shown(_requested(), reply) == "So be it.\n"


def test_a_summary_is_no_part_of_the_conversation() -> None:
    told = (_requested("summary"), TextDelta("In short"), _replied(text="In short"))
    assert _shown(*told, _requested(), TextDelta("Yes."), _replied(text="Yes.")) == "Yes.\n"


def test_calls_beside_each_other_are_told_apart() -> None:
    calls = (_asked("cal_1"), _asked("cal_2"), _settled("cal_1"), _settled("cal_2"))
    shown = _shown(CallDelta(index=0, id="x", name="bash", arguments=""), *calls)
    ends = [line for line in shown.splitlines() if line.startswith("  exit code")]
    assert ends == ["  exit code 0 (bash)", "  exit code 0"]
    assert _shown(_settled("cal_9")) == "* bash\n  exit code 0\n"  # of a run before this one


def test_progress_is_told_in_the_last_line_and_lists_as_they_are() -> None:
    out = Terminal()
    todos: JsonObject = {"todos": [{"content": "A", "status": "pending"}]}
    shown = _shown(
        _asked(),
        Sign(call_id="cal_1", progress=Progress(message="reading", done=1, total=3)),
        Sign(call_id="cal_9", progress=Progress(message="alone")),
        _asked("cal_2", "todo"),
        Sign(call_id="cal_2", progress=Progress(partial=todos)),
        out=out,
    )
    assert "bash: reading 1/3" in shown
    assert "alone · m · 0 rounds" in shown
    assert "  [ ] A\n" in shown


def test_what_commands_print_is_told_while_they_run() -> None:
    out = Terminal()
    view = LiveView(Paint(out, {}), None)
    view.show(_asked())
    view.tick({"cal_1": "line 3", "cal_9": "unknown"})
    assert "bash: line 3" in out.getvalue()
    assert "unknown" not in out.getvalue()


def test_while_a_person_is_asked_nothing_else_is_written() -> None:
    out = Terminal()
    view = LiveView(Paint(out, {"NO_COLOR": "1"}), None)
    with view.paused(Asked(lines=[CardLine("-a")])), view.paused(Asked()):
        before = out.getvalue()
        view.show(_asked())
        view.tick({"cal_1": "line"})
        assert out.getvalue() == before
        assert before.endswith("  -a\n")
    assert "* bash ls" in out.getvalue()


def test_what_waited_is_shown_at_the_end_with_what_was_used() -> None:
    out = io.StringIO()
    words: list[str] = []
    view = LiveView(Paint(out, {}), words.append)
    view.begin("ses_1", "m")
    usage = {"input_tokens": 3, "cost_micros": 1000}
    with view.paused(Asked()):
        view.show(_event(ModelReplied(request_id="r", reply={"text": "Bye."}, usage={**usage})))
        view.end(END, 0, 2)
    assert "m · 1 round · 3 tokens · cost 0.0010 · 0 s · 2 calls refused" in out.getvalue()
    assert (words, "Bye." in out.getvalue()) == (["Bye."], False)


def test_words_that_were_not_the_last_are_told() -> None:
    out = io.StringIO()
    view = LiveView(Paint(out, {}), lambda _words: None)
    for one in (_replied(text="Almost."), _requested(), _asked()):
        view.show(one)
    assert out.getvalue() == "Almost.\n* bash ls\n"


def test_quiet_and_json_say_beside_what_is_asked_about() -> None:
    beside = io.StringIO()
    words: list[str] = []
    for view in (
        QuietView(words.append, Paint(beside, {})),
        JsonView(words.append, Paint(beside, {})),
    ):
        with view.paused(Asked(lines=[CardLine("+a", "good")])):
            view.tick({})
            view.remark("while asked")
        view.remark("note")
        view.end(msgspec.structs.replace(END, response=""), 0, 1)
    assert beside.getvalue() == "  +a\n\nholdfast: while asked\nholdfast: note\n" * 2
    assert (len(words), '"exit":0' in words[0], '"refused":1' in words[0]) == (1, True, True)


def _ask(arguments: JsonObject, tool: str = "write", session: str = "ses_1") -> Ask:
    call = msgspec.structs.replace(make_call(), session_id=session, id="cal_1")
    prepared = Prepared(call=call, tool=make_tool(name=tool), checked=arguments, values={})
    return Ask(prepared=prepared, reason="Ada\nwants it")


async def test_what_an_edit_would_change_is_shown_before_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n", "utf-8")
    out = io.StringIO()
    view = LiveView(Paint(out, {}), None)
    before = "* write a\n  asks: Ada wants it\n  mode: x\n  -1\n  +2\n"

    async def agree(ask: Ask, whole: Whole | None, /) -> Answer:
        assert (out.getvalue(), whole) == (before, None)
        return Answer(allowed=True, by=ask.reason)

    here = ApprovedHere(agree, Desk(view), str(tmp_path), Subagents())
    answer = await here(_ask({"path": "a", "content": "2\n", "mode": "x"}))
    assert answer == Answer(allowed=True, by="Ada\nwants it")
    arguments = '{"path": "a", "content": "2\\n"}'
    view.show(_event(CallAsked(call_id="cal_1", tool="write", arguments=arguments)))
    view.show(_settled(tool="write"))
    assert out.getvalue() == f"{before}  exit code 0\n"  # neither the call nor its change again

    async def reply(inquiry: Inquiry, /) -> Replies:
        return Replies(answers=(("yes",),), by=inquiry.call_id)

    inquiry = Inquiry(
        session_id="ses_1",
        call_id="cal_1",
        tool="question",
        questions=(),
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    here = InquiredHere(reply, Desk(view))
    assert await here(inquiry) == Replies(answers=(("yes",),), by="cal_1")


async def test_one_question_after_the_other(tmp_path: Path) -> None:
    out = io.StringIO()
    asked: list[str] = []
    answered = anyio.Event()

    async def agree(ask: Ask, _whole: Whole | None, /) -> Answer:
        asked.append(ask.prepared.tool.name)
        await answered.wait()
        return Answer(allowed=True, by="Ada")

    here = ApprovedHere(agree, Desk(LiveView(Paint(out, {}), None)), str(tmp_path), Subagents())
    async with anyio.create_task_group() as group:
        group.start_soon(here, _ask({}, "first"))
        group.start_soon(here, _ask({}, "second"))
        while not asked:
            await anyio.wait_all_tasks_blocked()
            await anyio.sleep(0.01)
        assert asked == ["first"]
        answered.set()
    assert asked == ["first", "second"]


async def test_a_question_of_a_subagent_says_whose_it_is(tmp_path: Path) -> None:
    out = io.StringIO()
    subagents = Subagents()
    subagents.note(_event(ChildCreated(child_session_id="ses_2", outcome_title="rev", message="")))

    async def agree(ask: Ask, _whole: Whole | None, /) -> Answer:
        assert ask.prepared.arguments == {"path": "a"}
        return Answer(allowed=True, by="Ada")

    desk = Desk(LiveView(Paint(out, {}), None))
    here = ApprovedHere(agree, desk, str(tmp_path), subagents)
    subagents.top = "ses_1"
    for session in ("ses_2", "ses_3", "ses_1"):
        await here(_ask({"path": "a"}, "read", session))
    call = "* read a\n  asks: Ada wants it\n"
    assert out.getvalue() == (
        f"  the subagent rev asks\n{call}  a subagent asks (ses_3)\n{call}{call}"
    )


async def test_a_signal_to_end_stops_the_run_once_and_calls_are_stopped_first() -> None:
    stopped: list[str | None] = []
    said: list[str] = []

    class Session:
        def interrupt_call(self) -> bool:
            return True

        async def interrupt(self, note: str | None = None) -> None:
            stopped.append(note)

    async def heard(number: int) -> None:
        while len(said) + len(stopped) < number:  # noqa: ASYNC110 - signals tell nobody
            await anyio.sleep(0.01)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            stops = Stops(said.append, said.clear, lambda: said.append("hung up"))
            group.start_soon(heed_signals, Session(), Ladder(), stops)
            await anyio.wait_all_tasks_blocked()
            signal.raise_signal(signal.SIGINT)
            await heard(1)
            signal.raise_signal(signal.SIGTERM)
            await heard(2)
            signal.raise_signal(signal.SIGINT)
            await heard(3)
            group.cancel_scope.cancel()
    assert said[0].startswith("stopping the call;")
    assert said[1].startswith("the run is being stopped")
    assert stopped == [None]  # a note would be told to the model as a person's words
