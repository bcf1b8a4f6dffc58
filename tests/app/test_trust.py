"""A project's own files count once a person trusts them, as they were then."""

import os
from pathlib import Path

import pytest
from places import Places

from holdfast.app.configuration import Configuration, load_configuration
from holdfast.app.locations import state_home
from holdfast.app.problems import ConfigurationError
from holdfast.app.trust import MAX_FILES, TrustFile, files_of, fingerprint

RULES = """
[[rule]]
permission = "bash"
pattern = "make *"
action = "allow"

[[rule]]
permission = "bash"
pattern = "rm *"
action = "deny"
"""


@pytest.fixture
def folder(places: Places) -> Path:
    made = places.project / ".holdfast"
    made.mkdir(exist_ok=True)
    (made / "policy.toml").write_text(RULES, "utf-8")
    (made / "config.toml").write_text("[limits]\nargument_bytes = 99999999\n", "utf-8")
    return made


def loaded(places: Places) -> Configuration:
    return load_configuration(places.project, environment=places.environment)


def trust(places: Places) -> TrustFile:
    trusted = TrustFile(state_home(places.environment))
    seen = fingerprint(places.project.resolve())
    assert seen is not None
    trusted.trust(places.project.resolve(), seen)
    return trusted


def test_an_untrusted_project_can_only_narrow(places: Places, folder: Path) -> None:
    found = loaded(places)
    assert not found.trusted
    assert found.rules.rules == ()
    assert [one.action for one in found.rules.narrowing] == ["deny"]
    assert found.settings.limits.argument_bytes < 99_999_999
    notices = "\n".join(found.notices)
    assert f"{folder / 'policy.toml'}:2: an allow rule of a project that is not trusted" in notices


@pytest.mark.usefixtures("folder")
def test_a_trusted_project_counts(places: Places) -> None:
    trust(places)
    found = loaded(places)
    assert found.trusted
    assert [one.action for one in found.rules.rules] == ["allow", "deny"]
    assert found.rules.narrowing == ()
    assert found.settings.limits.argument_bytes == 99_999_999
    assert found.notices == ()


def test_tool_files_of_a_trusted_project_are_named_from_its_folder(
    places: Places, folder: Path
) -> None:
    (folder / "config.toml").write_text('[tools]\nfiles = ["mine.py"]\n', "utf-8")
    trust(places)
    assert loaded(places).settings.tools.files == (str(folder / "mine.py"),)


@pytest.mark.parametrize("change", ["edit", "add", "rename", "remove", "link"])
def test_any_change_asks_again(places: Places, folder: Path, change: str) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "hook.py").write_text("x = 1\n", "utf-8")
    trusted = trust(places)
    assert loaded(places).trusted
    match change:
        case "edit":
            (folder / "deep" / "hook.py").write_text("x = 2\n", "utf-8")
        case "add":
            (folder / "new.toml").write_text("", "utf-8")
        case "rename":
            (folder / "deep").rename(folder / "deeper")
        case "remove":
            (folder / "deep" / "hook.py").unlink()
        case _:
            (folder / "link").symlink_to("/etc/hostname")
    assert not trusted.trusts(places.project.resolve())
    assert not loaded(places).trusted


def test_trust_can_be_taken_back(places: Places, folder: Path) -> None:
    assert folder.is_dir()
    trusted = trust(places)
    assert trusted.forget(places.project.resolve())
    assert not trusted.forget(places.project.resolve())
    assert not loaded(places).trusted


def test_trusting_one_project_trusts_no_other(places: Places, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".holdfast").mkdir(parents=True)
    for name in ("policy.toml", "config.toml"):
        (other / ".holdfast" / name).write_bytes((folder / name).read_bytes())
    trust(places)
    assert not load_configuration(other, environment=places.environment).trusted


def test_what_cannot_be_read_whole_cannot_be_trusted(places: Places, folder: Path) -> None:
    (folder / "link").symlink_to("/etc/hostname")
    with pytest.raises(ConfigurationError, match="a link or special file cannot be trusted"):
        fingerprint(places.project)
    (folder / "link").unlink()
    for number in range(MAX_FILES + 1):
        (folder / str(number)).touch()
    with pytest.raises(ConfigurationError, match="too many to be trusted"):
        fingerprint(places.project)


def test_without_a_folder_there_is_nothing_to_trust(tmp_path: Path) -> None:
    assert fingerprint(tmp_path) is None
    assert files_of(tmp_path) == []
    (tmp_path / ".holdfast").mkdir()
    assert fingerprint(tmp_path) is None


@pytest.mark.usefixtures("folder")
def test_a_spoilt_record_is_an_error_and_trusts_nobody(places: Places) -> None:
    trusted = trust(places)
    assert trusted.path.stat().st_mode & 0o777 == 0o600
    trusted.path.write_text("{oops", "utf-8")
    with pytest.raises(ConfigurationError, match="remove it to trust no project"):
        loaded(places)


@pytest.mark.parametrize("whose", ["user", "project"])
def test_a_mistake_in_a_rule_file_names_file_and_line(places: Places, whose: str) -> None:
    beside = places.user_file if whose == "user" else places.project_file
    path = beside.with_name("policy.toml")
    path.write_text("\n[[rule]]\npermission = 'x'\n", "utf-8")
    with pytest.raises(ConfigurationError, match=f"{path}:2: missing `pattern`"):
        loaded(places)
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        loaded(places)


def test_code_outside_the_folder_is_not_covered_and_not_loaded(
    places: Places, folder: Path
) -> None:
    (folder / "config.toml").write_text('[tools]\nfiles = ["../t.py"]\n', "utf-8")
    trust(places)
    with pytest.raises(ConfigurationError, match="which is all that trust covers"):
        loaded(places)


@pytest.mark.parametrize("kind", ["pipe", "huge", "digits"])
def test_a_strangers_rule_file_cannot_hang_or_flood(places: Places, kind: str) -> None:
    path = places.project_file.with_name("policy.toml")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "huge":
        path.write_text("#" * (2 << 20), "utf-8")
    else:
        path.write_text(f"x = {'9' * 5000}", "utf-8")
    with pytest.raises(ConfigurationError):
        loaded(places)
