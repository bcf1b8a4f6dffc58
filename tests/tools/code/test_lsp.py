"""`lsp` over a real language server, in the session's sandbox."""

from pathlib import Path
from typing import Any

import pytest
from tool_kit import failure, opened, result

from holdfast.contract.failure import FailureKind

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "shapes.py").write_text(
        'NAME = "😀😀"; area = 1\n\n\ndef square(side: int) -> int:\n    return side * side\n',
        encoding="utf-8",
    )
    (workspace / "use.py").write_text(
        'from shapes import square\n\nprint("😀", square(3), square("x"))\n', encoding="utf-8"
    )
    return workspace


def at(found: dict[str, Any]) -> list[tuple[str, int, int]]:
    return [(one["path"], one["line"], one["column"]) for one in found["results"]]


@pytest.mark.req("SPEC-EXT-04")
async def test_definitions_references_and_diagnostics_come_from_a_language_server(
    project: Path,
) -> None:
    async with opened(project, "code") as hf:
        tool = next(one for one in hf.tools if one.name == "lsp")
        assert tool.read_only
        place = {"path": "use.py", "line": 3, "column": 12}
        defined = await result(hf, "lsp", action="definition", **place)
        assert at(defined) == [("shapes.py", 4, 5)]
        (one,) = defined["results"]
        assert (one["end_line"], one["end_column"]) == (4, 11)
        assert one["text"] == "def square(side: int) -> int:"

        used = await result(hf, "lsp", action="references", **place)
        assert sorted(at(used)) == [
            ("shapes.py", 4, 5),
            ("use.py", 1, 20),
            ("use.py", 3, 12),
            ("use.py", 3, 23),
        ]
        wrong = await result(hf, "lsp", action="diagnostics", path="use.py")
        assert [(one["line"], one["column"], one["severity"]) for one in wrong["results"]] == [
            (3, 30, "error")
        ]
        assert "int" in wrong["results"][0]["message"]


async def test_hover_and_symbols(project: Path) -> None:
    async with opened(project, "code") as hf:
        said = await result(hf, "lsp", action="hover", path="use.py", line=3, column=12)
        assert "side: int" in said["text"]
        here = await result(hf, "lsp", action="symbols", path="shapes.py")
        named = {one["name"]: (one["kind"], one["column"]) for one in here["results"]}
        assert named["square"] == ("function", 5)
        assert named["area"][1] == 14  # behind two characters that UTF-16 counts twice
        found = await result(hf, "lsp", action="symbols", query="squ")
        assert ("shapes.py", 4, 5) in at(found)


async def test_what_changed_on_disk_is_seen_also_in_files_nobody_asked_about(project: Path) -> None:
    async with opened(project, "code") as hf:
        assert (await result(hf, "lsp", action="diagnostics", path="use.py"))["count"] == 1
        (project / "shapes.py").write_text("def circle() -> None: ...\n", encoding="utf-8")
        wrong = await result(hf, "lsp", action="diagnostics", path="use.py")
        assert wrong["results"][0]["code"] == "reportAttributeAccessIssue"
        (project / "use.py").write_text("from shapes import circle\ncircle()\n", encoding="utf-8")
        assert (await result(hf, "lsp", action="diagnostics", path="use.py"))["count"] == 0


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"action": "definition"}, "path"),
        ({"action": "symbols"}, "path"),
        ({"action": "hover", "path": "use.py"}, "line"),
        ({"action": "hover", "path": "use.py", "line": 1}, "column"),
        ({"action": "hover", "path": "use.py", "line": 0, "column": 1}, "line"),
        ({"action": "hover", "path": "use.py", "line": 9, "column": 1}, "line"),
        ({"action": "hover", "path": "use.py", "line": 1, "column": 99}, "column"),
        ({"action": "rename", "path": "use.py"}, "action"),
    ],
)
async def test_what_is_missing_or_nowhere_is_named(
    project: Path, sent: dict[str, Any], field: str
) -> None:
    async with opened(project, "code") as hf:
        refused = await failure(hf, "lsp", **sent)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)


async def test_a_file_out_of_reach_is_shown_to_no_server(project: Path) -> None:
    async with opened(project, "code") as hf:
        refused = await failure(hf, "lsp", action="diagnostics", path="../other.py")
        assert refused.kind == FailureKind.REJECTED
        missing = await failure(hf, "lsp", action="diagnostics", path="none.py")
        assert missing.kind == FailureKind.NOT_FOUND
        assert hf.commands.all() == ()
