"""`edit`: exact replacement; what is not clear is refused, and the file stays as it was."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import UNRECORDED, failure, opened, result

from holdfast.app.settings import EditSettings, Settings
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.failure import FailureKind
from holdfast.tools.files.editing import Replacement, alike, replaced

pytestmark = pytest.mark.anyio


@pytest.mark.req("SPEC-LOCK-07", "SPEC-EDIT-01", "SPEC-EDIT-02", "SPEC-EDIT-08")
@pytest.mark.req("SPEC-EDIT-10", "SPEC-EDIT-11", "BOA-HAND-09", "BOA-HAND-10")
async def test_text_is_replaced_exactly(workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 1\ny = 1\n")
    async with opened(workspace, "managed") as hf:
        tool = next(one for one in hf.tools if one.name == "edit")
        assert (tool.requires.fs.read, tool.requires.fs.write) == (("**",), ("**",))
        assert tool.input_schema["required"] == ["path", "old_string", "new_string"]
        once = await result(hf, "edit", path="a.py", old_string="x = 1", new_string=r"x = \1 $& {}")
        assert once == {"ok": True, "occurrences": 1}
        assert (workspace / "a.py").read_text() == "x = \\1 $& {}\ny = 1\n"
        gone = await result(hf, "edit", path="a.py", old_string=r"x = \1 $& {}" "\n", new_string="")
        assert gone["occurrences"] == 1
        assert (workspace / "a.py").read_text() == "y = 1\n"
        (workspace / "a.py").write_text("aXbXc")
        every = await result(
            hf, "edit", path="a.py", old_string="X", new_string="--", replace_all=True
        )
        assert every == {"ok": True, "occurrences": 2}
        assert (workspace / "a.py").read_text() == "a--b--c"


@pytest.mark.req("SPEC-EDIT-03")
async def test_only_what_exists_is_edited(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:
        for old in ("a", "b"):
            missing = await failure(hf, "edit", path="none", old_string=old, new_string="b")
            assert missing.kind == FailureKind.NOT_FOUND
        assert list(workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "field", "reason"),
    [
        pytest.param("", "x", "old_string", None, marks=pytest.mark.req("SPEC-EDIT-04")),
        pytest.param("one", "one", "new_string", "no_op", marks=pytest.mark.req("SPEC-EDIT-05")),
        pytest.param("none", "x", "old_string", "no_match", marks=pytest.mark.req("SPEC-EDIT-06")),
        pytest.param("two", "x", "old_string", "ambiguous", marks=pytest.mark.req("SPEC-EDIT-07")),
    ],
)
async def test_what_is_not_clear_changes_nothing(
    workspace: Path, old: str, new: str, field: str, reason: str | None
) -> None:
    file = workspace / "t"
    file.write_text("one\ntwo\ntwo\ntwo\n")
    before = file.stat()
    async with opened(workspace, "locked") as hf:
        refused = await failure(hf, "edit", path="t", old_string=old, new_string=new)
    assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)
    assert refused.extras.get("reason") == reason
    if reason == "ambiguous":
        assert "occurs 3 times (at lines 2, 3, 4)" in refused.message
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("  12\tdef f():\n  13\t    return 1", "line numbers"),
        ("12: def f():\n13:     return 1", "line numbers"),
        ("def f():\n  return 1", r"at line 2 with other whitespace; written exactly, it begins: "),
        ("def f():\n    return 2", "'def f():' stands at line 2"),
        ("something else", "No line of it was found"),
        ("import 1: os", "No line of it was found"),
    ],
)
def test_a_near_miss_is_told(old: str, said: str) -> None:
    text = "import os\ndef f():\n    return 1\n"
    with pytest.raises(InvalidArguments) as refused:
        replaced(text, Replacement(old, "x"))
    assert said in str(refused.value)


@pytest.mark.req("SPEC-EDIT-12")
async def test_other_whitespace_counts_only_where_the_host_says_so(workspace: Path) -> None:
    file = workspace / "t"
    call = {"path": "t", "old_string": "  if a:\n    b()", "new_string": "  if c:\n    b()"}
    file.write_text("if x:\n\tif  a:\n\t\tb()\n")
    async with opened(workspace, "locked") as hf:
        assert (await failure(hf, "edit", **call)).field == "old_string"
    settings = Settings(edit=EditSettings(ignore_whitespace=True), store=UNRECORDED.store)
    async with opened(workspace, "locked", settings=settings) as hf:
        assert (await result(hf, "edit", **call))["occurrences"] == 1
        assert file.read_text() == "if x:\n\tif c:\n    b()\n"
        file.write_text("a b\na  b\n")
        literal = await result(hf, "edit", path="t", old_string="a b", new_string="c")
        assert (literal["occurrences"], file.read_text()) == (1, "c\na  b\n")
        file.write_text("a  b\na\tb\n")
        several = await failure(hf, "edit", path="t", old_string="a b", new_string="c")
        assert several.extras["reason"] == "ambiguous"


async def test_line_endings_stay_those_of_the_file(workspace: Path) -> None:
    file = workspace / "w"
    file.write_bytes(b"one\r\ntwo\r\n")
    async with opened(workspace, "locked") as hf:
        for old, new in (("one\ntwo", "1\n2"), ("1\r\n2", "eins\r\nzwei")):
            await result(hf, "edit", path="w", old_string=old, new_string=new)
        same = await failure(hf, "edit", path="w", old_string="s\r\nz", new_string="s\nz")
        assert same.extras["reason"] == "no_op"
    assert file.read_bytes() == b"eins\r\nzwei\r\n"


letters = st.text("ab \n", max_size=12)


@pytest.mark.req("SPEC-EDIT-09")
@given(text=letters, old=letters.filter(bool), new=letters)
def test_occurrences_are_counted_from_the_left_without_overlap(
    text: str, old: str, new: str
) -> None:
    pieces = text.split(old)
    wanted = Replacement(old, new, everywhere=True)
    if old == new or len(pieces) == 1:
        with pytest.raises(InvalidArguments):
            replaced(text, wanted)
    else:
        assert replaced(text, wanted) == (new.join(pieces), len(pieces) - 1)


@given(text=letters, old=letters.filter(bool), new=letters)
def test_the_second_look_finds_what_differs_in_whitespace_alone(
    text: str, old: str, new: str
) -> None:
    if old == new or old in text or not old.split():
        return
    wanted = Replacement(old, new, everywhere=True, ignore_whitespace=True)
    try:
        found = replaced(text, wanted)
    except InvalidArguments:
        assert " ".join(old.split()) not in " ".join(text.split())
    else:
        assert found.occurrences >= 1


@given(
    text=st.text("ab \n\t\x1f\xa0", max_size=30), old=letters.filter(lambda one: bool(one.split()))
)
def test_the_second_look_finds_what_an_expression_finds(text: str, old: str) -> None:
    wanted = re.compile(r"\s+".join(map(re.escape, old.split())))
    assert list(alike(text, old)) == [found.span() for found in wanted.finditer(text)]


@pytest.mark.parametrize(
    ("text", "old"),
    [("x\n", " " * 500_000 + "y"), ("a " * 500_000, "a " * 100_000 + "b"), ("x", "1" * 900_000)],
)
def test_a_near_miss_of_a_long_text_is_looked_for_once(text: str, old: str) -> None:
    """Otherwise it takes minutes, in which nothing else of the process runs."""
    with pytest.raises(InvalidArguments, match="not in the file"):
        replaced(text, Replacement(old, "z"))
