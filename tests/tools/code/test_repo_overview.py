"""`repo_overview`: what a repository consists of, bounded, and honest about the rest."""

from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import failure, opened, result

from holdfast.contract.failure import FailureKind
from holdfast.contract.runtime import Progress
from holdfast.runtime.abort import Abort
from holdfast.tools.code.overview_tree import MOST_LINES, Folder, tree_of

pytestmark = pytest.mark.anyio
OVERVIEW = import_module("holdfast.tools.code.repo_overview")  # the tool bears its name


def fill(workspace: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        place = workspace / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


@pytest.mark.req("SPEC-EXT-02")
async def test_the_tree_and_the_languages_of_a_repository(workspace: Path) -> None:
    fill(
        workspace,
        {
            "README.md": "# hi\n",
            "pyproject.toml": "",
            "src/app/__main__.py": "print()\n",
            "src/app/core.py": "x = 1\n",
            "src/web/index.ts": "let a\n",
            "src/web/logo.png": "1234",
            "node_modules/x/y.js": "a",
            ".git/config": "x",
            "out.log": "12345",
            ".gitignore": "*.log\n",
        },
    )
    (workspace / "link").symlink_to("README.md")
    async with opened(workspace, "code") as hf:
        tool = next(one for one in hf.tools if one.name == "repo_overview")
        assert (tool.read_only, tool.acp_kind) == (True, "search")
        found = await result(hf, "repo_overview", depth=2)
        assert found["tree"].split("\n") == [
            "src/",
            "  app/ (2 files)",
            "  web/ (2 files)",
            ".gitignore",
            "README.md",
            "pyproject.toml",
        ]
        assert found["languages"] == [
            {"name": "Python", "files": 2, "bytes": 14},
            {"name": "Other", "files": 1, "bytes": 6},
            {"name": "TypeScript", "files": 1, "bytes": 6},
            {"name": "Markdown", "files": 1, "bytes": 5},
            {"name": "TOML", "files": 1, "bytes": 0},
        ]
        assert found["markers"] == [
            {"path": "README.md", "kind": "readme"},
            {"path": "pyproject.toml", "kind": "build"},
            {"path": "src/app/__main__.py", "kind": "entry_point"},
            {"path": "src/web/index.ts", "kind": "entry_point"},
        ]
        assert found["skipped"] == {
            "ignored": 1,
            "not_source": 2,
            "binary": 1,
            "links": 1,
            "unreadable": 0,
            "over_limit": 0,
            "too_deep": 4,
        }
        counts = {name: found[name] for name in ("file_count", "directory_count", "byte_count")}
        assert counts == {"file_count": 7, "directory_count": 3, "byte_count": 35}
        assert found["complete"] is True


async def test_it_begins_where_it_is_told(workspace: Path) -> None:
    fill(workspace, {"src/a/b.py": "x", "src/.gitignore": "c.py\n", "src/a/c.py": "x", "d.py": ""})
    async with opened(workspace, "code") as hf:
        found = await result(hf, "repo_overview", path="src", depth=5)
        assert found["tree"].split("\n") == ["a/", "  b.py", ".gitignore"]
        assert found["skipped"]["ignored"] == 1


async def test_what_is_over_the_limit_is_said(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(workspace, {f"d{folder}/f{name}.py": "" for folder in range(5) for name in range(10)})
    monkeypatch.setattr(OVERVIEW, "MOST_ENTRIES", 20)
    async with opened(workspace, "code") as hf:
        found = await result(hf, "repo_overview")
        assert (found["complete"], found["directory_count"], found["file_count"]) == (False, 5, 15)
        # Five entries of a directory that was begun, and three directories.
        assert found["skipped"]["over_limit"] == 8


async def test_progress_is_told_and_an_interrupt_ends_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OVERVIEW, "_PROGRESS_EVERY", 10)
    fill(workspace, {f"f{name}.py": "" for name in range(200)})
    abort = Abort()
    heard: list[Progress] = []

    def hear(progress: Progress) -> None:
        heard.append(progress)
        abort.set()

    async with opened(workspace, "code", progress=hear) as hf:
        with anyio.fail_after(10):
            envelope = await hf.settle("repo_overview", {}, abort=abort)
        assert envelope.failure is not None
        assert [one.done for one in heard] == [10]


MANY_RULES = "\n".join(f"no{number}" for number in range(1_000))


async def test_the_time_is_looked_at_between_two_rules(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the clock takes a second; the entries alone would take a few."""
    fill(workspace, {".gitignore": MANY_RULES, "a/b/c/d.py": ""})
    monkeypatch.setattr(OVERVIEW, "monotonic", count().__next__)
    monkeypatch.setattr(OVERVIEW, "MOST_SECONDS", 100)
    async with opened(workspace, "code") as hf:
        found = await result(hf, "repo_overview")
    assert (found["complete"], found["skipped"]["over_limit"]) == (False, 2)
    assert (found["file_count"], found["directory_count"]) == (0, 0)


async def test_an_interrupt_is_heard_between_two_rules(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(workspace, {"x/.gitignore": MANY_RULES, "x/y": ""})
    abort = Abort()
    asked = count()

    def counted() -> float:
        if next(asked) == 100:
            abort.set()
        return 0.0

    monkeypatch.setattr(OVERVIEW, "monotonic", counted)
    async with opened(workspace, "code") as hf:
        envelope = await hf.settle("repo_overview", {}, abort=abort)
        assert envelope.failure is not None
    assert next(asked) == 101


async def test_so_many_rules_are_kept_and_no_more(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(
        workspace,
        {f"{name}/{file}": "*.log\n" for name in "ab" for file in (".gitignore", "x.log")},
    )
    monkeypatch.setattr(OVERVIEW, "_MOST_RULES", 1)
    async with opened(workspace, "code") as hf:
        found = await result(hf, "repo_overview")
    assert (found["skipped"]["ignored"], found["skipped"]["over_limit"]) == (1, 1)


async def test_what_is_no_directory_is_told(workspace: Path) -> None:
    (workspace / "file").write_text("", encoding="utf-8")
    async with opened(workspace, "code") as hf:
        for path in ("none", "file"):
            assert (await failure(hf, "repo_overview", path=path)).kind in (
                FailureKind.NOT_FOUND,
                FailureKind.EXECUTION_ERROR,
                FailureKind.INVALID_ARGS,
            )
        assert (await failure(hf, "repo_overview", path="..")).kind == FailureKind.REJECTED
        assert (await failure(hf, "repo_overview", depth=0)).field == "depth"


folders = st.recursive(
    st.dictionaries(st.text(max_size=5), st.none(), max_size=60),
    lambda inner: st.dictionaries(st.text(max_size=5), st.none() | inner, max_size=6),
    max_leaves=20,
)


@given(folders, st.integers(1, 8))
def test_no_tree_is_too_large_and_every_name_is_one_line(content: Any, depth: int) -> None:
    def build(folder: Folder, inside: dict[str, Any]) -> int:
        for name, below in inside.items():
            if below is None:
                folder.file(name)
            else:
                build(folder.add(name), below)
        return folder.files

    top = Folder("")
    build(top, content)
    shown = tree_of(top, depth)
    lines = shown.text.split("\n")
    assert len(lines) <= MOST_LINES + 1
    assert all(line.isprintable() for line in lines)
    assert 0 <= shown.too_deep <= top.files + top.directories
    assert shown == tree_of(top, depth)
