"""What trust is bound to: every byte, under the name of its own file, and nothing elsewhere."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.problems import ConfigurationError
from holdfast.app.project_folder import MAX_BYTES, MAX_FILES, read_project
from holdfast.app.trust import TrustFile

Content = dict[str, bytes]
NOT_EXECUTABLE = bytes([False])


def long(number: int) -> bytes:
    return number.to_bytes(8, "big")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / ".holdfast").mkdir(parents=True)
    return made


def fill(project: Path, content: Content) -> None:
    folder = project / ".holdfast"
    for path in folder.iterdir():
        path.unlink()
    for name, data in content.items():
        (folder / name).write_bytes(data)


def fingerprint(project: Path) -> str | None:
    found = read_project(project)
    return None if found is None else found.fingerprint


def trusted(trust: TrustFile, project: Path) -> bool:
    seen = read_project(project)
    assert seen is not None
    trust.trust(project, seen)
    return trust.trusts(project)


@pytest.mark.parametrize(
    ("seen", "later"),
    [
        pytest.param({"a": b"bc"}, {"ab": b"c"}, id="from the content into the name"),
        pytest.param({"ab": b"c"}, {"a": b"bc"}, id="from the name into the content"),
        pytest.param({"a": b"xy", "b": b""}, {"a": b"x", "b": b"y"}, id="into the next file"),
        pytest.param({"a": b"x", "b": b"y"}, {"a": b"xby"}, id="two files become one"),
        pytest.param({"a": b"x", "b": b"y"}, {"a": b"y", "b": b"x"}, id="exchanged"),
        pytest.param(
            {"a": b"x", "b": b"y"},
            {"a": b"x" + long(1) + b"b" + b"y"},
            id="a second file written out inside of the first",
        ),
        pytest.param(
            {"a": b"x", "b": b"y"},
            {"a": b"x" + long(1) + b"b" + long(1) + b"y"},
            id="the same with the length of its content",
        ),
        pytest.param(
            {"a": b"x", "b": b"y"},
            {"a": b"x" + NOT_EXECUTABLE + long(1) + b"b" + b"y"},
            id="the same with the first one's mode",
        ),
        pytest.param({"a": b"", "b": b""}, {"a": b""}, id="an empty file is gone"),
    ],
)
def test_bytes_that_move_are_a_change(project: Path, seen: Content, later: Content) -> None:
    trust = TrustFile(project.parent / "state")
    fill(project, seen)
    assert trusted(trust, project)
    fill(project, later)
    assert not trust.trusts(project)
    fill(project, seen)
    assert trust.trusts(project)


names = st.text(alphabet="ab", min_size=1, max_size=3)
contents = st.dictionaries(names, st.binary(max_size=3).map(bytes), min_size=1, max_size=3)


@given(contents, contents)
def test_the_same_fingerprint_is_the_same_content(
    tmp_path_factory: pytest.TempPathFactory, one: Content, other: Content
) -> None:
    project = tmp_path_factory.mktemp("project")
    (project / ".holdfast").mkdir()
    fill(project, one)
    first = fingerprint(project)
    fill(project, other)
    assert (first == fingerprint(project)) is (one == other)


def test_the_order_in_which_files_were_made_does_not_matter(project: Path) -> None:
    names = [f"{number}.toml" for number in range(40)]
    fill(project, dict.fromkeys(names, b"x"))
    seen = fingerprint(project)
    fill(project, dict.fromkeys(reversed(names), b"x"))
    assert fingerprint(project) == seen


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("name", ["link", "__pycache__"])
def test_a_link_to_a_directory_cannot_be_trusted(
    project: Path, tmp_path: Path, name: str, *, inside: bool
) -> None:
    folder = project / ".holdfast"
    fill(project, {"config.toml": b""})
    trust = TrustFile(tmp_path / "state")
    assert trusted(trust, project)
    elsewhere = (folder if inside else tmp_path) / "code"
    elsewhere.mkdir()
    assert trust.trusts(project)
    (folder / name).symlink_to(elsewhere)
    assert not trust.trusts(project)
    with pytest.raises(ConfigurationError, match="a link or special file cannot be trusted"):
        fingerprint(project)


def test_a_folder_is_trusted_up_to_a_number_of_bytes_in_all(project: Path) -> None:
    fill(project, {"b": b""})
    with (project / ".holdfast" / "a").open("wb") as sparse:
        sparse.truncate(MAX_BYTES)
    assert fingerprint(project) is not None
    (project / ".holdfast" / "b").write_bytes(b"x")
    with pytest.raises(ConfigurationError, match="too much to trust"):
        fingerprint(project)


def test_a_folder_is_trusted_up_to_a_number_of_files(project: Path) -> None:
    fill(project, {str(number): b"" for number in range(MAX_FILES)})
    assert fingerprint(project) is not None
    (project / ".holdfast" / "more").touch()
    with pytest.raises(ConfigurationError, match="too many to be trusted"):
        fingerprint(project)


def test_a_special_file_cannot_be_trusted_and_is_not_waited_for(project: Path) -> None:
    fill(project, {"config.toml": b""})
    os.mkfifo(project / ".holdfast" / "pipe")
    with pytest.raises(ConfigurationError, match="a link or special file cannot be trusted"):
        fingerprint(project)


@contextmanager
def nobody_special() -> Generator[None]:
    """Root may read everything: be somebody else for a while."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize("hidden", ["file", "folder"])
def test_what_cannot_be_read_cannot_be_trusted(hidden: str) -> None:
    with TemporaryDirectory() as made:
        project = Path(made)
        project.chmod(0o755)
        (project / ".holdfast").mkdir(mode=0o755)
        fill(project, {"config.toml": b""})
        path = project / ".holdfast" / "hidden"
        path.touch() if hidden == "file" else path.mkdir()
        path.chmod(0)
        with nobody_special(), pytest.raises(ConfigurationError, match="it cannot be read"):
            fingerprint(project)


def test_what_has_nothing_to_trust_is_not_trusted(project: Path, tmp_path: Path) -> None:
    trust = TrustFile(tmp_path / "state")
    assert not trust.trusts(tmp_path)
    assert not trust.trusts(project)
    fill(project, {"config.toml": b""})
    assert trusted(trust, project)
    fill(project, {})
    assert not trust.trusts(project)
    (project / ".holdfast").rmdir()
    assert not trust.trusts(project)


def test_each_project_is_trusted_and_forgotten_by_itself(tmp_path: Path) -> None:
    trust = TrustFile(tmp_path / "state")
    one, other = tmp_path / "a" / "same", tmp_path / "b" / "same"
    for project in (one, other):
        (project / ".holdfast").mkdir(parents=True)
        fill(project, {"config.toml": b""})
    assert trusted(trust, one)
    assert not trust.trusts(other)
    assert trusted(trust, other)
    assert trust.trusts(one)
    assert trust.forget(other)
    assert (trust.trusts(one), trust.trusts(other)) == (True, False)


def test_trust_changes_only_under_a_lock_that_is_no_link(project: Path, tmp_path: Path) -> None:
    trust = TrustFile(tmp_path / "state")
    fill(project, {"config.toml": b""})
    assert trusted(trust, project)
    (lock,) = trust.path.parent.glob(".*.lock")
    lock.unlink()
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        trusted(trust, project)
    with pytest.raises(OSError, match="symbolic"):
        trust.forget(project)
    copy = trust.kept(project)
    assert copy is not None
    (copy / "config.toml").unlink()
    with pytest.raises(ConfigurationError, match="what you trust cannot be kept"):
        trust.kept(project)
    assert trust.trusts(project)
    assert not (tmp_path / "elsewhere").exists()
