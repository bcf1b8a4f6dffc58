"""Only the files a session keeps are listed and read, whatever names and links there are."""

import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution import session_outputs
from holdfast.execution.session_outputs import KeptFile, SessionOutputs

SESSION = "ses_1"


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    own = tmp_path / "sessions" / SESSION
    (own / "artifacts" / "deep").mkdir(parents=True)
    (own / "outputs").mkdir()
    (own / "jobs").mkdir()
    (own / "artifacts" / "a.txt").write_bytes(b"one")
    (own / "artifacts" / "deep" / "b.txt").write_bytes(b"two")
    (own / "outputs" / "c").write_bytes(b"three")
    (own / "jobs" / "d").write_bytes(b"not for others")
    (tmp_path / "secret").write_bytes(b"secret")
    return tmp_path / "sessions"


def test_all_files_are_listed_and_can_be_read(sessions: Path) -> None:
    outputs = SessionOutputs(sessions, SESSION)
    assert outputs.all() == (
        KeptFile("artifacts", "a.txt", 3),
        KeptFile("artifacts", "deep/b.txt", 3),
        KeptFile("outputs", "c", 5),
    )
    assert outputs.read("artifacts", "deep/b.txt", 3) == b"two"
    assert outputs.read("outputs", "c", 100) == b"three"
    with pytest.raises(ValueError, match="more than 4 bytes"):
        outputs.read("outputs", "c", 4)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "deep",
        "missing",
        "a.txt/x",
        "../jobs/d",
        "../../../secret",
        "/etc/passwd",
        "deep//b.txt",
        "deep/./b.txt",
        "a.txt\0",
    ],
)
def test_no_other_file_is_read(sessions: Path, name: str) -> None:
    assert SessionOutputs(sessions, SESSION).read("artifacts", name, 100) is None


@given(st.text(st.sampled_from("./ab"), max_size=12))
def test_no_name_leads_out(name: str) -> None:
    with TemporaryDirectory() as folder:
        own = Path(folder, SESSION, "artifacts")
        own.mkdir(parents=True)
        (own / "a").write_bytes(b"inside")
        for above in (own.parent, own.parent.parent):
            (above / "a").write_bytes(b"outside")
            (above / "b").write_bytes(b"outside")
        found = SessionOutputs(Path(folder), SESSION).read("artifacts", name, 100)
        assert found == (b"inside" if name == "a" else None)


def test_links_and_special_files_are_nothing(sessions: Path) -> None:
    own = sessions / SESSION / "artifacts"
    (own / "link").symlink_to(sessions.parent / "secret")
    (own / "folder").symlink_to(sessions.parent)
    os.mkfifo(own / "pipe")
    outputs = SessionOutputs(sessions, SESSION)
    assert [one.name for one in outputs.all()] == ["a.txt", "deep/b.txt", "c"]
    for name in ("link", "folder/secret", "pipe"):
        assert outputs.read("artifacts", name, 100) is None


def test_a_folder_that_is_a_link_is_none(sessions: Path) -> None:
    (sessions / "ses_2").symlink_to(sessions / SESSION)
    outputs = SessionOutputs(sessions, "ses_2")
    assert outputs.all() == ()
    assert outputs.read("artifacts", "a.txt", 100) is None
    assert SessionOutputs(sessions, "ses_3").all() == ()


def test_a_file_that_goes_away_is_not_listed(
    sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_path: Path) -> os.stat_result:
        raise FileNotFoundError(errno.ENOENT, "gone")

    outputs = SessionOutputs(sessions, SESSION)
    monkeypatch.setattr(Path, "lstat", gone)
    assert outputs.all() == ()


def test_a_path_of_the_host_is_one_of_them_or_not(sessions: Path) -> None:
    outputs = SessionOutputs(sessions, SESSION)
    own = sessions / SESSION
    assert outputs.named(str(own / "outputs" / "c")) == ("outputs", "c")
    assert outputs.named(str(own / "artifacts" / "deep" / "b.txt")) == ("artifacts", "deep/b.txt")
    assert outputs.named(str(own / "jobs" / "d")) is None
    assert outputs.named(str(sessions / "ses_2" / "outputs" / "c")) is None


def test_a_list_has_a_bound(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_outputs, "MOST_FILES", 2)
    assert len(SessionOutputs(sessions, SESSION).all()) == 2
