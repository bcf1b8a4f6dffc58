"""Files that speak for a person: where they are looked for, and who else could write them."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest
from places import Places

from holdfast import Rule
from holdfast.app import state_file
from holdfast.app.configuration import load_configuration
from holdfast.app.grants import GrantFile
from holdfast.app.locations import state_home
from holdfast.app.own_files import check_home, closed_folder, open_to_all
from holdfast.app.problems import ConfigurationError
from holdfast.app.project_folder import read_project
from holdfast.app.trust import TrustFile

RULE = '[[rule]]\npermission = "*"\npattern = "*"\naction = "allow"\n'
GRANT = Rule(permission="sh", pattern="ls", action="allow", scope="project", source="answer of a")


def test_a_home_that_is_not_there_is_an_error_and_not_a_person_without_rules(
    tmp_path: Path,
) -> None:
    for name, said in (("nowhere", "mkdir -p -m 700"), ("file", "it is not a directory")):
        (tmp_path / "file").touch()
        environment = {"HOLDFAST_HOME": str(tmp_path / name)}
        with pytest.raises(ConfigurationError, match=rf"^HOLDFAST_HOME=.*/{name}: .*{said}"):
            load_configuration(tmp_path, environment=environment)
    with pytest.raises(ConfigurationError, match="it cannot be looked at"):
        check_home({"HOLDFAST_HOME": str(tmp_path / "file" / "below")})
    check_home({"HOLDFAST_HOME": str(tmp_path)})
    check_home({"HOLDFAST_HOME": ""})
    check_home({})


@pytest.mark.parametrize("name", ["config.toml", "policy.toml"])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_own_settings_that_everybody_can_write_are_not_taken(
    places: Places, name: str, what: str
) -> None:
    path = places.home / name
    path.write_text("" if name == "config.toml" else RULE, "utf-8")
    shared = path if what == "file" else places.home
    usual = shared.stat().st_mode
    shared.chmod(usual | 0o002)
    with pytest.raises(ConfigurationError, match=f"^{path}: .*; run: chmod o-w {shared}$"):
        places.load()
    shared.chmod(usual | 0o020)  # the group is the person's own on most systems
    assert places.load().notices == ()


def test_a_projects_files_may_be_anybodys_until_they_are_trusted(places: Places) -> None:
    path = places.project_file.with_name("policy.toml")
    path.write_text(RULE.replace("allow", "deny"), "utf-8")
    path.chmod(0o666)
    assert [rule.action for rule in places.load().rules.narrowing] == ["deny"]


def _keeps_grants(state: Path, project: Path) -> tuple[Path, Callable[[], object]]:
    grants = GrantFile(state, project, project)
    grants.add([GRANT])
    return grants.path, grants.load


def _keeps_trust(state: Path, _project: Path) -> tuple[Path, Callable[[], object]]:
    trusted = TrustFile(state)
    state.mkdir(mode=0o700)
    trusted.path.write_text("{}", "utf-8")
    return trusted.path, trusted.load


@pytest.mark.parametrize("keep", [_keeps_grants, _keeps_trust])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_state_that_everybody_can_write_is_not_taken(
    places: Places,
    keep: Callable[[Path, Path], tuple[Path, Callable[[], object]]],
    what: str,
) -> None:
    path, load = keep(state_home(places.environment), places.project)
    load()
    shared = path if what == "file" else path.parent
    shared.chmod(0o777)
    with pytest.raises(ConfigurationError, match=f"everybody can write {shared}; run: chmod o-w"):
        load()


def test_a_folder_where_nobody_exchanges_what_is_not_his_is_no_danger(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.touch(mode=0o600)
    tmp_path.chmod(0o1777)
    assert open_to_all(path) is None
    tmp_path.chmod(0o777)
    assert open_to_all(path) == tmp_path
    assert open_to_all(tmp_path / "nowhere") is None
    os.chmod(tmp_path, 0o700)  # noqa: PTH101 - as it was


def test_a_project_with_many_allows_is_told_once_and_what_to_do(places: Places) -> None:
    path = places.project_file.with_name("policy.toml")
    path.write_text(RULE, "utf-8")
    step = "run holdfast trust to see its files and let them count"
    assert places.load().notices == (
        f"{path}:1: an allow rule of a project that is not trusted is not taken; {step}",
    )
    path.write_text(RULE + RULE.replace("*", "x") + RULE.replace("*", "y"), "utf-8")
    assert places.load().notices == (
        f"{path}:1: this allow rule and 2 more of a project that is not trusted are not taken;"
        f" {step}",
    )


def test_every_notice_about_a_project_names_trust_as_the_next_step(places: Places) -> None:
    loaded = places.load(
        project=(
            '[tools]\nfiles = ["x"]\n[limits]\nargument_bytes = 999999999\n'
            '[profile.code.tools]\nallow = ["x"]\n'
        )
    )
    assert len(loaded.notices) == 3
    assert all("holdfast trust" in notice for notice in loaded.notices)


def test_that_bit_says_nothing_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.touch()
    path.chmod(0o1666)
    assert open_to_all(path) == path


def test_a_home_that_is_a_link_holds_trusted_files_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "home").symlink_to(tmp_path / "real")
    environment = {"HOLDFAST_HOME": str(tmp_path / "home")}
    project = (tmp_path / "project").resolve()
    folder = project / ".holdfast"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[tools]\nfiles = ["own.py"]\n', "utf-8")
    (folder / "own.py").write_text("", "utf-8")
    seen = read_project(project)
    assert seen is not None
    TrustFile(state_home(environment)).trust(project, seen)
    (named,) = load_configuration(project, environment=environment).settings.tools.files
    assert Path(named).name == "own.py"


@pytest.mark.skipif(os.geteuid() != 0, reason="only the super-user can give files away")
def test_what_belongs_to_another_user_decides_nothing(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.user_file.write_text("", "utf-8")
    grants, load = _keeps_grants(state_home(places.environment), places.project)
    for path in (places.user_file, grants):
        os.chown(path, 1234, 1234)
    places.load()
    load()
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    places.load()
    load()
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        places.load()
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        load()
    os.chown(places.user_file, 0, 0)
    places.load()


def test_a_lock_that_another_keeps_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_file, "PATIENCE_SECONDS", 0.05)
    path = tmp_path / "kept.json"
    refused = pytest.raises(TimeoutError, match="another process keeps it locked")
    with state_file.locked(path), refused, state_file.locked(path):
        pass
    with state_file.locked(path):
        pass


@pytest.mark.parametrize(
    ("others", "told"), [(0, "you (its mode keeps you out)"), (1, "root|user")]
)
def test_a_folder_that_keeps_one_out_is_named_with_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int, told: str
) -> None:
    closed = tmp_path / "home"
    closed.mkdir()
    access = os.access

    def but_this(path: Path, mode: int) -> bool:
        return path != closed and access(path, mode)

    monkeypatch.setattr(os, "access", but_this)
    owner = closed.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + others)
    with pytest.raises(ConfigurationError, match="you may not read this folder, which belongs to"):
        check_home({"HOLDFAST_HOME": str(closed)})
    said = closed_folder(closed / "config.toml")
    assert said is not None
    assert any(one in said for one in told.split("|"))
    monkeypatch.setattr(pwd, "getpwuid", _nobody_of_that_number)
    if others:
        assert f"user {owner}; let HOLDFAST_HOME" in (closed_folder(closed / "x") or "")
    assert closed_folder(tmp_path / "gone" / "x") is None


def _nobody_of_that_number(_number: int) -> None:
    raise KeyError
