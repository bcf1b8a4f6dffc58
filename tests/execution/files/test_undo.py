"""Undo: newest first, back to the byte, and never over what somebody else did."""

import os
import random
import time
from pathlib import Path

import pytest
from execution.files.ground import Ground, some_changes, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.execution.files import undo as undo_module
from holdfast.execution.files.changes import ABSENT, Change, State
from holdfast.execution.files.kept import DamagedRecord


def _outcomes(ground: Ground, count: int | None = 1, **how: bool) -> list[tuple[str, str]]:
    prefix = f"{ground.workspace}/"
    restored = ground.undo().restore(count, **how)
    return [(one.path.removeprefix(prefix), one.outcome) for one in restored]


def test_the_last_call_is_taken_back_then_the_one_before(ground: Ground) -> None:
    ground.lay({"t": b"0"}, {})
    states = [tree_of(ground.workspace)]
    for number in range(1, 4):
        files = ground.files(f"cal_{number}")
        files.write("t", str(number))
        files.write(f"made{number}/x", b"")
        states.append(tree_of(ground.workspace))
    for number in (2, 1):
        assert _outcomes(ground) == [
            (f"made{number + 1}/x", "restored"),
            (f"made{number + 1}", "restored"),
            ("t", "restored"),
        ]
        assert tree_of(ground.workspace) == states[number]
    assert _outcomes(ground, redo=True)[0] == ("t", "restored")
    assert tree_of(ground.workspace) == states[2]
    assert len(_outcomes(ground, 5)) == 6
    assert tree_of(ground.workspace) == states[0]
    assert _outcomes(ground) == []
    _outcomes(ground, redo=True)
    assert tree_of(ground.workspace) == states[2]


def test_what_is_removed_comes_back_as_it_was(ground: Ground) -> None:
    ground.lay({"d/t": b"\0\xff" * 5_000, "d/run": b"#!"}, {"d/link": "../else", "d/lost": "none"})
    (ground.workspace / "d" / "run").chmod(0o755)
    (ground.workspace / "d").chmod(0o2750)
    before = tree_of(ground.workspace)
    files = ground.files(gate=None)
    (ground.workspace / "else").write_bytes(b"")
    for name in ("d/t", "d/run", "d/link", "d/lost", "d"):
        files.remove(name)
    (ground.workspace / "else").unlink()
    assert tree_of(ground.workspace) == {}
    assert {outcome for _, outcome in _outcomes(ground)} == {"restored"}
    assert tree_of(ground.workspace) == before
    assert {outcome for _, outcome in _outcomes(ground, redo=True)} == {"restored"}
    assert tree_of(ground.workspace) == {}


def test_a_changed_mode_alone_is_taken_back(ground: Ground) -> None:
    ground.lay({"t": b"0"}, {})
    before = tree_of(ground.workspace)
    ground.files().write("t", b"0", mode=0o755)
    assert tree_of(ground.workspace) != before
    assert _outcomes(ground) == [("t", "restored")]
    assert tree_of(ground.workspace) == before


def test_what_somebody_else_changed_since_is_left_alone_unless_forced(ground: Ground) -> None:
    ground.lay({"t": b"0", "gone": b"1"}, {})
    files = ground.files()
    files.write("t", b"ours")
    files.write("new", b"ours")
    files.remove("gone")
    files.make_directory("dir")
    (ground.workspace / "t").write_bytes(b"theirs")
    (ground.workspace / "new").write_bytes(b"theirs")
    (ground.workspace / "gone").write_bytes(b"theirs")
    (ground.workspace / "dir" / "x").write_bytes(b"theirs")
    theirs = tree_of(ground.workspace)
    restored = ground.undo().restore()
    assert {one.outcome for one in restored} == {"conflict"}
    assert [one.reason for one in restored] == [
        "it is not empty any more",
        *["somebody else changed it since"] * 3,
    ]
    assert tree_of(ground.workspace) == theirs
    assert _outcomes(ground, force=True) == [
        ("dir", "conflict"),
        ("gone", "restored"),
        ("new", "restored"),
        ("t", "restored"),
    ]
    assert (ground.workspace / "t").read_bytes() == b"0"
    assert not (ground.workspace / "new").exists()
    # Also what was forced can be taken back.
    _outcomes(ground, redo=True)
    assert tree_of(ground.workspace) == theirs


def test_force_puts_a_file_in_the_place_of_a_link_or_an_empty_directory(ground: Ground) -> None:
    ground.lay({"a": b"1", "b": b"2", "c": b"3", "outside": b"theirs"}, {"d": "a"})
    before = tree_of(ground.workspace)
    files = ground.files()
    for name in ("a", "b", "c"):
        files.write(name, b"ours")
    files.remove("d")
    for name in ("a", "b", "c"):
        (ground.workspace / name).unlink()
    (ground.workspace / "a").symlink_to("outside")
    (ground.workspace / "b").mkdir()
    os.mkfifo(ground.workspace / "c")
    (ground.workspace / "d").write_bytes(b"theirs")
    assert {outcome for _, outcome in _outcomes(ground)} == {"conflict"}
    assert _outcomes(ground, force=True) == [
        ("d", "restored"),
        ("c", "conflict"),
        ("b", "restored"),
        ("a", "restored"),
    ]
    (ground.workspace / "c").unlink()
    (ground.workspace / "c").write_bytes(b"3")
    assert tree_of(ground.workspace) == before


def test_a_link_that_came_into_a_path_is_never_followed(ground: Ground) -> None:
    ground.lay({"d/t": b"0"}, {})
    ground.files().write("d/t", b"ours")
    outside = ground.root / "outside"
    outside.mkdir()
    (outside / "t").write_bytes(b"ours")
    (ground.workspace / "d").rename(ground.workspace / "moved")
    (ground.workspace / "d").symlink_to(outside)
    for force in (False, True):
        (one,) = ground.undo().restore(force=force)
        assert (one.outcome, one.reason) == (
            "conflict",
            "a link has come into its path; it is not followed",
        )
    assert (outside / "t").read_bytes() == b"ours"


def test_a_folder_that_somebody_removed_is_made_again(ground: Ground) -> None:
    ground.lay({"d/e/t": b"0"}, {})
    ground.files().remove("d/e/t")
    (ground.workspace / "d" / "e").rmdir()
    (ground.workspace / "d").rmdir()
    assert _outcomes(ground) == [("d/e/t", "restored")]
    assert (ground.workspace / "d" / "e" / "t").read_bytes() == b"0"
    assert len(_outcomes(ground, redo=True)) == 3
    assert tree_of(ground.workspace) == {}


def test_what_is_done_on_the_way_to_an_undo_is_not_the_undo(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.lay({"d/t": b"0"}, {})
    ground.files().remove("d/t")
    (ground.workspace / "d").rmdir()

    def broken(*_given: object) -> State:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(undo_module, "write_file", broken)
    assert _outcomes(ground) == [("d/t", "conflict")]
    assert (ground.workspace / "d").is_dir()
    monkeypatch.undo()
    assert _outcomes(ground) == [("d/t", "restored")]


def test_a_file_in_the_place_of_a_folder_is_a_conflict(ground: Ground) -> None:
    ground.lay({"d/t": b"0"}, {})
    ground.files().remove("d/t")
    (ground.workspace / "d").rmdir()
    (ground.workspace / "d").write_bytes(b"theirs")
    (one,) = ground.undo().restore(force=True)
    assert one.reason == "a file is in the place of a directory above it"


def test_what_is_as_before_needs_nothing_and_is_not_offered_again(ground: Ground) -> None:
    ground.lay({"t": b"0"}, {})
    ground.files("cal_1").write("t", b"1")
    ground.files("cal_2").write("u", b"2")
    (ground.workspace / "u").unlink()
    assert _outcomes(ground) == [("u", "already")]
    assert _outcomes(ground) == [("t", "restored")]
    assert _outcomes(ground) == []
    calls = ground.undo().calls()
    assert [(one.id, one.undone, one.takes_back) for one in calls[2:]] == [
        ("cal_2", True, False),
        ("cal_1", True, False),
    ]
    assert [one.takes_back for one in calls[:2]] == [True, True]
    assert [one.outcome for one in ground.undo().restore(None, redo=True)] == [
        "restored",
        "already",
    ]


def test_a_kept_content_that_is_gone_or_damaged_is_named(ground: Ground) -> None:
    ground.lay({"t": b"0"}, {})
    ground.files().write("t", b"1")
    (content,) = (ground.root / "state" / "changes").glob("*.kept")
    content.write_bytes(b"something else")
    (one,) = ground.undo().restore()
    assert (one.outcome, one.reason) == ("conflict", "what was kept of it is damaged")
    content.unlink()
    (one,) = ground.undo().restore()
    assert (one.outcome, one.reason) == ("conflict", "what was kept of it is gone")
    assert (ground.workspace / "t").read_bytes() == b"1"


def test_a_record_that_cannot_be_read_stops_everything(ground: Ground) -> None:
    ground.files().write("t", b"1")
    (ground.root / "state" / "changes" / "00000002.json").write_text("{", "utf-8")
    with pytest.raises(DamagedRecord):
        ground.undo().restore()
    assert (ground.workspace / "t").exists()


def test_calls_that_ran_side_by_side_are_taken_back_apart(ground: Ground) -> None:
    one, two = ground.files("cal_1"), ground.files("cal_2")
    one.write("a", b"1")
    two.write("b", b"1")
    one.write("shared", b"1")
    two.write("shared", b"2")
    one.write("c", b"1")
    # cal_1 ended last; what cal_2 wrote over it is not taken back with it.
    assert _outcomes(ground) == [("c", "restored"), ("shared", "conflict"), ("a", "restored")]
    assert _outcomes(ground, 2) == [
        ("shared", "restored"),
        ("shared", "restored"),
        ("b", "restored"),
    ]
    assert tree_of(ground.workspace) == {}


def test_an_error_of_the_disk_is_a_conflict(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.files().write("t", b"1")

    def broken(_path: str) -> State:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(undo_module, "_now_at", broken)
    (one,) = ground.undo().restore()
    assert (one.outcome, one.reason) == ("conflict", "Input/output error")


def test_an_undo_that_was_cut_short_is_done_again(ground: Ground) -> None:
    """Its record is there, what it says has not happened."""
    ground.lay({"t": b"0"}, {})
    ground.files().write("t", b"1")
    (done,) = ground.changes.load()
    cut = Change(
        call_id="undo", path=done.path, before=done.after, after=done.before, undoes=done.number
    )
    ground.changes.add(cut)
    assert _outcomes(ground) == [("t", "restored")]
    assert (ground.workspace / "t").read_bytes() == b"0"
    # The next one happened, and a later call that writes the same does not make it undone.
    ground.files("cal_2").write("t", b"1")
    assert _outcomes(ground) == [("t", "restored")]
    assert (ground.workspace / "t").read_bytes() == b"0"


def test_what_an_ended_process_left_aside_is_removed(ground: Ground) -> None:
    ground.files().write("t", b"1")
    (done,) = ground.changes.load()
    left = ground.workspace / (done.aside or "")
    left.write_bytes(b"half")
    mine = ground.workspace / "mine"
    mine.write_bytes(b"not ours")
    ground.changes.add(
        Change(call_id="x", path=done.path, before=ABSENT, after=ABSENT, aside="mine")
    )
    (ground.root / "state" / "changes" / ".holdfast-half").write_bytes(b"")
    ground.undo().restore(0)
    assert not left.exists()
    assert mine.exists()
    assert not (ground.root / "state" / "changes" / ".holdfast-half").exists()


@settings(max_examples=25)
@given(st.integers(min_value=0))
def test_undoing_everything_leads_back_and_redoing_it_forth(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    dice = random.Random(seed)
    ground = Ground(tmp_path_factory.mktemp("undo"))
    ground.lay({"a": b"first", "d/x": b"x"}, {"link": "a"})
    states = [tree_of(ground.workspace)]
    for step in range(3):
        some_changes(ground, dice, dice.randrange(8), call=1000 * step)
        states.append(tree_of(ground.workspace))
    assert {one.outcome for one in ground.undo().restore(None)} <= {"restored", "already"}
    assert tree_of(ground.workspace) == states[0]
    ground.undo().restore(redo=True)
    assert tree_of(ground.workspace) == states[3]


def test_a_session_that_changed_nothing_has_nothing_to_undo(ground: Ground) -> None:
    assert ground.undo().calls() == ()
    assert ground.undo().restore() == ()


def test_a_call_is_dated_by_its_last_change(ground: Ground) -> None:
    begun = time.time_ns()
    ground.files().write("t", b"1")
    (call,) = ground.undo().calls()
    assert begun <= call.at_ns <= time.time_ns()
    assert (call.tool, [Path(one.path).name for one in call.changes]) == ("probe", ["t"])
