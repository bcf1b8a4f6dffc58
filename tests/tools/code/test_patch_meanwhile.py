"""`apply_patch` while others work on the same files, and where it fails in the middle."""

from collections.abc import Callable
from pathlib import Path

import pytest
from execution.files.ground import Ground, tree_of

from holdfast.contract.errors import InvalidArguments, OperationFailed, ToolError
from holdfast.contract.files import Files, Written
from holdfast.testing.fake_files import FakeFiles
from holdfast.tools.patch.outcome import Outcome, Step
from holdfast.tools.patch.reading import read_patch
from holdfast.tools.patch.writing import write_all


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def steps_of(files: Files, *lines: str) -> list[Step]:
    patch = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return Outcome(files, 1 << 20, read_patch(patch)).steps()


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("*** Update File: f", "-old", "+patched"), "stale"),
        (("*** Delete File: f",), "stale"),
        (("*** Add File: made", "+patched"), "exists"),
    ],
)
def test_what_somebody_else_did_before_it_is_written_stays(
    ground: Ground, lines: tuple[str, ...], reason: str
) -> None:
    ground.lay({"a": b"1\n", "f": b"old\n"}, {})
    files = ground.files()
    steps = steps_of(files, "*** Update File: a", "-1", "+2", *lines)
    ground.lay({"f": b"THEIR NEW WORK\n", "made": b"THEIR NEW FILE\n"}, {})
    theirs = tree_of(ground.workspace)
    with pytest.raises(OperationFailed) as refused:
        write_all(files, steps)
    assert refused.value.extras["reason"] == reason
    assert tree_of(ground.workspace) == theirs


class Interrupted(FakeFiles):
    """Files where something happens before or behind one of the changes."""

    left = 0
    before: Callable[[], None] | None = None
    behind: BaseException | None = None

    def write(self, path: str, content: bytes | str, /, **how: object) -> Written:
        self.left -= 1
        if not self.left and self.before is not None:
            self.before()
        done = super().write(path, content, **how)  # pyright: ignore[reportArgumentType] - passed on
        if not self.left and self.behind is not None:
            raise self.behind
        return done


THREE = ("*** Update File: a", "-1", "+2", "*** Add File: n", "+2", "*** Update File: z", "-1")


def test_what_somebody_else_did_after_it_was_written_stays_and_is_named() -> None:
    files = Interrupted({"a": b"1\n", "z": b"1\n"})
    steps = steps_of(files, *THREE, "+2")

    def meanwhile() -> None:
        for name in ("a", "n", "z"):
            FakeFiles.write(files, name, b"theirs\n")

    files.left, files.before = 3, meanwhile
    with pytest.raises(OperationFailed, match=r"be put back: n .*; a ") as told:
        write_all(files, steps)
    assert told.value.extras["reason"] == "partial"
    assert {files.read_bytes(name) for name in ("a", "n", "z")} == {b"theirs\n"}


@pytest.mark.parametrize("fault", [OperationFailed("the disk is gone"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_fault_behind_a_change_takes_that_change_back_too(fault: BaseException, at: int) -> None:
    files = Interrupted({"a": b"1\n", "z": b"1\n"})
    steps = steps_of(files, *THREE, "+2")
    files.left, files.behind = at, fault
    with pytest.raises(type(fault)):
        write_all(files, steps)
    assert {one.path: files.read_bytes(one.path) for one in files.walk()} == {
        "a": b"1\n",
        "z": b"1\n",
    }


def test_a_file_that_vanished_is_not_made_again(ground: Ground) -> None:
    ground.lay({"a": b"1\n", "f": b"old\n"}, {})
    files = ground.files()
    steps = steps_of(files, "*** Update File: f", "-old", "+new", "*** Delete File: a")
    (ground.workspace / "f").unlink()
    with pytest.raises(ToolError):
        write_all(files, steps)
    assert sorted(tree_of(ground.workspace)) == ["a"]


@pytest.mark.parametrize(
    "lines",
    [
        ("*** Update File: link", "-real", "+patched"),
        ("*** Update File: link", "*** Move to: moved", "-real", "+patched"),
        ("*** Delete File: link",),
        ("*** Update File: d/up", "-real", "+patched"),
        ("*** Add File: dangling", "+new"),
        ("*** Add File: d/dangling", "+new"),
        ("*** Update File: real", "*** Move to: dangling", "-real", "+patched"),
    ],
)
def test_a_path_that_is_itself_a_link_is_refused(ground: Ground, lines: tuple[str, ...]) -> None:
    links = {"link": "real", "d/up": "../real", "dangling": "none", "d/dangling": "../none"}
    ground.lay({"real": b"real\n"}, links)
    before = tree_of(ground.workspace)
    for written in (lines, (lines[0].replace(": ", f": {ground.workspace}/"), *lines[1:])):
        files = ground.files()
        with pytest.raises(InvalidArguments, match="it is a link, and only plain files"):
            write_all(files, steps_of(files, *written))
    assert tree_of(ground.workspace) == before


def test_a_file_below_a_link_to_a_directory_is_patched(ground: Ground) -> None:
    ground.lay({"d/f": b"1\n"}, {"to": "d"})
    for path in ("to/f", f"{ground.workspace}/to/f", f"{ground.workspace}/d/f"):
        files = ground.files()
        write_all(files, steps_of(files, f"*** Update File: {path}", "+2"))
    write_all(files, steps_of(files, "*** Add File: to/new", "+x"))
    assert (ground.workspace / "d/f").read_bytes() == b"1\n2\n2\n2\n"
    assert (ground.workspace / "d/new").read_bytes() == b"x\n"


BLOCKED = ("*** Add File: x/y", "+1", "*** Add File: x", "+2")
"""Fails when it is written, and not before: x is a directory by then."""


def test_a_file_with_a_set_id_bit_is_patched_and_loses_the_bit(ground: Ground) -> None:
    ground.lay({"s": b"s\n", "t": b"t\n"}, {})
    for name in ("s", "t"):
        (ground.workspace / name).chmod(0o2755)
    files = ground.files()
    write_all(files, steps_of(files, "*** Update File: s", "-s", "+new"))
    assert tree_of(ground.workspace)["s"] == ("file", 0o755, b"new\n")
    with pytest.raises(ToolError) as refused:
        write_all(files, steps_of(files, "*** Delete File: t", *BLOCKED))
    assert refused.value.extras.get("reason") != "partial"
    assert tree_of(ground.workspace) == {
        "s": ("file", 0o755, b"new\n"),
        "t": ("file", 0o755, b"t\n"),
    }


def test_directories_that_a_patch_empties_go_with_it(ground: Ground) -> None:
    laid = {"d/e/only": b"x\n", "k/e/f": b"x\n", "k/g": b"x\n", "real/f": b"x\n", "m/f": b"x\n"}
    ground.lay(laid, {"to": "real"})
    (ground.workspace / "d/e").chmod(0o700)
    before = tree_of(ground.workspace)
    paths = ("d/e/only", "k/e/f", "to/f", f"{ground.workspace}/m/f")
    files = ground.files()
    write_all(files, steps_of(files, *(f"*** Delete File: {path}" for path in paths)))
    assert sorted(tree_of(ground.workspace)) == ["k", "k/g", "m", "real", "to"]
    ground.undo().restore(None)
    assert tree_of(ground.workspace) == before


def test_directories_stay_where_a_patch_is_taken_back(ground: Ground) -> None:
    ground.lay({"d/e/only": b"x\n"}, {})
    (ground.workspace / "d/e").chmod(0o700)
    before = tree_of(ground.workspace)
    files = ground.files()
    with pytest.raises(ToolError):
        write_all(files, steps_of(files, "*** Delete File: d/e/only", *BLOCKED))
    assert tree_of(ground.workspace) == before
