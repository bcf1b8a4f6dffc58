"""A project's own files count once a person trusts them, as they were then."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import Places

from holdfast.app.configuration import Configuration, load_configuration
from holdfast.app.locations import state_home
from holdfast.app.problems import ConfigurationError
from holdfast.app.project_folder import MAX_BYTES, MAX_FILES, KeptFile, ProjectFolder, read_project
from holdfast.app.trust import TrustFile

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
    seen = read_project(places.project.resolve())
    assert seen is not None
    trusted.trust(places.project.resolve(), seen)
    return trusted


def kept(places: Places) -> Path:
    copy = TrustFile(state_home(places.environment)).kept(places.project.resolve())
    assert copy is not None
    return copy


def test_an_untrusted_project_can_only_narrow(places: Places, folder: Path) -> None:
    found = loaded(places)
    assert not found.trusted
    assert found.rules.rules == ()
    assert [one.action for one in found.rules.narrowing] == ["deny"]
    assert found.settings.limits.argument_bytes < 99_999_999
    notices = "\n".join(found.notices)
    assert f"{folder / 'policy.toml'}:2: an allow rule of a project that is not trusted" in notices


def test_an_untrusted_project_adds_no_program_for_edits(places: Places, folder: Path) -> None:
    hook = '[[hooks.after_edit]]\nfiles = "**"\ncommand = ["curl", "{path}"]\n'
    (folder / "config.toml").write_text(hook, "utf-8")
    found = loaded(places)
    assert found.settings.hooks.after_edit == ()
    said = "hooks.after_edit: not taken from a project that is not trusted"
    assert any(said in notice for notice in found.notices)
    trust(places)
    assert [one.command for one in loaded(places).settings.hooks.after_edit] == [("curl", "{path}")]


@pytest.mark.usefixtures("folder")
def test_a_trusted_project_counts(places: Places) -> None:
    trust(places)
    found = loaded(places)
    assert found.trusted
    assert [one.action for one in found.rules.rules] == ["allow", "deny"]
    assert found.rules.narrowing == ()
    assert found.settings.limits.argument_bytes == 99_999_999
    assert found.notices == ()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("agreed", [True, False])
def test_the_persons_own_rules_count_beside_the_projects(places: Places, *, agreed: bool) -> None:
    mine = '[[rule]]\npermission = "bash"\npattern = "sudo *"\naction = "deny"\n'
    places.user_file.with_name("policy.toml").write_text(mine, "utf-8")
    if agreed:
        trust(places)
    rules = loaded(places).rules
    assert [one.pattern for one in rules.rules] == ["sudo *", *(["make *", "rm *"] * agreed)]
    assert [one.pattern for one in rules.narrowing] == ["rm *"] * (not agreed)


def test_tool_files_of_a_trusted_project_are_named_from_its_folder(
    places: Places, folder: Path
) -> None:
    (folder / "config.toml").write_text('[tools]\nfiles = ["mine.py"]\n', "utf-8")
    trust(places)
    assert loaded(places).settings.tools.files == (str(kept(places) / "mine.py"),)


@pytest.mark.parametrize("change", ["edit", "add", "rename", "remove", "link", "mode"])
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
        case "mode":
            (folder / "deep" / "hook.py").chmod(0o755)
        case _:
            (folder / "link").symlink_to("/etc/hostname")
    assert not trusted.trusts(places.project.resolve())
    assert not loaded(places).trusted


def test_what_counts_is_the_private_copy_of_what_was_trusted(places: Places, folder: Path) -> None:
    (folder / "config.toml").write_text(
        '[tools]\nfiles = ["mine.py"]\n[watchdog]\ncommands = [["./deep/hook", "x"]]\n', "utf-8"
    )
    (folder / "mine.py").write_text("MINE = 1\n", "utf-8")
    (folder / "deep").mkdir()
    (folder / "deep" / "hook").write_text("#!/bin/sh\n", "utf-8")
    (folder / "deep" / "hook").chmod(0o755)
    trust(places)
    settings = loaded(places).settings
    (folder / "mine.py").write_text("STRANGER = 1\n", "utf-8")
    (folder / "deep" / "hook").write_text("#!/bin/sh\necho stranger\n", "utf-8")
    assert [Path(name).read_text("utf-8") for name in settings.tools.files] == ["MINE = 1\n"]
    ((program, *rest),) = settings.watchdog.commands
    assert Path(program).read_text("utf-8") == "#!/bin/sh\n"
    assert os.access(program, os.X_OK)
    assert rest == ["x"]
    modes = {path.stat().st_mode & 0o077 for path in Path(program).parent.parent.rglob("*")}
    assert modes == {0}


def test_a_change_between_two_readings_changes_nothing(
    places: Places, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(places)
    really = TrustFile.kept

    def then_changed(self: TrustFile, project: Path) -> Path | None:
        copy = really(self, project)
        (folder / "policy.toml").write_text(RULES.replace("make", "stranger"), "utf-8")
        (folder / "config.toml").write_text("[limits]\nargument_bytes = 77777777\n", "utf-8")
        return copy

    monkeypatch.setattr(TrustFile, "kept", then_changed)
    found = loaded(places)
    assert found.trusted
    assert found.rules.rules[0].pattern == "make *"
    assert found.rules.rules[0].source == f"{folder / 'policy.toml'}:2"
    assert found.settings.limits.argument_bytes == 99_999_999


@pytest.mark.parametrize("damage", ["lost", "changed", "added"])
def test_a_damaged_copy_is_made_again(places: Places, folder: Path, damage: str) -> None:
    trust(places)
    copy = kept(places)
    if damage == "lost":
        (copy / "policy.toml").unlink()
    else:
        (copy / ("policy.toml" if damage == "changed" else "new")).write_text("x", "utf-8")
    assert kept(places) == copy
    assert {path.name for path in copy.iterdir()} == {"policy.toml", "config.toml"}
    assert (copy / "policy.toml").read_text("utf-8") == (folder / "policy.toml").read_text("utf-8")


def test_python_caches_are_neither_trusted_nor_kept(places: Places, folder: Path) -> None:
    trust(places)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "mine.pyc").write_bytes(b"stranger")
    assert [path.name for path in kept(places).rglob("__pycache__")] == []


def test_a_folder_that_is_a_link_cannot_be_trusted(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "policy.toml").touch()
    (tmp_path / ".holdfast").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError, match="a link cannot be trusted"):
        read_project(tmp_path)


def test_copies_nobody_trusts_are_let_go(places: Places, folder: Path) -> None:
    trusted = trust(places)
    copies = kept(places).parent
    (folder / "new").touch()
    trust(places)
    assert len(list(copies.iterdir())) == 1
    assert trusted.forget(places.project.resolve())
    assert list(copies.iterdir()) == []


NAMES = st.text("ab.", min_size=1, max_size=3)
FILES = st.dictionaries(NAMES, st.tuples(st.binary(max_size=3), st.booleans()), max_size=4)


@given(FILES, FILES)
def test_no_two_folders_share_a_fingerprint(
    one: dict[str, tuple[bytes, bool]], other: dict[str, tuple[bytes, bool]]
) -> None:
    def made(files: dict[str, tuple[bytes, bool]]) -> str:
        return ProjectFolder(
            tuple(KeptFile(name, *rest) for name, rest in sorted(files.items()))
        ).fingerprint

    assert (made(one) == made(other)) == (one == other)


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
        read_project(places.project)
    (folder / "link").unlink()
    with (folder / "holes").open("wb") as holes:
        holes.truncate(MAX_BYTES << 16)
    with pytest.raises(ConfigurationError, match="holes: with it there are more than"):
        read_project(places.project)
    (folder / "holes").unlink()
    for number in range(MAX_FILES + 1):
        (folder / str(number)).touch()
    with pytest.raises(ConfigurationError, match="too many to be trusted"):
        read_project(places.project)


def test_without_a_folder_there_is_nothing_to_trust(tmp_path: Path) -> None:
    assert read_project(tmp_path) is None
    (tmp_path / ".holdfast").mkdir()
    assert read_project(tmp_path) is None


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
    with pytest.raises(ConfigurationError, match=f"{path}:2: the rule has no pattern"):
        loaded(places)
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        loaded(places)


@pytest.mark.parametrize(
    "table",
    [
        '[tools]\nfiles = ["../t.py"]',
        '[tools]\nfiles = ["/usr/lib/t.py"]',
        '[watchdog]\ncommands = [["python3", "x.py"]]',
        '[watchdog]\ncommands = [["../../x"]]',
        '[watchdog]\ncommands = [["/bin/true"]]',
    ],
)
def test_code_outside_the_folder_is_not_covered_and_not_loaded(
    places: Places, folder: Path, table: str
) -> None:
    (folder / "config.toml").write_text(f"{table}\n", "utf-8")
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
