"""Patches of any shape are read and applied in time that follows their size.

Each of these took minutes where it was tried anew at every place, some of it on the event loop.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import failure, opened

from holdfast.contract.errors import InvalidArguments
from holdfast.contract.failure import FailureKind
from holdfast.tools.code.apply_patch import LONGEST_PATCH
from holdfast.tools.patch import sections as section_text
from holdfast.tools.patch.applying import applied
from holdfast.tools.patch.diff_names import git_names
from holdfast.tools.patch.places import place_near, places_of
from holdfast.tools.patch.reading import patch_targets, read_patch

MANY = 1_000_000


def test_blank_lines_behind_a_new_file_are_passed_over() -> None:
    patch = "*** Begin Patch\n*** Add File: f\n+x\n" + "\n" * MANY + "*** End Patch"
    assert read_patch(patch)[0].content == b"x\n"


def test_a_long_line_of_a_header_is_refused() -> None:
    for line in ("diff --git x" + " " * MANY, "diff --git a/f b/f\nrename from " + "x" * MANY):
        with pytest.raises(InvalidArguments, match="at most 16,384 bytes"):
            read_patch(f"{line}\n")


def test_many_long_lines_of_headers_are_read_once_each() -> None:
    patch = ("diff --git x" + " " * 16_000 + "\n") * 60
    with pytest.raises(InvalidArguments, match="not clear which file"):
        read_patch(patch)
    assert read_patch(("diff --git x/f" + " " * 16_000 + "y/f\nnew mode 100755\n") * 60)


def plainly(rest: str) -> str | None:
    """The name that both sides have, tried at every blank."""
    for place in (found.start() for found in re.finditer(r"[ \t]", rest)):
        behind = rest[place + 1 :]
        quoted = re.fullmatch(r'"([^"]*)"', behind)
        names = {one.partition("/")[2] for one in (rest[:place], quoted[1] if quoted else behind)}
        if len(names) == 1 and (name := names.pop()):
            return name
    return None


SIDE = st.text('a/ \t"', max_size=5)


@given(name=SIDE, sides=st.tuples(SIDE, SIDE), quote=st.sampled_from(["", '"']))
def test_both_sides_of_a_header_have_the_same_name(
    name: str, sides: tuple[str, str], quote: str
) -> None:
    for rest in (f"{sides[0]}/{name} {quote}{sides[1]}/{name}{quote}", " ".join((name, *sides))):
        if not rest.startswith('"'):
            assert git_names(f"diff --git {rest}", 1) == plainly(rest)


def test_a_patch_is_read_once_also_where_it_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(_lines: list[bytes]) -> bool:
        asked.append(1)
        return False

    monkeypatch.setattr(section_text, "has_sections", counted)
    text = "@@ -1 +1 @@ no patch of its own"
    assert [patch_targets(text, one) for one in ("fs.read", "fs.write")] == [[], []]
    for _ in range(2):
        with pytest.raises(InvalidArguments, match="a hunk comes before any file") as refused:
            read_patch(text)
        assert refused.value.extras == {"reason": "bad_patch", "line": 1}
    assert len(asked) == 1


@pytest.mark.anyio
async def test_a_longer_patch_than_a_model_writes_is_refused(workspace: Path) -> None:
    async with opened(workspace) as hf:
        refused = await failure(hf, "apply_patch", patch="x" * (LONGEST_PATCH + 1))
    assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "patch")


LINES = st.text("ab", max_size=9)


@given(text=LINES, wanted=st.text("ab", max_size=3), start=st.integers(0, 12))
def test_the_nearest_place_is_found_behind_first(text: str, wanted: str, start: int) -> None:
    start_within = min(start, len(text))
    places = [at for at in range(len(text) + 1) if text.startswith(wanted, at)]
    nearest = min(places, key=lambda at: (abs(at - start_within), at < start), default=None)
    assert place_near(text, wanted, start) == nearest


def test_places_are_found_with_overlap_up_to_a_bound() -> None:
    assert places_of("aaaa", "aa", 1, 9) == [1, 2]
    assert places_of("a" * MANY, "a" * 400, 0, 3) == [0, 1, 2]


def sections(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", "*** Update File: f", *lines, "*** End Patch"))


def test_a_hunk_far_behind_the_end_of_a_file_is_looked_for_in_the_file() -> None:
    patch = "--- a/f\n+++ b/f\n@@ -999999999,2 +999999999,2 @@\n-a\n+x\n b\n"
    assert applied(b"a\nb\na\nb\nc\n", read_patch(patch)[0]) == b"a\nb\nx\nb\nc\n"


def test_lines_that_are_all_alike_are_compared_once() -> None:
    for size in (400, 100_000):
        head = f"--- a/f\n+++ b/f\n@@ -9,{size + 2} +9,{size + 1} @@\n"
        patch = head + " a\n" * size + "-b\n c\n"
        with pytest.raises(InvalidArguments, match="stand nowhere"):
            applied(b"a\n" * 200_000, read_patch(patch)[0])
        patch = head + "-b\n" + " a\n" * (size + 1)
        with pytest.raises(InvalidArguments, match="stand nowhere"):
            applied(b"a\n" * 200_000, read_patch(patch)[0])
        with pytest.raises(InvalidArguments, match="stand nowhere"):
            applied(b"a\n" * 200_000, read_patch(sections(*[" a"] * size, "-b"))[0])
        with pytest.raises(InvalidArguments, match="stand at 100 or more places"):
            applied(b"a\n" * 200_000, read_patch(sections(*[" a"] * size, "-a"))[0])


def test_many_hunks_read_a_large_file_once() -> None:
    content = b"".join(b"%d\n" % number for number in range(150_000))
    hunks = [line for at in range(0, 6_000, 3) for line in (f"@@ {at}", f"-{at + 1}", "+x")]
    made = applied(content, read_patch(sections(*hunks))[0])
    assert made.split(b"\n")[:6] == [b"0", b"x", b"2", b"3", b"x", b"5"]
    assert (made.count(b"\n"), made.count(b"x")) == (150_000, 2_000)
