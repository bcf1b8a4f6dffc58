"""`grep`: every matching line, found by ripgrep in real files."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_kit import answer, failure, opened, result

from holdfast.contract.failure import FailureKind
from holdfast.execution.search import program

pytestmark = pytest.mark.anyio


def write(workspace: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = workspace / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def found(told: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(one["path"], one["line"], one["text"]) for one in told["matches"]]


@pytest.mark.req("SPEC-GREP-03", "BOA-HAND-15")
async def test_each_matching_line_is_one_entry(workspace: Path) -> None:
    write(workspace, b_DOT_txt="one\nno\none and one\n", a__c_DOT_txt="x\none\r\n", d_DOT_txt="-\n")
    async with opened(workspace, "locked") as hf:
        told = await result(hf, "grep", pattern="one")
        assert found(told) == [
            ("a/c.txt", 2, "one"),
            ("b.txt", 1, "one"),
            ("b.txt", 3, "one and one"),
        ]
        assert told["files_scanned"] == 3
        assert told["more"] is None


@pytest.mark.req("SPEC-GREP-01", "SPEC-GREP-02", "SPEC-LOCK-09")
async def test_a_pattern_is_a_regular_expression_unless_told_otherwise(workspace: Path) -> None:
    write(workspace, a_DOT_py="a.c\nabc\nABC\n", sub__b_DOT_txt="abc\n")
    async with opened(workspace, "locked") as hf:
        tool = next(tool for tool in hf.tools if tool.name == "grep")
        assert tool.requires.fs.read == ("**",)
        assert len((await result(hf, "grep", pattern=r"^a.c$"))["matches"]) == 3
        plain = await result(hf, "grep", pattern="a.c", regex=False)
        assert found(plain) == [("a.py", 1, "a.c")]
        anyhow = await result(hf, "grep", pattern="abc", case_sensitive=False, glob="*.py")
        assert [one[1] for one in found(anyhow)] == [2, 3]
        below = await result(hf, "grep", pattern="abc", path="sub")
        assert found(below) == [("sub/b.txt", 1, "abc")]
        assert len((await result(hf, "grep", pattern="b", limit=1))["matches"]) == 1
        assert len(found(await result(hf, "grep", pattern="b", glob="sub/*"))) == 1
        assert len(found(await result(hf, "grep", pattern="b", glob="**/*.txt"))) == 1
        assert len(found(await result(hf, "grep", pattern="b", glob="[ab].py"))) == 0


@pytest.mark.req("SPEC-GREP-04")
async def test_a_file_may_be_named(workspace: Path) -> None:
    write(workspace, sub__a_DOT_txt="one\n", sub__b_DOT_txt="one\n")
    async with opened(workspace, "locked") as hf:
        told = await result(hf, "grep", pattern="one", path="sub/a.txt")
        assert found(told) == [("sub/a.txt", 1, "one")]
        assert told["files_scanned"] == 1


async def test_a_filter_also_holds_for_whole_trees_and_named_files(workspace: Path) -> None:
    write(workspace, sub__a_DOT_txt="one\n", sub__deep__b_DOT_py="one\n", c_DOT_txt="one\n")
    for name in ("a:b.txt", "a_b.txt"):
        (workspace / name).write_text("one\n", encoding="utf-8")
    async with opened(workspace, "locked") as hf:
        for glob, wanted in (
            ("sub/**", ["sub/a.txt", "sub/deep/b.py"]),
            ("**", ["a:b.txt", "a_b.txt", "c.txt", "sub/a.txt", "sub/deep/b.py"]),
            ("sub/**/*.py", ["sub/deep/b.py"]),
            ("sub/", ["sub/a.txt", "sub/deep/b.py"]),
            ("a:b.txt", ["a:b.txt"]),
            ("**/a:*", ["a:b.txt"]),
        ):
            told = await result(hf, "grep", pattern="one", glob=glob)
            assert [one[0] for one in found(told)] == wanted, glob
        told = await result(hf, "grep", pattern="one", glob="*.{py,txt}")
        assert (told["matches"], "Braces are plain text" in told["more"]) == ([], True)
        for glob, count in (("*.txt", 1), ("*.py", 0)):
            told = await result(hf, "grep", pattern="one", path="sub/a.txt", glob=glob)
            assert len(found(told)) == count


@pytest.mark.req("SPEC-GREP-05", "SPEC-GREP-06")
@pytest.mark.parametrize("pattern", ["", "(", "a{2,1}", "[z-a]", "a\nb", "a\0"])
async def test_what_is_no_pattern_is_refused(workspace: Path, pattern: str) -> None:
    write(workspace, a_DOT_txt="a")
    async with opened(workspace, "locked") as hf:
        refused = await failure(hf, "grep", pattern=pattern)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "pattern")


async def test_a_refused_pattern_is_explained(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:
        assert "unclosed group" in (await failure(hf, "grep", pattern="(")).message
        assert (await result(hf, "grep", pattern="(", regex=False))["matches"] == []
        for pattern in ("a\nb", "a" * 100_001):
            refused = await failure(hf, "grep", pattern=pattern, regex=False)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "pattern")
        assert (await result(hf, "grep", pattern="a" * 100_000, regex=False))["matches"] == []
        assert (await failure(hf, "grep", pattern="a", path="nowhere")).field == "path"
        assert (await failure(hf, "grep", pattern="a", glob="/x")).field == "glob"


@pytest.mark.req("SPEC-TRUNC-10", "BOA-HAND-14")
async def test_two_hundred_are_shown_and_the_rest_is_kept(workspace: Path) -> None:
    write(workspace, a_DOT_txt="hit\n" * 200)
    async with opened(workspace, "locked") as hf:
        whole = await answer(hf, "grep", pattern="hit")
        assert not whole.metadata.truncated
        write(workspace, b_DOT_txt="hit\n" * 50)
        cut = await answer(hf, "grep", pattern="hit")
        assert cut.metadata.truncated
        assert cut.metadata.output_path is not None
        assert len(Path(cut.metadata.output_path).read_text(encoding="utf-8").splitlines()) == 250


async def test_a_limit_stops_the_search(workspace: Path) -> None:
    write(workspace, a_DOT_txt="hit\n" * 300)
    async with opened(workspace, "locked") as hf:
        stopped = await answer(hf, "grep", pattern="hit", limit=5)
        assert b"There may be more" in stopped.result_json
        assert (stopped.metadata.truncated, stopped.metadata.output_path) == (False, None)
        assert (await failure(hf, "grep", pattern="hit", limit=201)).field == "limit"


async def test_what_is_left_out_is_counted(workspace: Path) -> None:
    (workspace / ".git").mkdir()
    write(
        workspace,
        _DOT_gitignore="*.log\n",
        a_DOT_log="hit",
        a_DOT_txt="hit",
        node_modules__x_DOT_js="hit",
        b_DOT_bin=b"\0hit",
    )
    (workspace / "link.txt").symlink_to("a.txt")
    async with opened(workspace, "locked") as hf:
        told = await result(hf, "grep", pattern="hit")
        assert found(told) == [("a.txt", 1, "hit")]
        assert told["left_out"] == {"ignored": 3, "binary": 1, "links": 1}
        assert told["files_scanned"] == 2
        filtered = await result(hf, "grep", pattern="hit", glob="*.?*")
        assert found(filtered) == [("a.txt", 1, "hit")]
        assert filtered["left_out"] == {"ignored": 3, "binary": 1, "links": 1}


@pytest.mark.parametrize(("profile", "path"), [("locked", "sub"), ("managed", None)])
async def test_nothing_is_passed_over(workspace: Path, profile: str, path: str | None) -> None:
    (workspace / ".git").mkdir()
    write(workspace, _DOT_gitignore="*.log\n", sub__a_DOT_log="hit", sub__node_modules__b="hit")
    async with opened(workspace, profile) as hf:
        told = await result(hf, "grep", pattern="hit", **({"path": path} if path else {}))
        assert [one[0] for one in found(told)] == ["sub/a.log", "sub/node_modules/b"]
        assert told["left_out"] == {}


async def test_a_binary_file_that_is_named_is_counted(workspace: Path) -> None:
    write(workspace, b_DOT_bin=b"hit\n\0")
    async with opened(workspace, "locked") as hf:
        told = await result(hf, "grep", pattern="hit", path="b.bin")
        assert (told["matches"], told["left_out"]) == ([], {"binary": 1})


async def test_odd_texts_and_names(workspace: Path) -> None:
    write(workspace, latin=b"hit \xff\n", wide="hit é\n".encode("utf-16"), long="x" * 10**6 + "hit")
    (workspace / "two\nlines").write_text("hit")
    (workspace / "-e").write_text("hit")
    async with opened(workspace, "locked") as hf:
        told = await result(hf, "grep", pattern="hit", path="two\nlines")
        assert found(told) == [("two\nlines", 1, "hit")]
        assert found(await result(hf, "grep", pattern="-e|hit", path="-e")) == [("-e", 1, "hit")]
        assert found(await result(hf, "grep", pattern="hit", path="latin")) == [
            ("latin", 1, "hit \N{REPLACEMENT CHARACTER}")
        ]
        assert found(await result(hf, "grep", pattern="hit", path="wide")) == [("wide", 1, "hit é")]
        long = await answer(hf, "grep", pattern="hit$", path="long")
        assert long.metadata.truncated
        assert long.metadata.output_bytes is not None
        assert long.metadata.output_bytes > 10**6


async def test_a_name_is_never_shown_as_another(workspace: Path) -> None:
    """Also where a part of it reads like ripgrep's words about a binary file."""
    words = 'x: binary file matches (found "\\0" byte around offset 1)\n'
    for name in (f"{words}README.md", f"{words}./README.md"):
        path = workspace / "spoof" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("needle\n", encoding="utf-8")
    (workspace / "README.md").write_text("nothing\n", encoding="utf-8")
    async with opened(workspace, "locked") as hf:
        found = await result(hf, "grep", pattern="needle")
    assert [one["path"] for one in found["matches"]] == [f"spoof/{words}README.md"]
    assert found["left_out"] == {"unreadable": 1}


async def test_no_link_leads_out(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("hit")
    (workspace / "file").symlink_to(outside / "secret")
    (workspace / "folder").symlink_to(outside)
    async with opened(workspace, "locked") as hf:
        assert (await result(hf, "grep", pattern="hit"))["matches"] == []
        for path in ("file", "folder", str(outside)):
            refused = await failure(hf, "grep", pattern="hit", path=path)
            assert refused.kind == FailureKind.REJECTED


async def test_without_ripgrep_it_says_what_to_install(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "_candidates", lambda: [str(workspace / "no-rg")])
    program.ripgrep.cache_clear()
    try:
        async with opened(workspace, "locked") as hf:
            missing = await failure(hf, "grep", pattern="a")
            assert missing.kind == FailureKind.UNAVAILABLE
            assert "pip install ripgrep" in missing.message
    finally:
        program.ripgrep.cache_clear()


async def test_the_newer_ripgrep_is_taken(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, version in (("old", "13.0.0"), ("new", "99.1.0"), ("ancient", "9.0.0"), ("no", "x")):
        script = workspace / name
        script.write_text(f"#!/bin/sh\necho ripgrep {version}\n")
        script.chmod(0o755)
    names = [str(workspace / name) for name in ("old", "new", "ancient", "no")]
    monkeypatch.setattr(program, "_candidates", lambda: names)
    program.ripgrep.cache_clear()
    try:
        assert program.ripgrep() == str(workspace / "new")
    finally:
        program.ripgrep.cache_clear()


LINE = st.text("ab \t.é", max_size=8)
PIECE = st.sampled_from(["a", "b", ".", "é", "a*", "b+", "[ab]", "^", "$", "(a|b)", r"\.", r"\s"])


@given(
    files=st.lists(st.lists(LINE, min_size=1, max_size=4), min_size=1, max_size=4),
    pattern=st.lists(PIECE, min_size=1, max_size=3).map("".join),
    case_sensitive=st.booleans(),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.timeout(90)  # many examples
async def test_it_finds_what_python_finds(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[str]],
    pattern: str,
    case_sensitive: bool,
) -> None:
    workspace = tmp_path_factory.mktemp("files")
    for number, lines in enumerate(files):
        (workspace / f"{number}.txt").write_text("".join(f"{line}\n" for line in lines))
    wanted = [
        (f"{number}.txt", at, line)
        for number, lines in enumerate(files)
        for at, line in enumerate(lines, 1)
        if re.search(pattern, line, 0 if case_sensitive else re.IGNORECASE)
    ]
    async with opened(workspace, "locked") as hf:
        told = await result(hf, "grep", pattern=pattern, case_sensitive=case_sensitive)
        assert found(told) == wanted
