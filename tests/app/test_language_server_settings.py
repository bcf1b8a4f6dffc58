"""`[lsp.NAME]`: which language servers a session has."""

from pathlib import Path

import pytest

from holdfast.app.configuration import load_configuration
from holdfast.app.holdfast import Holdfast
from holdfast.app.language_servers import language_servers
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import LanguageServerSettings, Settings
from holdfast.execution.language_servers.known import python_server


def test_python_has_one_where_it_is_installed() -> None:
    (python,) = language_servers({}, {})
    assert python.name == "python"
    assert Path(python.command[0]).name == "basedpyright-langserver"
    assert python.extensions == (".py", ".pyi")


def test_it_is_also_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert python_server({}) is None
    program = tmp_path / "bin" / "basedpyright-langserver"
    program.parent.mkdir()
    program.touch(mode=0o755)
    found = python_server({"PATH": str(program.parent)})
    assert found is not None
    assert found.command == (str(program), "--stdio")


def test_configuration_adds_replaces_and_takes_away() -> None:
    go = LanguageServerSettings(command=("gopls",), extensions=(".GO",))
    other = LanguageServerSettings(command=("pylsp",))
    none = LanguageServerSettings(command=())
    assert [one.name for one in language_servers({"go": go}, {})] == ["go", "python"]
    assert language_servers({"go": go}, {})[0].extensions == (".go",)
    (python,) = language_servers({"python": other}, {})
    assert (python.command, python.extensions) == (("pylsp",), (".py", ".pyi"))
    assert language_servers({"python": none}, {}) == ()


@pytest.mark.parametrize("extensions", [(), ("go",), (".",)])
def test_a_server_that_no_file_could_reach_is_a_mistake(extensions: tuple[str, ...]) -> None:
    wrong = {"go": LanguageServerSettings(command=("gopls",), extensions=extensions)}
    with pytest.raises(ConfigurationError, match=r"lsp\.go\.extensions"):
        Holdfast(settings=Settings(lsp=wrong))


def test_a_project_that_is_not_trusted_adds_none(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".holdfast").mkdir(parents=True)
    (project / ".git").mkdir()
    table = '[lsp.python]\ncommand = ["./evil"]\n'
    (project / ".holdfast" / "config.toml").write_text(table, encoding="utf-8")
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    environment = {"HOME": str(tmp_path), "HOLDFAST_HOME": str(own)}
    found = load_configuration(project, environment=environment)
    assert found.settings.lsp == {}
    assert any("lsp.python" in notice for notice in found.notices)


def test_a_persons_own_file_adds_them(tmp_path: Path) -> None:
    overrides = {"lsp.go.command": '["gopls"]', "lsp.go.extensions": '[".go"]'}
    with pytest.raises(ConfigurationError, match="command is missing"):
        load_configuration(tmp_path, overrides={"lsp.go.extensions": '[".go"]'}, environment={})
    del overrides["lsp.go.extensions"]
    found = load_configuration(tmp_path, overrides=overrides, environment={})
    assert found.settings.lsp["go"].command == ("gopls",)
