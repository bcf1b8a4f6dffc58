"""Patches against git: where git applies, the same bytes; where it refuses, nothing is written."""

import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from patch_dice import judged, made
from patch_oracle import Tree, changed, damaged, diff_of, trees

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


@SLOW
@given(both=trees(), context=st.integers(1, 3))
def test_a_diff_of_git_gives_what_git_makes_of_it(both: tuple[Tree, Tree], context: int) -> None:
    before, after = both
    with tempfile.TemporaryDirectory() as place:
        patch = diff_of(before, after, Path(place), context)
        assume(patch)
        assert ours(before, patch) == after
        assert judged(before, patch, Path(place)) == "applied by both"


@SLOW
@given(data=st.data(), both=trees(), context=st.integers(0, 3))
def test_a_damaged_diff_ends_as_with_git(
    data: st.DataObject, both: tuple[Tree, Tree], context: int
) -> None:
    before, after = both
    with tempfile.TemporaryDirectory() as place:
        patch = diff_of(before, after, Path(place), context)
        assume(patch)
        judged(before, data.draw(damaged(patch)), Path(place))


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
        judged(moved, patch, Path(place))


@pytest.mark.parametrize("seed", range(3))
def test_patches_by_dice_end_as_with_git_but_for_what_has_a_name(tmp_path: Path, seed: int) -> None:
    """A share of the soak run; what differs has to be in the list of differences."""
    dice = random.Random(seed)
    ends = Counter(judged(*made(dice, tmp_path), tmp_path) for _ in range(50))
    assert ends["applied by both"] >= 10
    assert ends["refused by both"] >= 10
