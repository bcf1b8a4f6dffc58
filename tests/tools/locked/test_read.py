"""`read`: text by bytes, by lines or from the end; a directory's entries; text alone."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast import tool
from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import LimitSettings, Settings, Surroundings, ToolLimitSettings
from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio

MOST = 200 * 1024
READERS = [("locked", "read"), ("host", "file_read"), ("host", "sandbox_read_file")]


@pytest.mark.parametrize(("profile", "name"), READERS)
@pytest.mark.req("SPEC-LOCK-05", "SPEC-READ-02", "OSA-FIL-01", "OSA-FIL-05", "BOA-HAND-03")
async def test_a_file_is_told_with_its_lines_and_bytes(
    workspace: Path, profile: str, name: str
) -> None:
    (workspace / "a.txt").write_text("eins\nzwei\ndrei é")
    async with opened(workspace, profile) as hf:
        found = next(one for one in hf.tools if one.name == name)
        assert (found.read_only, found.requires.fs.read, found.requires.fs.write) == (
            True,
            ("**",),
            (),
        )
        assert await result(hf, name, path="a.txt") == {
            "kind": "file",
            "path": "a.txt",
            "text": "eins\nzwei\ndrei é",
            "start_line": 1,
            "end_line": 3,
            "total_line_count": 3,
            "selected_line_count": 3,
            "total_lines_exact": True,
            "truncated": False,
            "newline_count": 2,
            "char_count": 16,
            "bytes_read": 17,
            "file_size": 17,
        }
        part = await result(hf, name, path="a.txt", start_line=2, line_count=1)
        assert (part["text"], part["start_line"], part["end_line"]) == ("zwei\n", 2, 2)
        assert (part["total_line_count"], part["selected_line_count"]) == (3, 1)


@pytest.mark.req("SPEC-READ-01")
async def test_a_part_is_named_by_bytes_or_by_lines(workspace: Path) -> None:
    (workspace / "n").write_text("".join(f"{n}\n" for n in range(1, 10)))

    async def text(**part: int) -> Any:
        found = await result(hf, "read", path="n", **part)
        return found["text"], found["start_line"], found["end_line"]

    async with opened(workspace, "locked") as hf:
        assert await text(offset=2, limit=4) == ("2\n3\n", 2, 3)
        assert await text(offset=15) == ("\n9\n", 8, 9)
        assert await text(limit=3) == ("1\n2", 1, 2)
        assert await text(start_line=8, line_count=9) == ("8\n9\n", 8, 9)
        assert await text(line_count=2) == ("1\n2\n", 1, 2)
        assert await text(tail_lines=2) == ("8\n9\n", 8, 9)
        assert await text(tail_lines=100) == ("".join(f"{n}\n" for n in range(1, 10)), 1, 9)
        past = await result(hf, "read", path="n", start_line=12, line_count=1)
        assert (past["text"], past["selected_line_count"]) == ("", 0)
        assert past["note"] == "There is no line 12: the file has 9."
        wrong = await failure(hf, "read", path="n", start_line=0, line_count=1)
        assert (wrong.kind, wrong.field) == (FailureKind.INVALID_ARGS, "start_line")


@pytest.mark.parametrize(
    "mixed",
    [
        {"offset": 0, "line_count": 1},
        {"limit": 1, "tail_lines": 1},
        {"line_count": 1, "tail_lines": 1},
        {"start_line": 1, "line_count": 1, "tail_lines": 1},
        {"start_line": 1, "tail_lines": 1},
        {"start_line": 1},
    ],
)
@pytest.mark.req("SPEC-READ-03")
async def test_two_kinds_of_range_are_refused(workspace: Path, mixed: dict[str, int]) -> None:
    (workspace / "n").write_text("1\n")
    async with opened(workspace, "locked") as hf:
        assert (await failure(hf, "read", path="n", **mixed)).kind == FailureKind.INVALID_ARGS


@pytest.mark.req("SPEC-READ-04", "SPEC-TRUNC-08", "OSA-FIL-03", "BOA-HAND-02")
async def test_a_large_file_is_read_piece_by_piece(workspace: Path) -> None:
    whole = "zeile é 1234\n" * 40_000
    (workspace / "big").write_text(whole)
    (workspace / "exact").write_text("x" * MOST)
    size = len(whole.encode())
    async with opened(workspace, "locked") as hf:
        first = await answer(hf, "read", path="big")
        assert first.metadata.output_path is None  # no second file: the file itself is there
        head: dict[str, Any] = first.result  # pyright: ignore[reportAssignmentType] - an object
        assert (head["truncated"], head["output_path"]) == (True, "big")
        assert head["bytes_read"] in (MOST, MOST - 1)
        assert "go on with" in head["note"]
        assert f"line {head['end_line']:,}" in head["note"]
        text, offset = head["text"], head["bytes_read"]
        while offset < size:
            part = await result(hf, "read", path="big", offset=offset, limit=150_000)
            assert (part["raw_bytes_truncated"], part["byte_limit"]) == (False, 150_000)
            assert (part["file_size"], part["truncated"]) == (size, False)
            text += part["text"]
            offset += part["bytes_read"]
        assert text == whole
        capped = await result(hf, "read", path="big", offset=1, limit=10 * MOST)
        assert (capped["raw_bytes_truncated"], capped["byte_limit"]) == (True, MOST)
        exact = await result(hf, "read", path="exact")
        assert (exact["truncated"], len(exact["text"])) == (False, MOST)
        outside = await failure(hf, "read", path="/etc/hostname")
        assert outside.kind == FailureKind.REJECTED


async def test_what_an_answer_holds_is_the_hosts_to_set(workspace: Path) -> None:
    (workspace / "n").write_text("123456789\n" * 1000)
    limits = LimitSettings(tool={"read": ToolLimitSettings(max_bytes=5000)})
    settings = Settings(limits=limits, store=UNRECORDED.store)
    async with opened(workspace, "locked", settings=settings) as hf:
        found = await result(hf, "read", path="n")
        assert (found["bytes_read"], found["truncated"], found["end_line"]) == (5000, True, 500)


@pytest.mark.req("SPEC-READ-05")
async def test_only_a_missing_path_is_not_found(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "f").write_text("x")
    async with opened(workspace, "locked") as hf:
        missing = await failure(hf, "read", path="none")
        assert (missing.kind, missing.field) == (FailureKind.NOT_FOUND, "path")
        for code in (errno.EIO, errno.EACCES, errno.EMFILE, errno.ESTALE, errno.ENOMEM):
            monkeypatch.setattr(os, "pread", _failing(code))
            fault = await failure(hf, "read", path="f")
            assert fault.kind == FailureKind.EXECUTION_ERROR
            monkeypatch.undo()


def _failing(code: int) -> Callable[..., bytes]:
    def pread(*_arguments: object) -> bytes:
        raise OSError(code, os.strerror(code))

    return pread


@pytest.mark.parametrize(
    "content", [b"a\0b", b"caf\xe9\n", b"x" * 8000 + b"\0", b"\x89PNG\r\n\x1a\n\0\0"]
)
@pytest.mark.req("SPEC-READ-06")
async def test_only_text_is_read(workspace: Path, content: bytes) -> None:
    (workspace / "b").write_bytes(content)
    async with opened(workspace, "locked") as hf:
        refused = await failure(hf, "read", path="b")
        assert refused.kind == FailureKind.EXECUTION_ERROR
        assert refused.message.startswith(f"b is binary ({len(content):,} bytes)")
        assert "view_image" in str(refused.extras["hint"])


@pytest.mark.req("OSA-FIL-04")
async def test_an_empty_file_is_a_file(workspace: Path) -> None:
    (workspace / "empty").touch()
    async with opened(workspace, "locked") as hf:
        found = await result(hf, "read", path="empty")
        assert (found["kind"], found["path"], found["text"]) == ("file", "empty", "")
        assert (found["total_line_count"], found["selected_line_count"]) == (0, 0)


@pytest.mark.parametrize(("profile", "name"), READERS)
@pytest.mark.req("OSA-LST-03", "OSA-LST-05")
async def test_a_directory_answers_with_paths_to_go_on_with(
    workspace: Path, profile: str, name: str
) -> None:
    (workspace / "d" / "deep" / "deeper").mkdir(parents=True)
    (workspace / "d" / "deep" / "(1) it's.txt").write_text("found")
    (workspace / "d" / "to deep").symlink_to("deep")
    (workspace / "d" / "lost").symlink_to("nowhere")
    async with opened(workspace, profile) as hf:
        top = await result(hf, name, path="d")
        assert (top["kind"], top["path"], top["entry_count"]) == ("listing", "d", 3)
        kinds = {one["name"]: one["type"] for one in top["entries"]}
        assert kinds == {"deep": "directory", "to deep": "directory", "lost": "file"}
        for one in top["entries"][:1]:
            below = await result(hf, name, path=one["path"])
            paths = {entry["name"]: entry["path"] for entry in below["entries"]}
            assert paths.keys() == {"deeper", "(1) it's.txt"}
            assert (await result(hf, name, path=paths["(1) it's.txt"]))["text"] == "found"
            assert (await result(hf, name, path=paths["deeper"]))["entries"] == []
        linked = next(one["path"] for one in top["entries"] if one["name"] == "to deep")
        assert (await result(hf, name, path=linked))["entry_count"] == 2


async def test_a_listing_that_is_cut_says_so(workspace: Path) -> None:
    for number in range(1001):
        (workspace / f"{number:04}").touch()
    async with opened(workspace, "locked") as hf:
        envelope = await answer(hf, "read", path=".")
        found: dict[str, Any] = envelope.result  # pyright: ignore[reportAssignmentType] - an object
        assert (found["entry_count"], found["truncated"]) == (1000, True)
        assert "do not conclude that something is absent" in envelope.warnings[0]


@pytest.mark.req("SPEC-TRUNC-04")
async def test_the_rest_of_an_answer_is_read_where_it_was_kept(workspace: Path) -> None:
    @tool
    def much() -> str:
        """Says much."""
        return "line\n" * 100_000

    home = workspace.parent / "home"
    around = Surroundings(data_home=home / "data", state_home=home / "state")
    async with Holdfast(
        tools=[much],
        profile="locked",
        workspace=workspace,
        settings=UNRECORDED,
        surroundings=around,
    ) as hf:
        kept = (await answer(hf, "much")).metadata.output_path
        assert kept is not None
        assert (await result(hf, "read", path=kept, tail_lines=1))["text"] == "line\n"
        other = workspace.parent / "other"
        other.mkdir()
        async with opened(other, "locked") as stranger:
            assert (await failure(stranger, "read", path=kept)).kind == FailureKind.REJECTED


async def test_a_byte_order_mark_is_no_part_of_the_text(workspace: Path) -> None:
    (workspace / "m").write_bytes(b"\xef\xbb\xbfx\r\n")
    async with opened(workspace, "locked") as hf:
        assert (await result(hf, "read", path="m"))["text"] == "x\r\n"
        await _edit(hf)
    assert (workspace / "m").read_bytes() == b"\xef\xbb\xbfy\r\n"


async def _edit(hf: Holdfast) -> None:
    """What was read can be given back as it is, line ending included."""
    await result(hf, "edit", path="m", old_string="x\r\n", new_string="y\r\n")


async def test_an_offset_past_any_end_reads_nothing(workspace: Path) -> None:
    (workspace / "f").write_text("abc\n", encoding="utf-8")
    async with opened(workspace) as hf:
        for offset in (4, 2**62, 2**63, 2**80):
            found = await result(hf, "read", path="f", offset=offset)
            assert (found["text"], found["bytes_read"]) == ("", 0)
