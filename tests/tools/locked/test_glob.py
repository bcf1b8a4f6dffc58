"""`glob`: files and directories by pattern, in real directories."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_kit import answer, failure, opened, result

from holdfast.contract.failure import FailureKind
from holdfast.execution.search import directories

pytestmark = pytest.mark.anyio


def make(workspace: Path, *paths: str) -> None:
    for path in paths:
        place = workspace / path
        if path.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("x")


def found(told: dict[str, Any]) -> list[str]:
    return [one["path"] + "/" * (one["kind"] == "directory") for one in told["entries"]]


@pytest.mark.req("SPEC-GLOB-01", "SPEC-GLOB-03", "SPEC-GLOB-04", "BOA-HAND-11", "SPEC-LOCK-08")
async def test_files_and_directories_are_listed_in_order(workspace: Path) -> None:
    make(workspace, "b.py", "a.py/", "a.py/z.py", "c/d.py", "c/e.txt")
    async with opened(workspace, "locked") as hf:
        tool = next(tool for tool in hf.tools if tool.name == "glob")
        assert tool.requires.fs.read == ("**",)
        told = await result(hf, "glob", pattern="**/*.py")
        assert told["entries"] == [
            {"path": "a.py", "kind": "directory"},
            {"path": "a.py/z.py", "kind": "file"},
            {"path": "b.py", "kind": "file"},
            {"path": "c/d.py", "kind": "file"},
        ]
        assert told["total"] == 4
        refused = await failure(hf, "glob")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "pattern")


@pytest.mark.req("SPEC-GLOB-02", "BOA-HAND-12")
async def test_it_takes_a_directory_a_kind_and_a_limit(workspace: Path) -> None:
    make(workspace, "a/b.txt", "a/c/", "a/c/d.txt", "e.txt")
    async with opened(workspace, "locked") as hf:
        assert found(await result(hf, "glob", pattern="**", path="a")) == [
            "a/b.txt",
            "a/c/",
            "a/c/d.txt",
        ]
        for pattern in ("a/*", "a/**"):
            directory = await result(hf, "glob", pattern=pattern, kind="directory")
            assert found(directory) == ["a/c/"]
        assert found(await result(hf, "glob", pattern="*", kind="file")) == ["e.txt"]
        assert found(await result(hf, "glob", pattern="*/")) == ["a/"]
        for pattern in ("*", "**"):
            few = await result(hf, "glob", pattern=pattern, limit=1)
            assert (few["total"], few["more"] is None) == (1, False)
        make(workspace, "a/f/", "a/g/")
        few = await result(hf, "glob", pattern="**", path="a", limit=3)
        assert (found(few), few["more"] is None) == (["a/b.txt", "a/c/", "a/c/d.txt"], False)
        all_of_them = await result(hf, "glob", pattern="**", path="a", limit=5)
        assert (all_of_them["total"], all_of_them["more"]) == (5, None)
        assert (await failure(hf, "glob", pattern="*", kind="link")).field == "kind"
        assert (await failure(hf, "glob", pattern="*", path="e.txt")).field == "path"
        assert (await failure(hf, "glob", pattern="*", path="no")).kind == FailureKind.NOT_FOUND


@pytest.mark.req("SPEC-GLOB-06", "BOA-HAND-13")
async def test_what_the_signs_mean(workspace: Path) -> None:
    make(workspace, ".env", "a1", "a[1]", "{a,b}", "a/.hid/x", "a/b/c/x", "ab/x")
    async with opened(workspace, "locked") as hf:

        async def paths(pattern: str) -> list[str]:
            return found(await result(hf, "glob", pattern=pattern))

        assert await paths("*") == [".env", "a/", "a1", "a[1]", "ab/", "{a,b}"]
        assert await paths("a?") == ["a1", "ab/"]
        assert await paths("a[1]") == ["a[1]"]
        assert await paths("{a,b}") == ["{a,b}"]
        assert await paths("{a1,ab}") == []
        for pattern, said in (("{a1,ab}", True), ("{a,b}", False), ("{a}", False), ("z", False)):
            told = await result(hf, "glob", pattern=pattern)
            assert ("Braces are plain text" in (told.get("more") or "")) is said
        assert await paths("*/x") == ["ab/x"]
        assert await paths("**/x") == ["a/.hid/x", "a/b/c/x", "ab/x"]
        assert await paths("a/**/x") == ["a/.hid/x", "a/b/c/x"]
        assert await paths("**/a[1]") == ["a[1]"]
        assert await paths("**/.*") == [".env", "a/.hid/"]
        assert await paths("ab/**/x") == ["ab/x"]


@pytest.mark.req("SPEC-TRUNC-09", "SPEC-GLOB-05", "SPEC-TRUNC-22")
async def test_a_thousand_are_shown_and_the_rest_is_kept(workspace: Path) -> None:
    make(workspace, *(f"d/{number:04}" for number in range(1000)))
    (workspace / "d/0000").write_text("hit\n" * 201)
    async with opened(workspace, "locked") as hf:
        for pattern in ("d/*", "d/**"):
            assert not (await answer(hf, "glob", pattern=pattern)).metadata.truncated
        make(workspace, "d/1000")
        for tool, pattern, count in (
            ("glob", "d/*", 1001),
            ("glob", "d/**", 1001),
            ("grep", "hit", 201),
        ):
            cut = await answer(hf, tool, pattern=pattern)
            assert cut.metadata.truncated
            assert cut.metadata.output_path is not None
            assert (
                len(Path(cut.metadata.output_path).read_text(encoding="utf-8").splitlines())
                == count
            )
            few = await answer(hf, tool, pattern=pattern, limit=100)
            assert (few.metadata.truncated, few.metadata.output_path) == (False, None)
            assert b"There may be more" in few.result_json


@pytest.mark.req("SPEC-GLOB-07", "SPEC-GLOB-09")
async def test_what_is_passed_over_is_counted(workspace: Path) -> None:
    passed = [".git/x", "node_modules/x", "sub/__pycache__/x", "sub/.venv/x", ".cache/x"]
    built = ["sub/build/x", "dist/x", "target/x"]
    make(workspace, *passed, *built, "sub/y", "sub/a.log", "sub/b.bin", "y/build")
    (workspace / ".gitignore").write_text("*.log\n")
    (workspace / "sub/b.bin").write_bytes(b"\0x")
    async with opened(workspace, "locked") as hf:
        told = await result(hf, "glob", pattern="**")
        assert found(told) == [".gitignore", "sub/", "sub/b.bin", "sub/y", "y/", "y/build"]
        assert told["left_out"] == {"ignored": 9}
        lines = await result(hf, "grep", pattern="x")
        assert [one["path"] for one in lines["matches"]] == ["sub/y", "y/build"]
        assert lines["left_out"] == {"ignored": 9, "binary": 1}
        everything = ["sub/.venv/", "sub/.venv/x", "sub/__pycache__/", "sub/__pycache__/x"]
        everything += ["sub/a.log", "sub/b.bin", "sub/build/", "sub/build/x", "sub/y"]
        assert found(await result(hf, "glob", pattern="**", path="sub")) == everything
        assert found(await result(hf, "glob", pattern="node_modules/**")) == ["node_modules/x"]
        assert found(await result(hf, "glob", pattern="sub/build/**")) == ["sub/build/x"]
        assert ".git/" in found(await result(hf, "glob", pattern="*"))
        assert found(await result(hf, "glob", pattern="*/x")) == [
            ".cache/x",
            ".git/x",
            "dist/x",
            "node_modules/x",
            "target/x",
        ]
        for named in ("node_modules", "target", "sub/a.log"):
            assert (await result(hf, "grep", pattern="x", path=named))["left_out"] == {}
            assert len((await result(hf, "grep", pattern="x", path=named))["matches"]) == 1
    async with opened(workspace, "managed") as hf:
        told = await result(hf, "glob", pattern="**", kind="file")
        assert told["total"] == 13
        assert told["left_out"] == {}
        lines = await result(hf, "grep", pattern="x")
        assert len(lines["matches"]) == 11
        assert lines["left_out"] == {"binary": 1}


@pytest.mark.req("SPEC-GLOB-09")
async def test_what_cannot_be_read_is_counted(workspace: Path) -> None:
    make(workspace, "shut/x", "open/y", "open/z")
    for path in ("shut", "open/z"):  # also for the super-user: a search has no privileges
        (workspace / path).chmod(0)
    try:
        for profile in ("locked", "managed"):
            async with opened(workspace, profile) as hf:
                told = await result(hf, "glob", pattern="**")
                assert found(told) == ["open/", "open/y", "open/z", "shut/"]
                assert told["left_out"] == {"unreadable": 1}
                lines = await result(hf, "grep", pattern="x")
                assert [one["path"] for one in lines["matches"]] == ["open/y"]
                assert lines["left_out"] == {"unreadable": 2}
    finally:
        (workspace / "shut").chmod(0o700)


async def test_below_what_is_no_directory_there_is_nothing(workspace: Path) -> None:
    make(workspace, "file")
    async with opened(workspace, "locked") as hf:
        for pattern in ("file/**", "nowhere/**"):
            told = await result(hf, "glob", pattern=pattern)
            assert (told["entries"], told["left_out"]) == ([], {})


@pytest.mark.req("SPEC-GLOB-08")
async def test_no_link_is_entered(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    make(outside, "secret/x")
    make(workspace, "real/x")
    (workspace / "inner").symlink_to("real")
    (workspace / "outer").symlink_to(outside)
    (workspace / "file").symlink_to("real/x")
    async with opened(workspace, "locked") as hf:
        assert found(await result(hf, "glob", pattern="**")) == ["real/", "real/x"]
        for pattern in (
            "inner/*",
            "outer/*",
            "outer/**",
            "inner/**/x",
            "o*/*/x",
            "outer/secret/**",
        ):
            assert found(await result(hf, "glob", pattern=pattern)) == []
        kinds = {
            one["path"]: one["kind"] for one in (await result(hf, "glob", pattern="*"))["entries"]
        }
        assert kinds == {"real": "directory", "inner": "link", "outer": "link", "file": "link"}


async def test_a_name_that_is_no_text_is_counted(workspace: Path) -> None:
    try:
        os.close(os.open(os.fsencode(workspace) + b"/\xff", os.O_CREAT | os.O_WRONLY))
    except OSError:
        pytest.skip("this file system takes no such name")
    async with opened(workspace, "locked") as hf:
        for pattern in ("*", "**"):
            told = await result(hf, "glob", pattern=pattern)
            assert (told["entries"], told["left_out"]) == ([], {"unreadable": 1})


async def test_a_replaced_workspace_is_seen_as_it_is(workspace: Path) -> None:
    make(workspace, "old")
    async with opened(workspace, "locked") as hf:
        assert found(await result(hf, "glob", pattern="**")) == ["old"]
        workspace.rename(workspace.with_name("moved"))
        make(workspace, "new")
        assert found(await result(hf, "glob", pattern="**")) == ["new"]


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../../b"])
async def test_what_is_no_pattern_is_refused(workspace: Path, pattern: str) -> None:
    async with opened(workspace, "locked") as hf:
        refused = await failure(hf, "glob", pattern=pattern)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "pattern")


NAME = st.sampled_from(["a", "b", "ab", ".a", "a.b", "[a]"])
PATHS = st.lists(st.lists(NAME, min_size=1, max_size=4).map("/".join), max_size=8)
SEGMENT = st.sampled_from(["**", "*", "a", "a*", "*b", "?", ".*", "[a]", "*.?"])


@pytest.mark.parametrize("counted", [True, False])
@given(
    files=PATHS,
    folders=PATHS,
    segments=st.lists(SEGMENT, min_size=1, max_size=4),
    kind=st.sampled_from([None, "file", "directory"]),
)
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_it_finds_what_a_walk_finds(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    counted: bool,
    files: list[str],
    folders: list[str],
    segments: list[str],
    kind: str | None,
) -> None:
    """Also on a file system that does not count the directories in a directory."""
    if not counted:
        monkeypatch.setattr(directories, "_UNCOUNTED", 10**6)
    workspace = tmp_path_factory.mktemp("tree")
    for path in (*files, *(f"{folder}/" for folder in folders)):
        try:
            make(workspace, path)
        except OSError:
            continue  # a file is where a directory would be, or the other way round
    wanted = [
        str(one.relative_to(workspace)) + "/" * one.is_dir()
        for one in sorted(workspace.rglob("*"), key=lambda one: str(one.relative_to(workspace)))
        if fits(one.relative_to(workspace).parts, segments)
        and kind in (None, "directory" if one.is_dir() else "file")
    ]
    async with opened(workspace, "managed") as hf:
        extra = {} if kind is None else {"kind": kind}
        assert found(await result(hf, "glob", pattern="/".join(segments), **extra)) == wanted


def fits(names: tuple[str, ...], segments: list[str]) -> bool:
    if not segments:
        return not names
    if segments[0] == "**":
        rest = segments[1:]
        return any(fits(names[at:], rest) for at in range(len(names) + 1)) if rest else bool(names)
    return bool(names) and name_fits(names[0], segments[0]) and fits(names[1:], segments[1:])


def name_fits(name: str, wanted: str) -> bool:
    if not wanted:
        return not name
    if wanted[0] == "*":
        return any(name_fits(name[at:], wanted[1:]) for at in range(len(name) + 1))
    return bool(name) and wanted[0] in ("?", name[0]) and name_fits(name[1:], wanted[1:])
