"""Four layers of TOML, the later one wins; every mistake says where it is and what to do."""

import os
import re
from pathlib import Path

import pytest
from places import Places

from holdfast.app.configuration import ConfigurationError, load_configuration, load_settings
from holdfast.app.settings import Settings

LIMIT = "[limits]\nargument_bytes = {}\n"


def test_without_any_file_the_defaults_hold(places: Places) -> None:
    loaded = places.load()
    assert loaded.settings == Settings()
    assert loaded.notices == ()
    assert loaded.files == ()


def test_later_layers_win_key_by_key(places: Places) -> None:
    user = LIMIT.format(5_000) + "sidecar_call_bytes = 70\n"
    project = LIMIT.format(4_000)
    assert places.load(user=user).settings.limits.argument_bytes == 5_000
    assert places.load(user=user, project=project).settings.limits.argument_bytes == 4_000
    variables = {"HOLDFAST_LIMITS__ARGUMENT_BYTES": "6000"}
    assert places.load(variables=variables).settings.limits.argument_bytes == 6_000
    overrides = {"limits.argument_bytes": "7000"}
    last = places.load(variables=variables, overrides=overrides).settings
    assert last.limits.argument_bytes == 7_000
    assert last.limits.sidecar_call_bytes == 70


def test_the_files_that_were_read_are_named(places: Places) -> None:
    loaded = places.load(user="", project="")
    assert loaded.files == (places.user_file, places.project_file)


def test_load_settings_gives_the_settings_alone(places: Places) -> None:
    places.user_file.write_text(LIMIT.format(9), "utf-8")
    settings = load_settings(places.project, environment=places.environment)
    assert settings.limits.argument_bytes == 9


def test_the_environment_of_the_process_is_read_when_none_is_given(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(places.home))
    monkeypatch.setenv("HOLDFAST_LIMITS__ARGUMENT_BYTES", "11")
    assert load_settings(places.project).limits.argument_bytes == 11


def test_the_project_is_the_git_root_above_the_workspace(places: Places) -> None:
    (places.project / ".git").mkdir()
    below = places.project / "src" / "deep"
    below.mkdir(parents=True)
    places.project_file.write_text(LIMIT.format(3), "utf-8")
    settings = load_settings(below, environment=places.environment)
    assert settings.limits.argument_bytes == 3


def test_without_git_only_the_workspace_itself_is_the_project(places: Places) -> None:
    below = places.project / "src"
    below.mkdir()
    places.project_file.write_text(LIMIT.format(3), "utf-8")
    assert load_settings(below, environment=places.environment) == Settings()


def test_a_working_directory_that_was_removed_is_no_project(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert load_settings(None, environment=places.environment) == Settings()


def test_xdg_config_home_is_honoured_and_a_relative_one_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "xdg" / "holdfast"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(LIMIT.format(21), "utf-8")
    at = {"XDG_CONFIG_HOME": str(tmp_path / "xdg"), "HOME": str(tmp_path)}
    assert load_settings(tmp_path, environment=at).limits.argument_bytes == 21
    relative = {"XDG_CONFIG_HOME": "xdg", "HOME": str(tmp_path)}
    assert load_settings(tmp_path, environment=relative) == Settings()


def test_without_variables_the_file_is_below_the_home(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "holdfast"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(LIMIT.format(22), "utf-8")
    settings = load_settings(tmp_path, environment={"HOME": str(tmp_path)})
    assert settings.limits.argument_bytes == 22


def test_a_file_names_tool_files_relative_to_itself(places: Places) -> None:
    user = '[tools]\nfiles = ["mine.py", "/opt/all.py", "~/home.py"]\n'
    loaded = places.load(user=user, variables={"HOME": "/somewhere"})
    assert loaded.settings.tools.files == (
        str(places.home / "mine.py"),
        "/opt/all.py",
        "/somewhere/home.py",
    )


def test_a_variable_is_toml_or_else_text(places: Places) -> None:
    variables = {
        "HOLDFAST_SECRETS__VARIABLES": '["ONE", "TWO"]',
        "HOLDFAST_LIMITS__TOOL__WEATHER__WALL_SECONDS": "inf",
    }
    settings = places.load(variables=variables).settings
    assert settings.secrets.variables == ("ONE", "TWO")
    assert settings.limits.tool["weather"].wall_seconds == float("inf")
    with pytest.raises(ConfigurationError, match=r"expected a list; write for example variables"):
        places.load(variables={"HOLDFAST_SECRETS__VARIABLES": "ONE"})


def test_a_quoted_part_of_an_override_may_hold_a_dot(places: Places) -> None:
    settings = places.load(overrides={'limits.tool."a.b".max_bytes': "5"}).settings
    assert settings.limits.tool["a.b"].max_bytes == 5


def test_variables_that_are_no_settings_are_left_alone(places: Places) -> None:
    assert places.load(variables={"HOLDFAST_DEBUG": "1", "OTHER": "x"}).settings == Settings()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[limts]\n", r"limts: there is no such key; did you mean 'limits'\?"),
        (
            "[limits]\nargument_byte = 1\n",
            r"limits\.argument_byte: there is no such key; did you mean 'argument_bytes'\?",
        ),
        (
            "[limits.tool.weather]\nmax_byts = 1\n",
            r"limits\.tool\.weather\.max_byts: .* did you mean 'max_bytes'\?",
        ),
        (
            "[zzz]\n",
            f"zzz: there is no such key; known: {', '.join(sorted(Settings.__struct_fields__))}",
        ),
        (
            '[limits]\nargument_bytes = "many"\n',
            r"limits\.argument_bytes: expected a whole number; write for example",
        ),
        (
            "[limits]\nargument_bytes = 0\n",
            r"limits\.argument_bytes: expected a whole number >= 1; write for example",
        ),
        ("limits = 3\n", r"limits: expected a table; write \[limits\]"),
        ("[profile]\ncode = 3\n", r"profile\.code: expected a table; write \[profile\.code\]"),
        (
            "[profile.code.tools]\ndeny = [1]\n",
            r'profile\.code\.tools\.deny: expected text; write for example deny = \["one"',
        ),
        ("[limits.at_most.x]\nmax_bytes = 1\n", r"limits\.at_most: there is no such key"),
        (
            '[watchdog]\ncommands = ["x"]\n',
            r'watchdog\.commands: expected a list; write for example commands = \[\["/usr/l',
        ),
        ("[policy]\nstrict = 1\n", r"policy\.strict: expected true or false; .* strict = true"),
        ("[policy]\nceiling = 1\n", r"policy\.ceiling: expected a table; write \[policy\.ceiling"),
        (
            '[policy.ceiling]\nreed = ["x"]\n',
            r"policy\.ceiling\.reed: there is no such key; did you mean 'read'\?",
        ),
        (
            '[policy.ceiling]\nread = "x"\n',
            r'policy\.ceiling\.read: expected a list; write for example read = \["one", "two"\]',
        ),
        (
            "[policy.ceiling]\nshell = 1\n",
            r'policy\.ceiling\.shell: expected a list; .* shell = \[\{ cmd = "text" \}\]',
        ),
        (
            '[[policy.ceiling.shell]]\nargs = ["x"]\n',
            r'policy\.ceiling\.shell #1: cmd is missing; write cmd = "text"',
        ),
        (
            '[[policy.ceiling.shell]]\ncmd = "ls"\nargs = [1]\n',
            r'policy\.ceiling\.shell #1\.args: expected text; write for example args = \["one"',
        ),
        ("[policy.ceiling]\nshell = [1]\n", r"shell: expected a table; write \[\[policy\.ceiling"),
        (
            '[[profile.code.rules]]\npermission = "x"\n',
            r'profile\.code\.rules #1: pattern is missing; write pattern = "text"',
        ),
        (
            '[[profile.code.rules]]\npermission = "x"\npattern = "x"\naction = "alow"\n',
            r"profile\.code\.rules #1\.action: it must be one of allow, ask, deny; write",
        ),
        (
            "[limits.tool.x]\nmax_items = 0\n",
            r"limits\.tool\.x\.max_items: expected a whole number >= 1; .* max_items = 1000",
        ),
        (f"[limits.tool.x]\nwall_seconds = 1{'0' * 400}\n", "choose another value"),
    ],
)
@pytest.mark.parametrize("where", ["user", "project"])
def test_a_wrong_key_or_type_names_file_and_key_and_what_to_do(
    places: Places, where: str, text: str, problem: str
) -> None:
    path = places.user_file if where == "user" else places.project_file
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigurationError, match=rf"^{re.escape(str(path))}: .*{problem}"):
        places.load()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[limits]\nargument_bytes = \n", ":2: not valid TOML: Invalid value; correct that line"),
        (b"\n\n[limits\n", ":3: not valid TOML: "),
        (b"x = 1" + b"0" * 5_000, ":1: not valid TOML: "),
        (b"# fine\n\xff\xfe\n", ":2: not UTF-8 text; save it as UTF-8"),
        (b"x = " + b"[" * 5_000, ": it nests too deeply; make it flatter"),
        (b"#" * 1_100_000, ": it is larger than 1,048,576 bytes; shorten it"),
    ],
)
def test_what_is_not_toml_names_the_file_and_the_line(
    places: Places, content: bytes, problem: str
) -> None:
    places.user_file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=re.escape(f"{places.user_file}{problem}")):
        places.load()


def test_a_file_that_is_a_directory_is_an_error_not_a_crash(places: Places) -> None:
    places.user_file.mkdir()
    with pytest.raises(ConfigurationError, match="not an ordinary file"):
        places.load()


def test_a_pipe_in_a_strangers_project_does_not_hang(places: Places) -> None:
    os.mkfifo(places.project_file)
    with pytest.raises(ConfigurationError, match="not an ordinary file"):
        places.load()


def test_a_file_that_cannot_be_read_says_why(places: Places) -> None:
    places.user_file.symlink_to(places.user_file.name)
    with pytest.raises(ConfigurationError, match=r"cannot be read \(Too many levels"):
        places.load()


@pytest.mark.parametrize("key", ["", "a b", "limits..x", "x = 1\ny", "[a]\nb = 1\nc"])
def test_an_override_that_is_no_dotted_key_is_an_error(places: Places, key: str) -> None:
    with pytest.raises(ConfigurationError, match="not a dotted key"):
        places.load(overrides={key: "1"})


MODEL = '[model.big]\nkind = "openai"\nmodel = "m"\nprices = { input = 1.0 }\n'


def test_a_single_key_amends_the_table_it_belongs_to(places: Places) -> None:
    overrides = {"model.big.prices": "{input=1.5, output=2}", "model.big.window": "9000"}
    loaded = places.load(user=MODEL, overrides=overrides).settings.model["big"]
    assert (loaded.kind, loaded.model, loaded.window) == ("openai", "m", 9000)
    assert loaded.prices is not None
    assert (loaded.prices.input, loaded.prices.output) == (1.5, 2.0)
    variables = {"HOLDFAST_MODEL__BIG__STREAM": "false", "HOLDFAST_LSP__PY__EXTENSIONS": '[".py"]'}
    lsp = '[lsp.py]\ncommand = ["pylsp"]\n'
    loaded = places.load(user=MODEL + lsp, variables=variables).settings
    assert (loaded.model["big"].kind, loaded.model["big"].stream) == ("openai", False)
    assert loaded.lsp["py"].command == ("pylsp",)


def test_several_keys_make_a_table_together_in_any_order(places: Places) -> None:
    overrides = {"model.new.model": '"m"', "model.new.kind": '"openai"'}
    loaded = places.load(overrides=overrides).settings.model["new"]
    assert (loaded.kind, loaded.model) == ("openai", "m")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"model.new.window": "9000"}, r"override model.new.window: model.new: kind is missing"),
        ({"model.big.cache": "true"}, r"override model.big.cache: model.big: .* has no cache"),
        ({"model.big": "3"}, r"override model.big: model.big: expected a table"),
        ({"model": "3"}, r"override model: model: expected a table"),
        ({"model.big.base_url": '"nowhere"'}, r"base_url is no address of an API"),
    ],
)
def test_what_a_single_key_makes_of_its_table_is_checked(
    places: Places, overrides: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        places.load(user=MODEL, overrides=overrides)


def test_a_wrong_variable_is_named(places: Places) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"environment variable HOLDFAST_LIMITS__ARGUMENT_BYTE: limits\.argument_byte",
    ):
        places.load(variables={"HOLDFAST_LIMITS__ARGUMENT_BYTE": "1"})


def test_the_home_of_a_person_may_lie_in_the_project(places: Places) -> None:
    """Then it is the person's own file, and trusted."""
    places.project_file.write_text('[tools]\nfiles = ["a.py"]\n', "utf-8")
    folder = places.project_file.parent
    loaded = load_configuration(places.project, environment={"HOLDFAST_HOME": str(folder)})
    assert loaded.settings.tools.files == (str(folder / "a.py"),)
    assert loaded.notices == ()
