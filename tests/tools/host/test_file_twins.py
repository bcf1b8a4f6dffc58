"""The host profile's file tools: the same abilities under the names and shapes it has."""

from pathlib import Path

import pytest
from tool_kit import answer, failure, opened, result

from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio


@pytest.mark.req("OSA-HST-02")
async def test_a_file_is_written_below_the_home(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        for path in ("out/a.txt", str(workspace.resolve() / "out/a.txt")):
            assert await result(hf, "sandbox_write_file", path=path, content="é\n") == {
                "path": str(workspace.resolve() / "out" / "a.txt"),
                "size": 3,
            }
        assert (workspace / "out/a.txt").read_text() == "é\n"
        envelope = await answer(hf, "sandbox_write_file", path="b", content="geheim")
        assert "geheim" not in envelope.result_json.decode()
        assert (await result(hf, "sandbox_write_file", path="b", content=""))["size"] == 0


@pytest.mark.parametrize(
    ("path", "reason", "said"),
    [
        ("../x", "traversal", "path traversal (`..`) is not allowed"),
        ("a..b", "traversal", "path traversal (`..`) is not allowed"),
        ("a;b", "dangerous_char", "the path contains the dangerous character `;`"),
        ("/etc/x", "outside_roots", "the path is outside the allowed roots"),
        ("", "empty", "the path is empty"),
    ],
)
@pytest.mark.req("OSA-PTH-09")
async def test_a_path_that_cannot_be_meant_is_told_before_policy(
    workspace: Path, path: str, reason: str, said: str
) -> None:
    async with opened(workspace, "host") as hf:
        refused = await failure(hf, "sandbox_write_file", path=path, content="x")
    assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "path")
    assert refused.message.startswith(f"Argument `path` rejected: {said}")
    assert refused.message.endswith(f"Got `{path}`.")
    assert refused.extras["reason"] == reason
    assert list(workspace.iterdir()) == []


async def test_what_lies_behind_a_link_is_still_judged(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    async with opened(workspace, "host") as hf:
        refused = await failure(hf, "sandbox_write_file", path="link/x", content="x")
        assert refused.kind == FailureKind.REJECTED
    assert list(outside.iterdir()) == []


async def test_reading_has_no_guard_of_its_own(workspace: Path) -> None:
    (workspace / "a..b (1).txt").write_text("x")
    async with opened(workspace, "host") as hf:
        for name in ("file_read", "sandbox_read_file"):
            assert (await result(hf, name, path="a..b (1).txt"))["text"] == "x"
            assert (await failure(hf, name, path="../x")).kind == FailureKind.REJECTED
