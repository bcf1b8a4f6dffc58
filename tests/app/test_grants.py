"""A project's remembered answers: kept apart from the workspace, whole or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest
from policy.rules_kit import rule

from holdfast.app.grants import GrantFile
from holdfast.app.problems import ConfigurationError
from holdfast.app.state_file import replace
from holdfast.testing.fakes import FakeGrants
from holdfast.testing.kits import check_grants

GRANT = rule("bash", "make", "allow", "project", remembered=True, source="answer of ada")


def test_a_grant_is_there_for_the_next_session_of_the_project(tmp_path: Path) -> None:
    first = GrantFile(tmp_path / "state", tmp_path / "one", tmp_path / "one")
    assert first.load() == ()
    first.add([GRANT])
    first.add([rule("bash", "ls", "allow", "project", remembered=True)])
    again = GrantFile(tmp_path / "state", tmp_path / "one", tmp_path / "one")
    assert [one.pattern for one in again.load()] == ["make", "ls"]
    assert again.load()[0] == GRANT
    two, namesake = tmp_path / "two", tmp_path / "elsewhere" / "one"
    assert GrantFile(tmp_path / "state", two, two).load() == ()
    assert GrantFile(tmp_path / "state", namesake, namesake).load() == ()


def test_file_and_fake_keep_grants_alike(tmp_path: Path) -> None:
    check_grants(lambda: GrantFile(tmp_path / "state", tmp_path, tmp_path))
    fake = FakeGrants()
    check_grants(lambda: fake)
    with pytest.raises(AssertionError, match="not make and then ls"):
        check_grants(FakeGrants)


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    grants = GrantFile(tmp_path / "state", tmp_path, tmp_path)
    grants.add([GRANT])
    assert grants.path.stat().st_mode & 0o777 == 0o600
    for folder in (grants.path.parent, grants.path.parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in grants.path.parent.glob("*.json")] == [grants.path.name]


def test_whatever_stands_in_the_file_is_a_grant_and_no_hand_written_rule(tmp_path: Path) -> None:
    grants = GrantFile(tmp_path / "state", tmp_path, tmp_path)
    grants.add([rule("bash", "make", "allow", "project")])
    assert grants.load()[0].remembered


@pytest.mark.parametrize("spoilt", [b"{oops", b"[1]", b'[{"permission": "x"}]', b"\xff"])
def test_a_spoilt_file_is_an_error_and_is_not_overwritten(tmp_path: Path, spoilt: bytes) -> None:
    grants = GrantFile(tmp_path / "state", tmp_path, tmp_path)
    grants.add([GRANT])
    grants.path.write_bytes(spoilt)
    with pytest.raises(ConfigurationError, match="remove it to forget them"):
        grants.load()
    with pytest.raises(ConfigurationError):
        grants.add([GRANT])
    assert grants.path.read_bytes() == spoilt


def test_a_place_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    grants = GrantFile(tmp_path / "file" / "state", tmp_path, tmp_path)
    assert grants.load() == ()
    with pytest.raises(OSError, match="Not a directory"):
        grants.add([GRANT])


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    grants = GrantFile(tmp_path / "state", tmp_path, tmp_path)
    grants.path.parent.mkdir(parents=True)
    target = tmp_path / "elsewhere"
    grants.path.with_name(f".{grants.path.name}.lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        grants.add([GRANT])
    assert not target.exists()


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace(tmp_path / "folder", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


ADDING = """
import sys
from pathlib import Path
from holdfast.app.grants import GrantFile
from holdfast.contract.rules import Rule

state, project, name = sys.argv[1:]
for number in range(10):
    grant = Rule(permission="bash", pattern=f"{name}{number}", scope="project", source="test")
    GrantFile(Path(state), Path(project), Path(project)).add([grant])
"""


def test_processes_that_remember_at_once_lose_nothing(tmp_path: Path) -> None:
    state, project = tmp_path / "state", tmp_path
    workers = [
        subprocess.Popen([sys.executable, "-c", ADDING, str(state), str(project), name])
        for name in "abc"
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    kept = {one.pattern for one in GrantFile(state, project, project).load()}
    assert kept == {f"{name}{number}" for name in "abc" for number in range(10)}
