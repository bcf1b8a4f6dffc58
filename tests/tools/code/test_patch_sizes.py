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
from holdfast.tools.patch import reading
from holdfast.tools.patch.diff_names import git_names, whole_name
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
        names = {one.partition("/")[2] for one in (rest[:place], whole_name(rest[place + 1 :], 1))}
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

    monkeypatch.setattr(reading, "has_sections", counted)
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
