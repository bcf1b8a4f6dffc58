"""What is told of a run stands on the board, and keys do to it what the help says."""

from typing import Any

import msgspec
import pytest
from cli.board_stories import ASKED, PEACE, RED, ask_of, event_of
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.agent.place import Sign
from holdfast.app.read_along import Below
from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    ChildCreated,
    ChildIdle,
    Event,
    InquiryAsked,
    ModelReplied,
    ModelRequested,
    StatusIdle,
    UserInterrupt,
    UserMessage,
)
from holdfast.contract.json_value import JsonValue
from holdfast.contract.model import CallDelta, ReasoningDelta, TextDelta
from holdfast.contract.person import PersonQuestion
from holdfast.contract.runtime import Progress
from holdfast.contract.shell import LiveCommand
from holdfast.contract.wake_events import ModelFailed
from holdfast.surfaces.cli.full_screen.approval_sheet import ApprovalSheet
from holdfast.surfaces.cli.full_screen.board import Board, End, Say
from holdfast.surfaces.cli.full_screen.entries import CallCard
from holdfast.surfaces.cli.full_screen.form_sheet import FormSheet
from holdfast.surfaces.cli.full_screen.keys import Key
from holdfast.surfaces.cli.full_screen.layout import Facts, Size
from holdfast.surfaces.cli.full_screen.sheets import Sheet
from holdfast.surfaces.cli.held import Shown

SIZE = Size(120, 40)
FACTS = Facts(session_id="ses_1", model="m", profile="code", workspace="/w")


def _asked(tool: str = "bash", arguments: str = '{"command": "ls"}') -> Event:
    return event_of(CallAsked(call_id="c", tool=tool, arguments=arguments))


def _intended() -> Event:
    said = CallIntended(call_id="c", tool="bash", arguments_hash="h", grounds="g")
    return event_of(said)


def _settled(envelope: bytes, tool: str = "bash") -> Event:
    return event_of(CallSettled(call_id="c", tool=tool, envelope=msgspec.Raw(envelope)))


def _replied(**reply: object) -> Event:
    said = {"type": "model.replied", "request_id": "r", "reply": reply, "usage": {}}
    return event_of(msgspec.convert(said, ModelReplied))


def _requested(purpose: str = "turn") -> Event:
    asked = {"request_id": "r", "model": "m", "request_hash": "h", "purpose": purpose}
    return event_of(msgspec.convert(asked, ModelRequested, strict=False))


def _board(*told: Shown) -> Board:
    board = Board(FACTS, 0.0)
    for one in told:
        board.timeline.note(one, 1.0)
    return board


def _seen(board: Board, size: Size = SIZE, now: float = 9.0) -> str:
    frame = board.frame(size, now)
    rows = ["".join(one.text for one in row).rstrip() for row in frame.rows]
    beside = ["".join(one.text for one in row) for row in frame.beside]
    return "\n".join([*rows, *beside])


def _listed(*todos: tuple[str, str]) -> Sign:
    listed: list[JsonValue] = [{"content": text, "status": status} for text, status in todos]
    return Sign(call_id="c", progress=Progress(message="listed", partial={"todos": listed}))


def _command(**more: Any) -> LiveCommand:
    given = {"id": "cmd_1", "call_id": "c", "kind": "foreground", "command": "ls"}
    rest = {"state": "running", "started_at": "", "stdout_tail": "", "stderr_tail": ""}
    return msgspec.convert({**given, **rest, **more}, LiveCommand)


WAITS = ApprovalAsked(approval_id="a", call_id="c", tool="bash", arguments_hash="h", reason="R")
ALLOWED = ApprovalAnswered(approval_id="a", call_id="c", allowed=True, by="me")
REFUSED = CallRefused(call_id="c", tool="bash", arguments_hash="h", kind="rejected", reason="no")
QUESTION = InquiryAsked(call_id="c", questions=(PersonQuestion(question="Which?"),))
FAILED = ModelFailed(request_id="r", trouble="timeout", message="late", attempt=1)
CHILD = ChildCreated(child_session_id="ses_2", outcome_title="coder", message="Do it")
IDLE = ChildIdle(
    child_session_id="ses_2", child_stop_reason="idle", summary="I did", executed_cycles=1
)
BELOW = Below(name="coder", depth=1, event=event_of(_asked().payload, "ses_2"))
ANYTHING: list[Shown] = [
    *(event_of(one) for one in (WAITS, ALLOWED, REFUSED, QUESTION, FAILED, CHILD, IDLE)),
    *(_asked(), _intended(), _settled(b'{"ok":true,"result":null}'), _settled(b"[]"), BELOW),
    *(_requested(), _requested("summary"), _replied(text="Yes.\n\n- no"), _replied(text=None)),
    *(TextDelta("- a *b*\n"), TextDelta("```\n"), TextDelta(""), ReasoningDelta("hm\n")),
    *(CallDelta(index=0, id="c", name="", arguments=""), event_of(UserMessage(message=""))),
    *(Sign(call_id="c", progress=Progress(partial=3)), _listed(("", "odd")), _asked("task")),
]


@pytest.mark.parametrize(
    ("told", "texts"),
    [
        ([_asked()], ["● bash ls · asked for"]),
        ([_asked(), event_of(WAITS)], ["bash ls · waits for you", "● asks about bash"]),
        ([_asked(), event_of(WAITS), event_of(ALLOWED)], ["bash ls · allowed"]),
        ([_asked(), event_of(QUESTION)], ["bash ls · asks you"]),
        ([_asked(), _intended()], ["bash ls · runs 8 s", "● bash runs"]),
        ([_asked(), event_of(REFUSED)], ["bash ls · refused"]),
        (
            [_asked(), _intended(), _settled(b'{"ok":true,"result":{"exit_code":3}}')],
            ["bash ls · exit code 3 in 0.0 s", "● thinks"],
        ),
        (
            [_asked(), _settled(b'{"ok":false,"kind":"timeout","message":"Too late."}')],
            ["bash ls · timeout", "  Too late."],
        ),
        ([_settled(b'{"ok":true,"result":"x"}', "probe")], ["● probe · done", "  x"]),
        ([TextDelta("So *far"), TextDelta("* so")], ["So *far* so", "● speaks"]),
        ([TextDelta("So *far*"), _replied(text="So *far*")], ["So far", "1 round"]),
        ([_replied(text="- a\n- b\n\nc")], [" • a\n • b\n\nc"]),
        ([ReasoningDelta("Hm"), ReasoningDelta("m."), TextDelta("Yes")], ["Hmm.", "Yes"]),
        ([CallDelta(index=0, id="c", name="bash", arguments="")], ["● asks for bash"]),
        ([_requested("summary"), TextDelta("S"), _replied(text="S")], ["sums up", "1 round"]),
        ([event_of(UserMessage(message="Do\nit"))], ["> Do\n  it"]),
        ([event_of(UserInterrupt(note="enough"))], ["  interrupted: enough"]),
        ([event_of(FAILED)], ["! model: timeout: late"]),
        ([event_of(CHILD)], ["+ coder begins (ses_2)", "Subagents", "coder", "  begins"]),
        ([event_of(CHILD), event_of(IDLE)], ["- coder is done: I did"]),
        (
            [event_of(CHILD), BELOW],
            ["  coder: bash ls", "  bash ls"],
        ),
        ([event_of(StatusIdle(reason="idle", summary="s"))], ["● rests"]),
        ([_asked(), Sign(call_id="c", progress=Progress(message="half"))], ["● bash: half"]),
    ],
)
def test_what_happens_is_seen(told: list[Shown], texts: list[str]) -> None:
    seen = _seen(_board(*told))
    for text in texts:
        assert text in seen


def test_a_task_tells_what_its_subagent_said_once() -> None:
    task = _asked("task", '{"subagent_type": "coder", "prompt": "Do it"}')
    seen = _seen(_board(task, event_of(CHILD), event_of(IDLE)))
    assert "● task coder: Do it" in seen
    assert "- coder is done" in seen
    assert "I did" not in seen


def test_what_is_to_be_done_is_seen_beside_or_counted_where_there_is_no_room() -> None:
    sign = _listed(("A", "completed"), ("B", "pending"))
    board = _board(_asked("todo", "{}"), sign)
    assert "[x] A\n[ ] B" in _seen(board)
    narrow = _seen(board, Size(60, 20))
    assert "[x] A" not in narrow
    assert "1 of 2 done" in narrow


def test_calls_of_before_are_seen_once_something_comes_of_them() -> None:
    board = Board(FACTS, 0.0)
    board.timeline.recall([_asked()])
    assert "bash" not in _seen(board)
    board.timeline.note(_settled(b'{"ok":true,"result":"x"}'), 1.0)
    assert "● bash ls · done" in _seen(board)


def test_what_was_before_is_seen_once_and_not_counted() -> None:
    board = Board(FACTS, 0.0)
    said = event_of(UserMessage(message="Do it"))
    board.timeline.history([said, _replied(text="I did")], 1.0)
    board.timeline.note(said, 1.0)  # it waited for whoever takes the session up
    seen = _seen(board)
    assert seen.count("> Do it") == 1
    assert "I did" in seen
    assert "0 rounds" in seen


def test_a_card_shows_the_end_of_what_its_command_prints() -> None:
    board = _board(_asked(), _intended())
    lines = "\n".join(f"line {at}" for at in range(30))
    assert board.timeline.prints([_command(stdout_tail=lines, stderr_tail="\x1b[2Jbad\n")])
    assert not board.timeline.prints([_command(stdout_tail=lines, stderr_tail="\x1b[2Jbad\n")])
    seen = _seen(board)
    assert "  line 29\n  \\u001b[2Jbad" in seen
    assert "line 20" not in seen
    board.press(Key("tab"), 9.0)
    board.press(Key("enter"), 9.0)
    assert "line 20" in _seen(board)


def test_a_command_is_ended_by_its_card_or_where_it_is_the_only_one() -> None:
    board = _board(_asked(), _intended())
    end = Key("text", "t")
    assert board.press(end, 9.0) is None
    assert "no command runs" in _seen(board)
    board.timeline.prints([_command()])
    assert board.press(end, 9.0) == End("cmd_1")
    board.press(Key("tab"), 9.0)
    assert board.press(end, 9.0) == End("cmd_1")
    assert "is being ended" in _seen(board)
    board.timeline.note(_settled(b'{"ok":true,"result":"x"}'), 1.0)
    assert board.press(end, 9.0) is None
    assert "no command runs in it" in _seen(board)


def test_cards_are_gone_through_and_left() -> None:
    board = _board()
    board.press(Key("tab"), 1.0)  # there is none
    for at in range(3):
        said = CallAsked(call_id=f"c{at}", tool=f"tool{at}", arguments="{}")
        board.timeline.note(event_of(said), 1.0)
    board.press(Key("back-tab"), 1.0)

    def chosen() -> list[str]:
        rows = board.frame(SIZE, 1.0).rows
        return [one.text for row in rows for one in row if one.look == "chosen"]

    assert chosen() == []
    for wanted in ("tool2", "tool1", "tool0", "tool0"):
        board.press(Key("tab"), 1.0)
        assert chosen() == [wanted]
    for wanted in ("tool1", "tool2"):
        board.press(Key("back-tab"), 1.0)
        assert chosen() == [wanted]
    board.press(Key("back-tab"), 1.0)
    assert chosen() == []
    board.press(Key("tab"), 1.0)
    board.press(Key("escape"), 1.0)
    assert chosen() == []


def test_an_unfolded_card_shows_its_arguments_and_all_that_came() -> None:
    result = b'{"ok":true,"result":"' + b"\\n".join(b"r%d" % at for at in range(30)) + b'"}'
    asked = _asked("probe", '{"path": "a", "deep": {"b": [1]}}')
    board = _board(asked, _settled(result, "probe"))
    assert "… 25 more lines" in _seen(board)
    board.press(Key("tab"), 1.0)
    board.press(Key("enter"), 1.0)
    seen = _seen(board)
    assert 'deep: {"b": [1]}' in seen
    assert "r29" in seen


def test_a_line_is_typed_sent_left_and_taken_up_again() -> None:
    board = _board()
    for key in (Key("text", "i"), Key("text", "h"), Key("text", "i"), Key("escape")):
        assert board.press(key, 1.0) is None
    assert " > hi" in _seen(board)
    assert board.frame(SIZE, 1.0).cursor is None
    board.press(Key("enter"), 1.0)
    assert board.frame(SIZE, 1.0).cursor == (SIZE.rows - 2, 5)
    board.press(Key("up"), 1.0)
    assert board.press(Key("enter"), 1.0) == Say("hi")
    assert board.press(Key("paste", " pasted "), 1.0) is None
    assert board.press(Key("enter"), 1.0) == Say("pasted")
    board.press(Key("text", "i"), 1.0)
    assert board.press(Key("enter"), 1.0) is None  # nothing to send
    assert board.press(Key("ctrl-l"), 1.0) == "redraw"
    assert board.press(Key("f1"), 1.0) is None


def test_the_help_is_seen_and_left_with_any_key() -> None:
    board = _board(TextDelta("words"))
    board.press(Key("text", "?"), 1.0)
    assert "Shift-Tab back" in _seen(board)
    narrow = _seen(board, Size(40, 40))
    assert "once more" in narrow
    assert max(map(len, narrow.splitlines())) <= 40
    board.press(Key("text", "t"), 1.0)
    assert "words" in _seen(board)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(ANYTHING), max_size=25), st.sampled_from([SIZE, Size(40, 12)]))
def test_whatever_happens_in_whatever_order_can_be_seen(told: list[Shown], size: Size) -> None:
    board = Board(FACTS, 0.0)
    for one in told:
        board.timeline.note(one, 1.0)
        board.timeline.prints([_command(stdout_tail="a\n")])
        board.press(Key("tab"), 2.0)
        assert len(board.frame(size, 3.0).rows) == size.rows
    cards = [board.timeline.entries[at] for at in board.timeline.cards]
    assert all(isinstance(one, CallCard) for one in cards)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 130),
    st.integers(4, 50),
    st.lists(st.sampled_from(["up", "down", "page-up", "tab", "enter", "home", "?"]), max_size=6),
    st.sampled_from(["none", "ask", "wide", "form"]),
)
def test_whatever_the_size_there_is_a_screen(
    columns: int, rows: int, keys: list[str], kind: str
) -> None:
    sign = _listed(*[("A" * 50, "pending")] * 9)
    board = _board(event_of(UserMessage(message="Do it")), _asked("todo", "{}"), sign)
    board.timeline.note(TextDelta("word " * 60 + "\n\n```\ncode\n```\n\nmore"), 1.0)
    ask = ask_of(offers=("once", "session", "project"), wider=("git *",))
    sheets: dict[str, Sheet] = {
        "ask": ApprovalSheet(ask_of(), ASKED, PEACE),
        "wide": ApprovalSheet(ask, ASKED, PEACE),
        "form": FormSheet((RED,), PEACE),
    }
    board.sheet = sheets.get(kind)
    for key in keys:
        board.frame(Size(columns, rows), 1.0)
        board.press(Key("text", key) if len(key) == 1 else Key(key), 1.0)
    frame = board.frame(Size(columns, rows), 1.0)
    assert len(frame.rows) <= rows
    assert len(frame.beside) <= rows
    if frame.cursor is not None:
        assert 0 <= frame.cursor[0] < len(frame.rows)
