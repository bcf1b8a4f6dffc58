"""`sandbox_search_files`: files by name, each path ready for the next call."""

from pathlib import Path

import pytest
from tool_kit import failure, opened, result

from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio


async def test_a_file_is_found_by_a_part_of_its_name(workspace: Path) -> None:
    for path in ("out/report.csv", "out/deep/Report-2.csv", "notes.txt", "report/x"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("x")
    async with opened(workspace, "host") as hf:
        told = await result(hf, "sandbox_search_files", query="eport")
        assert told == {
            "kind": "search",
            "query": "eport",
            "entries": [
                {"name": "Report-2.csv", "path": "out/deep/Report-2.csv", "type": "file"},
                {"name": "report.csv", "path": "out/report.csv", "type": "file"},
            ],
            "match_count": 2,
            "truncated": False,
        }
        for entry in told["entries"]:
            assert (workspace / entry["path"]).read_text() == "x"
        whole = await result(hf, "sandbox_search_files", query="*.csv", path="out", limit=1)
        assert (whole["match_count"], whole["truncated"]) == (1, True)
        assert (await result(hf, "sandbox_search_files", query="?.txt"))["entries"] == []


@pytest.mark.parametrize("query", ["", "a/b", "../x", "/etc"])
async def test_a_name_is_no_path(workspace: Path, query: str) -> None:
    async with opened(workspace, "host") as hf:
        refused = await failure(hf, "sandbox_search_files", query=query)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "query")
