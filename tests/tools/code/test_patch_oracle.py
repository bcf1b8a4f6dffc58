"""Patches against git: where git applies, the same bytes; where it refuses, nothing is written."""

import re
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from patch_oracle import Tree, changed, damaged, diff_of, git_applied, trees

from holdfast.contract.errors import ToolError
from holdfast.testing.fake_files import FakeFiles
from holdfast.tools.patch.outcome import Outcome
from holdfast.tools.patch.reading import read_patch
from holdfast.tools.patch.writing import write_all

SLOW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def ours(tree: Tree, patch: bytes) -> Tree | ToolError:
    """What our tool makes of it, or why it refuses; then nothing is changed."""
    files = FakeFiles(tree)
    try:
        write_all(files, Outcome(files, 1 << 20, read_patch(patch.decode())).steps())
    except ToolError as problem:
        assert stored(files) == tree
        return problem
    return stored(files)


def stored(files: FakeFiles) -> Tree:
    return {one.path: files.read_bytes(one.path) for one in files.walk() if one.kind == "file"}


def compared(tree: Tree, patch: bytes, place: Path) -> None:
    theirs, made = git_applied(tree, patch, place), ours(tree, patch)
    if theirs is None:
        assert isinstance(made, ToolError), "git refuses it"
    elif not (
        isinstance(made, ToolError)
        and (is_doubtful(patch, theirs) or "it exists already" in str(made))
    ):
        assert made == theirs


def is_doubtful(patch: bytes, theirs: Tree) -> bool:
    """Where git does what nobody meant, and a refusal is right.

    It takes /dev/null for a file of that name when no mode line says otherwise, and it finds a last
    line without its newline in the middle of a file, to which it then joins the next line. It takes
    any number for a mode, two names for a rename that nobody spoke of, and makes a file twice.
    """
    renamed = re.search(rb"(?m)^--- a/(.*)\n\+\+\+ b/(?!\1$)", patch)
    if renamed is not None and b"rename" not in patch:
        return True
    odd_mode = re.search(rb"(?m)^index .* (?!100)|mode (?!100644$|100755$)", patch)
    return "dev/null" in theirs or b"\\ No newline" in patch or odd_mode is not None


@SLOW
@given(both=trees(), context=st.integers(1, 3))
def test_a_diff_of_git_gives_what_git_makes_of_it(both: tuple[Tree, Tree], context: int) -> None:
    before, after = both
    with tempfile.TemporaryDirectory() as place:
        patch = diff_of(before, after, Path(place), context)
        assume(patch)
        assert ours(before, patch) == after
        compared(before, patch, Path(place))


@SLOW
@given(data=st.data(), both=trees(), context=st.integers(0, 3))
def test_a_damaged_diff_ends_as_with_git(
    data: st.DataObject, both: tuple[Tree, Tree], context: int
) -> None:
    before, after = both
    with tempfile.TemporaryDirectory() as place:
        patch = diff_of(before, after, Path(place), context)
        assume(patch)
        compared(before, data.draw(damaged(patch)), Path(place))


@SLOW
@given(data=st.data(), both=trees(), context=st.integers(1, 3))
def test_a_diff_for_other_files_ends_as_with_git(
    data: st.DataObject, both: tuple[Tree, Tree], context: int
) -> None:
    before, after = both
    moved = {name: data.draw(changed(content)) for name, content in before.items()}
    with tempfile.TemporaryDirectory() as place:
        patch = diff_of(before, after, Path(place), context)
        assume(patch)
        compared(moved, patch, Path(place))
