"""A session as JSON lines: nothing is lost that was told, nothing is read that was not."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from flow_values import TRANSCRIPTS
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    ChunkTable,
    Lineage,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.record.flow_log import FlowLog, FlowLogError, read_flow_log, write_flow_log

ROWS: tuple[Chunk, ...] = (
    SystemChunk("be brief"),
    UserChunk("häng\u2028 on\n"),
    AssistantChunk(None, (AskedCall("c1", "run_code", '{"code": "1"}'),)),
    ToolResultChunk("c1", "run_code", '{"text": null}'),
    AssistantChunk("done"),
)
LINEAGE = Lineage(parent_session_ids=("ses_0",), operator="Session.fork", kind="op_fork")
TOLD = Transcript("ses_1", ChunkTable(ROWS), LINEAGE, TokenUsage(1, 2, 3))
GOLDEN = Path(__file__).parent / "golden" / "flow-log-1.jsonl"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ses_1.jsonl"


@pytest.fixture
def partial(path: Path) -> Path:
    return path.with_name("ses_1.jsonl.partial")


@pytest.fixture(autouse=True)
def no_file_stays_open() -> Generator[None]:
    opened = Path("/proc/self/fd")
    before = len(list(opened.iterdir()))
    yield
    assert len(list(opened.iterdir())) == before


@pytest.mark.req("RATH-SES-09")
def test_a_session_is_a_header_its_rows_and_a_trailer(path: Path, partial: Path) -> None:
    write_flow_log(path, TOLD)
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert [line.pop("line") for line in lines] == ["header", *["chunk"] * 5, "trailer"]
    parents = {
        "parent_session_ids": ["ses_0"],
        "operator": "Session.fork",
        "kind": "op_fork",
        "extras": [],
    }
    assert lines[0] == {"version": 1, "session_id": "ses_1", "lineage": parents}
    assert lines[1] == {"index": 0, "chunk": {"kind": "system", "content": "be brief"}}
    assert lines[-1] == {
        "chunks": 5,
        "lineage": parents,
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }
    assert not partial.exists()
    assert read_flow_log(path) == (TOLD, "cleanly", 0)


@pytest.mark.req("RATH-SES-09")
def test_every_line_is_in_the_file_as_soon_as_it_is_told(path: Path, partial: Path) -> None:
    with FlowLog(path, "ses_1", LINEAGE) as log:
        for told in range(len(ROWS) + 1):
            assert not path.exists()
            found = read_flow_log(path)
            assert found.transcript.chunk_table == ChunkTable(ROWS[:told])
            assert found.transcript.lineage == LINEAGE
            assert (found.ended, found.dropped_bytes) == ("not_yet", 0)
            if told < len(ROWS):
                log.add(ROWS[told])
        assert partial.exists()
        log.close(TokenUsage(1, 2, 3))
    assert read_flow_log(path) == (TOLD, "cleanly", 0)


@pytest.mark.req("RATH-SES-09")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_only_its_owner_may_read_it(mask: int, path: Path, partial: Path) -> None:
    before = os.umask(mask)
    try:
        with FlowLog(path, "ses_1") as log:
            assert partial.stat().st_mode & 0o7777 == 0o600
            log.close()
        assert path.stat().st_mode & 0o7777 == 0o600
    finally:
        os.umask(before)


@pytest.mark.req("RATH-SES-09")
def test_a_partial_that_is_left_tells_of_a_crash(path: Path, partial: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path\n"
        "from holdfast.flow import FlowLog, UserChunk\n"
        "log = FlowLog(Path(sys.argv[1]), 'ses_1')\n"
        "log.add(UserChunk('a'), UserChunk('b'))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    died = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert died.returncode == -9
    assert partial.exists()
    assert not path.exists()
    rows = ChunkTable((UserChunk("a"), UserChunk("b")))
    assert read_flow_log(path) == (Transcript("ses_1", rows), "crash", 0)
    with pytest.raises(FlowLogError, match="was until a crash; read it and move it away"):
        FlowLog(path, "ses_2")
    partial.write_bytes(partial.read_bytes()[:-3])
    found = read_flow_log(path)
    assert list(found.transcript.chunk_table) == [UserChunk("a")]
    assert found.dropped_bytes > 0


def test_leaving_without_a_close_leaves_a_partial(path: Path) -> None:
    with FlowLog(str(path), "ses_1") as log:
        log.add(UserChunk("a"))
    assert read_flow_log(path).ended == "crash"
    with pytest.raises(FlowLogError, match="this log was ended"):
        log.add(UserChunk("b"))
    log.abandon()
    assert len(read_flow_log(path).transcript.chunk_table) == 1


def test_a_log_that_has_all_but_its_name_did_not_end_well(path: Path, partial: Path) -> None:
    write_flow_log(path, TOLD)
    path.rename(partial)
    assert read_flow_log(str(path)) == (TOLD, "crash", 0)


def test_what_is_known_in_the_end_is_what_is_read(path: Path) -> None:
    noted = LINEAGE.noting("loop.truncated", True)
    with FlowLog(path, "ses_1", LINEAGE) as log:
        log.close(lineage=noted)
        with pytest.raises(FlowLogError, match="this log was ended"):
            log.close()
    assert read_flow_log(path).transcript.lineage == noted


def test_two_cannot_write_one_log_and_none_is_replaced(path: Path, partial: Path) -> None:
    with FlowLog(path, "ses_1") as log:
        with pytest.raises(FlowLogError, match="another session is written there"):
            FlowLog(path, "ses_2")
        log.close()
    before = path.read_bytes()
    with pytest.raises(FlowLogError, match="there is a log already; take another path"):
        FlowLog(path, "ses_2")
    assert path.read_bytes() == before
    assert not partial.exists()


def test_no_link_is_written_or_read_through(path: Path, partial: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    partial.symlink_to(target)
    with pytest.raises(FlowLogError):
        FlowLog(path, "ses_1")
    assert not target.exists()
    write_flow_log(target, TOLD)
    for link in (partial, path):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        with pytest.raises(FlowLogError, match="it is a link; name the file it leads to"):
            read_flow_log(path)
    partial.unlink()
    with pytest.raises(FlowLogError, match="there is a log already"):
        FlowLog(path, "ses_1")
    assert read_flow_log(target).ended == "cleanly"


def test_a_path_that_cannot_be_used_is_told(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FlowLogError, match="there is no log of this name"):
        read_flow_log(path)
    with pytest.raises(FlowLogError, match="No such file or directory"):
        FlowLog(tmp_path / "missing" / "log", "ses_1")
    path.mkdir()
    with pytest.raises(FlowLogError, match="it is not a file"):
        read_flow_log(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FlowLogError, match="it is not a file"):
        read_flow_log(pipe)


def test_behind_half_a_line_nothing_is_written(path: Path) -> None:
    program = (
        "import os, resource, sys\n"
        "from holdfast.flow import FlowLog, FlowLogError, UserChunk\n"
        "with FlowLog(sys.argv[1], 'ses_1') as log:\n"
        "    log.add(UserChunk('a'))\n"
        "    size = os.stat(sys.argv[1] + '.partial').st_size + 7\n"
        "    limits = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))\n"
        "    for act in (lambda: log.add(UserChunk('b')), log.close):\n"
        "        try:\n"
        "            act()\n"
        "        except FlowLogError as problem:\n"
        "            print(problem)\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, limits)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
    )
    assert ran.stdout.splitlines() == [
        f"{path}: File too large",
        f"{path}: this log was ended; begin another one",
    ]
    found = read_flow_log(path)
    assert list(found.transcript.chunk_table) == [UserChunk("a")]
    assert (found.ended, found.dropped_bytes) == ("crash", 7)


def test_a_line_that_the_system_takes_in_pieces_is_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def piecemeal(file: int, content: memoryview) -> int:
        return real(file, content[:3])

    monkeypatch.setattr(os, "write", piecemeal)
    write_flow_log(path, TOLD)
    assert read_flow_log(path) == (TOLD, "cleanly", 0)


HEADER = b'{"line":"header","version":1,"session_id":"s","lineage":{}}\n'
ROW = b'{"line":"chunk","index":%d,"chunk":{"kind":"user","content":"a"}}\n'
TRAILER = b'{"line":"trailer","chunks":%d,"lineage":{},"usage":{}}\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it ends within its first line; nothing was recorded"),
        (HEADER[:-1], "it ends within its first line"),
        (b"\n", "line 1 is broken"),
        (b"{}\n", "line 1 is broken"),
        (ROW % 0, "line 1 is broken"),
        (TRAILER % 0, "line 1 is broken"),
        (HEADER.replace(b'"s"', b"5"), "line 1 is broken"),
        (HEADER.replace(b'n":1', b'n":2,"later":1'), "a newer holdfast wrote it; update holdfast"),
        (HEADER + HEADER, r"line 2 is broken \(it does not follow the line before it\)"),
        (HEADER + ROW % 1, r"line 2 is broken \(it does not follow"),
        (HEADER + ROW % 0 + ROW % 0, "line 3 is broken"),
        (HEADER + ROW % 0 + ROW % 2, "line 3 is broken"),
        (HEADER + b"oops\n" + ROW % 0, "line 2 is broken .*; restore the file from a copy"),
        (HEADER + b'{"line":"chunk","index":0,"chunk":{"kind":"\xff"}}\n', "line 2 is broken"),
        (b'{"x":' + b"[" * 100_000 + b"\n", "line 1 is broken"),
        (HEADER + b'{"line":"other"}\n', "line 2 is broken"),
        (HEADER + (ROW % 0).replace(b'"user"', b'"wish"'), "line 2 is broken"),
        (HEADER + ROW % 0 + TRAILER % 2, "line 3 is broken"),
        (HEADER + TRAILER % 0 + ROW % 0, "line 3 is broken"),
        (HEADER + TRAILER % 0 + TRAILER % 0, "line 3 is broken"),
        (HEADER + b"oops\n", "line 2 is broken"),
    ],
)
def test_a_broken_line_is_an_error_that_says_which(content: bytes, said: str, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(FlowLogError, match=said):
        read_flow_log(path)


def test_a_cut_last_line_is_dropped_and_counted(path: Path) -> None:
    path.write_bytes(HEADER + ROW % 0 + (ROW % 1)[:-1])
    found = read_flow_log(path)
    assert len(found.transcript.chunk_table) == 1
    assert (found.ended, found.dropped_bytes) == ("crash", len(ROW % 1) - 1)


@pytest.mark.parametrize("left", ["", ".partial"])
def test_a_log_cut_at_any_byte_gives_the_rows_before_it(left: str, path: Path) -> None:
    write_flow_log(path, TOLD)
    whole = path.read_bytes()
    path.unlink()
    place = path.with_name(path.name + left)
    first = whole.index(b"\n") + 1
    for length in range(len(whole) + 1):
        place.write_bytes(whole[:length])
        if length < first:
            with pytest.raises(FlowLogError, match="it ends within its first line"):
                read_flow_log(path)
            continue
        found = read_flow_log(path)
        lines = whole[:length].count(b"\n")
        assert found.transcript.chunk_table == ChunkTable(ROWS[: lines - 1])
        assert found.transcript.lineage == LINEAGE
        assert found.dropped_bytes == length - whole[:length].rindex(b"\n") - 1
        assert (found.ended == "cleanly") is (length == len(whole) and not left)


@settings(max_examples=50)
@given(TRANSCRIPTS, st.data())
def test_whatever_was_said_is_read_as_far_as_it_was_written(
    transcript: Transcript, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        write_flow_log(path, transcript)
        assert read_flow_log(path) == (transcript, "cleanly", 0)
        whole = path.read_bytes()
        rows = transcript.chunk_table.rows
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
        assert _rows_or_nothing(path) in [rows[:some] for some in range(len(rows) + 1)]
        damaged = bytearray(whole)
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(damaged)
        assert len(_rows_or_nothing(path)) <= len(rows), "one bad byte makes no row"


def _rows_or_nothing(path: Path) -> tuple[Chunk, ...]:
    try:
        return read_flow_log(path).transcript.chunk_table.rows
    except FlowLogError:
        return ()


def test_text_that_is_no_unicode_is_written_as_far_as_it_can_be(path: Path) -> None:
    write_flow_log(path, Transcript("s", ChunkTable((UserChunk("a\ud800b"),))))
    assert list(read_flow_log(path).transcript.chunk_table) == [UserChunk("a?b")]


def test_a_log_of_the_first_version_can_still_be_read() -> None:
    assert read_flow_log(GOLDEN) == (TOLD, "cleanly", 0)
