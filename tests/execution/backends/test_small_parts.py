"""Bounded output, time limits, directories, and files nobody takes back."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.gates import Access, PathLeave
from holdfast.execution.backends import shown_output, time_limit
from holdfast.execution.backends.disk_files import sandbox_files
from holdfast.execution.backends.places import make_places
from holdfast.execution.backends.shown_output import ShownOutput, with_gap
from holdfast.execution.backends.time_limit import TimeLimit


@given(st.lists(st.binary(max_size=30)), st.integers(1, 20), st.integers(1, 20))
def test_beginning_and_end_are_kept_and_the_rest_is_counted(
    pieces: list[bytes], head: int, tail: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shown_output, "HEAD_BYTES", head)
        patched.setattr(shown_output, "TAIL_BYTES", tail)
        output = ShownOutput()
        for piece in pieces:
            output.take(piece)
        shown = output.shown()
    whole = b"".join(pieces)
    if len(whole) <= head + tail:
        assert shown == whole
    else:
        missing = len(whole) - head - tail
        gap = f"\n... [{missing:,} bytes omitted] ...\n".encode()
        assert shown == whole[:head] + gap + whole[-tail:]


def test_what_is_whole_has_no_gap() -> None:
    assert with_gap(b"ab", b"c", 3) == b"abc"
    assert with_gap(b"ab", b"c", 1_004) == b"ab\n... [1,001 bytes omitted] ...\nc"


def test_without_a_limit_work_is_done_in_place() -> None:
    assert TimeLimit(None, print).run(threading.get_ident) == threading.get_ident()


def test_a_run_whose_time_is_up_is_interrupted_by_its_name() -> None:
    stop, interrupted = threading.Event(), list[str]()

    def interrupt(name: str) -> None:
        interrupted.append(name)
        stop.set()

    limit = TimeLimit(0.05, interrupt)

    def work() -> bool:
        limit.named("first")
        limit.named("second")
        return stop.wait(15)

    assert limit.run(work) is None
    assert interrupted == ["first"]


def test_what_a_run_raises_within_its_time_is_raised() -> None:
    def fail() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        TimeLimit(15, print).run(fail)


def test_a_run_that_cannot_be_interrupted_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "GRACE_SECONDS", 0.05)
    never = threading.Event()

    def fail(_name: str) -> None:
        raise OSError("nobody there")

    limit = TimeLimit(0.05, fail)
    limit.named("x")
    try:
        assert limit.run(lambda: never.wait(15)) is None
        assert TimeLimit(0.05, fail).run(lambda: never.wait(15)) is None
    finally:
        never.set()


def test_what_was_made_is_removed_and_what_was_given_stays(tmp_path: Path) -> None:
    given_dir = tmp_path / "a" / "b"
    places = make_places(str(given_dir), "/home/somebody")
    assert places.working_dir == str(given_dir.resolve())
    assert places.scratch.home == "/home/somebody"
    scratch = Path(places.scratch.temporary)
    assert (scratch / "home").is_dir()
    (scratch / "link").symlink_to(given_dir)
    (given_dir / "kept").touch()
    places.remove()
    assert not scratch.exists()
    assert (given_dir / "kept").exists()
    own = make_places(None, None)
    assert Path(own.working_dir).is_dir()
    own.remove()
    assert not Path(own.working_dir).exists()


def test_links_to_a_directory_are_seen_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    places = make_places(str(tmp_path / "link"), None)
    places.remove()
    assert places.working_dir == str((tmp_path / "real").resolve())


@pytest.mark.parametrize("why", ["too deep to be removed", "could not be removed"])
def test_what_cannot_be_removed_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    def give_up(_place: Path) -> None:
        if "deep" in why:
            raise RecursionError

    places = make_places(str(tmp_path), None)
    with monkeypatch.context() as patched:
        patched.setattr("holdfast.execution.backends.places.remove_scratch", give_up)
        places.remove()
    assert why in caplog.text
    places.remove()


def test_a_directory_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        make_places(str(tmp_path / "file" / "x"), None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_files_are_changed_and_nothing_is_kept_of_what_they_were(tmp_path: Path) -> None:
    def admit(_access: Access, path: str, /) -> PathLeave:
        return PathLeave(str(tmp_path / path))

    files = sandbox_files(admit, str(tmp_path))
    assert files.write("a/b", b"one").created
    assert not files.write("a/b", b"two").created
    assert files.read_bytes("a/b") == b"two"
    files.remove("a/b")
    assert [entry.name for entry in tmp_path.rglob("*")] == ["a"]
