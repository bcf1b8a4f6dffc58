"""What a call changed in files, as texts: by the record that undo is made from."""

from pathlib import Path

import pytest
from agents_at_work import home_of

from holdfast import Holdfast
from holdfast.app import changed_texts as texts
from holdfast.app.changed_texts import ChangedText, changed_texts

PATCH = """*** Begin Patch
*** Add File: new.txt
+new
*** Delete File: old.txt
*** End Patch"""


async def _changed(home: Path, work: Path, tool: str, **given: object) -> list[ChangedText]:
    """What one call changed."""
    around = home_of(home)
    options = {"profile": "code", "workspace": work, "surroundings": around}
    async with Holdfast(**options) as hf:  # type: ignore[arg-type] - as they are
        envelope = await hf.settle(tool, given)
        assert envelope.ok, envelope
        found = changed_texts(around.data_home, hf.session_id, envelope.call_id or "")
        assert changed_texts(around.data_home, hf.session_id, "cal_other") == ()
        return sorted(found, key=lambda one: one.path)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "old.txt").write_text("old\n", "utf-8")
    return folder


async def test_a_file_that_was_there_has_both_texts(tmp_path: Path, work: Path) -> None:
    (found,) = await _changed(tmp_path, work, "write", path="old.txt", content="new\n")
    assert found == ChangedText(path=str(work / "old.txt"), before="old\n", after="new\n")


async def test_files_that_come_and_go_lack_one(tmp_path: Path, work: Path) -> None:
    found = await _changed(tmp_path, work, "apply_patch", patch=PATCH)
    assert [(Path(one.path).name, one.before, one.after) for one in found] == [
        ("new.txt", None, "new\n"),
        ("old.txt", "old\n", None),
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * (texts.MOST_BYTES + 1)])
async def test_what_is_no_text_or_too_large_is_left_out(
    tmp_path: Path, work: Path, content: bytes
) -> None:
    (work / "old.txt").write_bytes(content)
    assert await _changed(tmp_path, work, "write", path="old.txt", content="new\n") == []


async def test_what_became_too_large_is_left_out(tmp_path: Path, work: Path) -> None:
    large = "x" * (texts.MOST_BYTES + 1)
    assert await _changed(tmp_path, work, "write", path="old.txt", content=large) == []


async def test_folders_are_no_texts(tmp_path: Path, work: Path) -> None:
    (found,) = await _changed(tmp_path, work, "write", path="deep/er/new.txt", content="new\n")
    assert found.path == str(work / "deep" / "er" / "new.txt")


def test_a_session_without_a_record_changed_nothing(tmp_path: Path) -> None:
    assert changed_texts(tmp_path, "ses_none", "cal_none") == ()
    folder = tmp_path / "sessions" / "ses_one" / "changes"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "00000001.json").write_text("{", "utf-8")
    assert changed_texts(tmp_path, "ses_one", "cal_none") == ()
