"""Files that show a session to its own hand: whole, its owner's alone, and never through a link."""

import logging
from pathlib import Path

import pytest

from holdfast.runtime.managed.artifact_folder import ArtifactFolder

pytestmark = pytest.mark.anyio


def _folder(workspace: Path) -> ArtifactFolder:
    names = (".holdfast-runtime", "ses_1")
    return ArtifactFolder(workspace, names, lambda text: text.replace("hunter2", "***"))


@pytest.mark.req("BOA-ART-01")
async def test_files_lie_in_a_folder_of_the_session_that_git_ignores(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    assert folder.path == tmp_path / ".holdfast-runtime" / "ses_1"
    await folder.show_json("outcome.json", {"b": 1, "a": "hunter2"})
    file = folder.path / "outcome.json"
    assert file.read_text("utf-8") == '{"a":"***","b":1}\n'
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".holdfast-runtime" / ".gitignore").read_text("utf-8") == "*\n"
    assert folder.paths("outcome") == (str(file),)


async def test_what_says_the_same_is_left_alone_unless_somebody_changed_it(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    file = folder.path / "a.json"
    await folder.show({"a.json": "one"})
    first = file.stat()
    await folder.show({"a.json": "one"})
    assert file.stat().st_ino == first.st_ino
    assert file.stat().st_mtime_ns == first.st_mtime_ns
    await folder.show({"a.json": "two"})
    assert file.read_text("utf-8") == "two"
    file.write_text("forged", "utf-8")
    await folder.show({"a.json": "two"})
    assert file.read_text("utf-8") == "two"
    file.unlink()
    await folder.show_text("a.json", "two")
    assert file.read_text("utf-8") == "two"


async def test_a_link_in_the_way_is_replaced_or_refused_and_never_followed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    workspace, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    workspace.mkdir()
    elsewhere.mkdir()
    folder = _folder(workspace)
    await folder.show_text("a.md", "one")
    target = elsewhere / "target"
    target.write_text("mine", "utf-8")
    (folder.path / "b.md").symlink_to(target)
    await folder.show_text("b.md", "two")
    assert target.read_text("utf-8") == "mine"
    assert not (folder.path / "b.md").is_symlink()
    for file in tuple(folder.path.iterdir()):
        file.unlink()
    folder.path.rmdir()
    folder.path.symlink_to(elsewhere)
    with caplog.at_level(logging.WARNING, "holdfast"):
        await folder.show_text("c.md", "three")
    assert [one.name for one in elsewhere.iterdir()] == ["target"]
    assert "is not shown" in caplog.text


async def test_what_cannot_be_written_is_told_once_and_stops_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = _folder(tmp_path)
    await folder.show_text("z.md", "first")
    (folder.path / "a.md").mkdir()
    with caplog.at_level(logging.WARNING, "holdfast"):
        await folder.show({"a.md": "one", "outcome.json": "{}"})
        await folder.show({"a.md": "one"})
    assert len(caplog.records) == 1
    assert (folder.path / "outcome.json").read_text("utf-8") == "{}"
    assert folder.has_shown("outcome")
    assert not folder.has_shown("vaults")
    (folder.path / "a.md").rmdir()
    await folder.show({"a.md": "one"})
    assert (folder.path / "a.md").read_text("utf-8") == "one"
