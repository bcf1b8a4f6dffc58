"""What is drawn is what is there, whatever was there before; and little is written for it."""

import time

import msgspec
from cli.board_stories import event_of
from full_terminal import FullTerminal
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.events import CallAsked, CallSettled
from holdfast.contract.model import TextDelta
from holdfast.surfaces.cli.full_screen.board import Board
from holdfast.surfaces.cli.full_screen.drawing import Drawing
from holdfast.surfaces.cli.full_screen.entries import Entry, Words
from holdfast.surfaces.cli.full_screen.entry_rows import rows_of_entry
from holdfast.surfaces.cli.full_screen.keys import Key
from holdfast.surfaces.cli.full_screen.layout import Facts, Frame, Size
from holdfast.surfaces.cli.full_screen.spans import Row, Span
from holdfast.surfaces.cli.full_screen.viewport import Viewport

COLUMNS, HEIGHT = 30, 8
ENDED = msgspec.Raw(b'{"ok":true,"result":{"exit_code":0,"stdout":"a\\nb\\n","stderr":""}}')

_PIECE = st.builds(
    Span,
    st.text("ab \u732b\u00e9", max_size=8) | st.sampled_from(["\x1b[2J", "tab\tbed", "\x1b[31mx"]),
    st.sampled_from(["plain", "dim", "chosen", "rendered"]),
)
_ROW = st.lists(_PIECE, max_size=3).map(tuple)
_FRAME = st.builds(
    Frame,
    st.lists(_ROW, min_size=HEIGHT, max_size=HEIGHT),
    st.lists(_ROW, max_size=HEIGHT),
    st.just(20),
    st.none() | st.tuples(st.integers(0, HEIGHT - 1), st.integers(0, COLUMNS - 1)),
)


def _moved(frame: Frame) -> Frame:
    """The same, with a row more below."""
    more: Row = (Span("one more row"),)
    return frame._replace(rows=[frame.rows[0], *frame.rows[2:-1], more, frame.rows[-1]])


@given(st.lists(_FRAME, min_size=1, max_size=5), st.booleans())
def test_frames_that_are_drawn_one_after_the_other_look_like_the_last_one(
    frames: list[Frame], moves: bool
) -> None:
    if moves:
        frames = [one for frame in frames for one in (frame, _moved(frame))]
    seen, anew = FullTerminal(COLUMNS, HEIGHT), FullTerminal(COLUMNS, HEIGHT)
    drawing = Drawing(seen.write)
    for terminal in (seen, anew):
        terminal.write("\x1b[?1049h\x1b[?7l")
    for frame in frames:
        drawing.show(frame)
    Drawing(anew.write).show(frames[-1])
    assert seen.lines == anew.lines
    assert ("25" in seen.modes) == ("25" in anew.modes) == (frames[-1].cursor is not None)
    if frames[-1].cursor is not None:
        assert (seen.row, seen.column) == frames[-1].cursor


def test_a_row_may_be_as_wide_as_the_screen() -> None:
    seen = FullTerminal(COLUMNS, HEIGHT)
    drawing = Drawing(seen.write)
    seen.write("\x1b[?1049h\x1b[?7l")
    for text in ("x" * 5, "y" * COLUMNS, "z" * COLUMNS, "short"):
        rows: list[Row] = [(Span(text),)] * HEIGHT
        drawing.show(Frame(rows, [], 20, None))
        assert seen.lines == [text] * HEIGHT


def test_what_is_there_already_is_not_written() -> None:
    written: list[str] = []
    drawing = Drawing(written.append)
    rows: list[Row] = [(Span(f"row {at}"),) for at in range(HEIGHT)]
    frame = Frame(rows, [], 20, None)
    drawing.show(frame)
    written.clear()
    drawing.show(frame)
    assert written == []
    drawing.show(frame._replace(rows=[*rows[:3], (Span("row 3 goes on"),), *rows[4:]]))
    assert written == ["\x1b[?2026h\x1b[4;6H goes on\x1b[?2026l"]
    drawing.forget()
    drawing.show(frame)
    assert "\x1b[2J" in written[-1]


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=30),
    st.lists(st.integers(-9, 9) | st.sampled_from(["begin", "end", "more"]), max_size=12),
    st.integers(1, 12),
)
def test_what_is_seen_is_a_piece_of_the_whole(
    lengths: list[int], steps: list[int | str], height: int
) -> None:
    def rows_of(entry: Entry, *_: object, **__: object) -> list[Row]:
        assert isinstance(entry, Words)
        return [(Span(row),) for row in entry.text.split()]

    entries: list[Entry] = []

    def add(length: int) -> None:
        begin = len(entries) * 10
        text = " ".join(str(begin + at) for at in range(length))
        entries.append(Words(text=text, form="plain"))

    for length in lengths:
        add(length)
    view = Viewport(rows_of)

    def whole() -> list[Row]:
        return [row for entry in entries for row in rows_of(entry)]

    def look() -> list[Row]:
        return view.look(entries, 80, height, 0.0)

    assert look() == whole()[-height:]
    for step in steps:
        before = look()
        begin = whole().index(before[0]) if before else 0
        match step:
            case "begin":
                view.to_begin()
                expected = 0
            case "end":
                view.to_end()
                expected = len(whole())
            case "more":
                follows = view.top is None
                add(3)
                expected = len(whole()) if follows else begin
            case by:
                view.scroll(int(by))
                expected = begin + int(by)
        last = max(len(whole()) - height, 0)
        expected = max(min(expected, last), 0)
        assert look() == whole()[expected : expected + height]


@settings(max_examples=30)
@given(st.text(max_size=200), st.integers(20, 60), st.sampled_from(["plain", "person", "markdown"]))
def test_no_row_of_words_is_wider_than_the_screen(text: str, columns: int, form: str) -> None:
    words = msgspec.convert({"text": text, "form": form}, Words)
    terminal = FullTerminal(columns, 3)
    terminal.write("\x1b[?1049h")
    for row in rows_of_entry(words, columns, 0.0):
        frame = Frame([(), row, ()], [], columns, None)
        Drawing(terminal.write).show(frame)  # what steers a terminal fails there


def _long_board() -> Board:
    board = Board(Facts(session_id="ses_1", model="m"), 0.0)
    for at in range(5_000):
        call = f"cal_{at}"
        asked = CallAsked(call_id=call, tool="bash", arguments='{"command": "ls"}')
        board.timeline.note(event_of(asked), 0.0)
        board.timeline.note(
            event_of(CallSettled(call_id=call, tool="bash", envelope=ENDED)),
            0.0,
        )
        board.timeline.note(TextDelta(f"paragraph {at} with **more**\n\n"), 0.0)
    assert len(board.timeline.entries) == 10_000
    return board


def test_ten_thousand_entries_are_looked_at_as_fast_as_a_few() -> None:
    board, size = _long_board(), Size(120, 40)
    drawing = Drawing(lambda _text: None)
    drawing.show(board.frame(size, 1.0))  # whoever renders is loaded by now
    took: list[float] = []
    for name in ("page-up", "up", "home", "page-down", "end", "tab", "tab", "enter", "escape"):
        began = time.process_time()
        board.press(Key(name), 1.0)
        drawing.show(board.frame(size, 1.0))
        took.append(time.process_time() - began)
    assert sorted(took)[len(took) // 2] < 0.05  # about 3 ms where nothing else runs
    assert max(took) < 0.5


def test_a_thousand_pieces_cost_a_few_times_their_text() -> None:
    board, size = Board(Facts(session_id="ses_1", model="m"), 0.0), Size(120, 40)
    written: list[str] = []
    drawing = Drawing(written.append)
    drawing.show(board.frame(size, 1.0))
    written.clear()
    text = 0
    for at in range(1_000):
        piece = f"piece {at:4} "
        text += len(piece)
        board.timeline.note(TextDelta(piece), 1.0)
        drawing.show(board.frame(size, 1.0))
    assert len(written) <= 1_000
    assert sum(map(len, written)) < 5 * text  # one frame a piece: in a run there are fewer
