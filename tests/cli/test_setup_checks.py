"""What `holdfast doctor` finds missing of what the configuration names."""

import json
from pathlib import Path

import pytest
from command import Cli

from holdfast.app.settings import LanguageServerSettings, SearchSettings, Settings
from holdfast.surfaces.cli.setup_checks import check_language_servers, check_provider

BROKEN = """
[[hooks.after_edit]]
files = "**/*.py"
command = ["no-such-linter", "{path}"]

[lsp.go]
command = ["no-such-gopls"]
extensions = [".go"]

[skills]
paths = ["nowhere"]

[[web.search]]
kind = "static"
file = "documents.json"

[[web.search]]
kind = "brave"
key_variable = "NO_SUCH_KEY"
"""


def found(cli: Cli) -> dict[str, tuple[str, str]]:
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    return {one["name"]: (one["status"], one["detail"]) for one in checks}


def test_what_is_named_and_not_there_is_told(cli: Cli, home: Path) -> None:
    (home / "config.toml").write_text(BROKEN, "utf-8")
    checks = found(cli)
    assert checks["hooks.after_edit #1"] == ("WARN", "there is no program 'no-such-linter'")
    assert checks["lsp.go"] == ("WARN", "there is no program 'no-such-gopls'")
    assert checks["skills.paths"][0] == "WARN"
    assert checks["web.search #1"][0] == "WARN"
    assert checks["web.search #2"] == ("WARN", "brave: the variable NO_SUCH_KEY is not set")


def test_a_vault_that_is_no_directory_is_told_by_doctor_and_by_every_verb(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "keys"
    config = f'[vault.keys]\npath = "{folder}"\n'
    (home / "config.toml").write_text(config, "utf-8")
    said = f"vault.keys.path: {folder} is no directory, so what you mean is not protected"
    step = "correct the path, or make the directory"
    assert found(cli)["configuration"] == ("WARN", f"not applied: {said}")
    assert f"note: {said}; {step}" in cli("tools").err
    folder.write_text("a file", "utf-8")
    assert said in cli("tools").err
    folder.unlink()
    folder.mkdir()
    assert found(cli)["configuration"][0] == "OK"
    assert cli("tools").err == ""


def test_what_is_there_is_fine(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = BROKEN.replace("no-such-linter", "true").replace("no-such-gopls", "cat")
    (home / "config.toml").write_text(text, "utf-8")
    (home / "nowhere").mkdir()
    (home / "documents.json").write_text("[]", "utf-8")
    monkeypatch.setenv("NO_SUCH_KEY", "a-key-that-nobody-has")
    checks = found(cli)
    assert not {"hooks.after_edit #1", "lsp.go", "skills.paths"} & checks.keys()
    assert checks["lsp"][0] == checks["web.search #1"][0] == checks["web.search #2"][0] == "OK"


def test_documents_that_are_no_json_are_told(tmp_path: Path) -> None:
    path = tmp_path / "documents.json"
    path.write_text("[", "utf-8")
    told = check_provider("it", SearchSettings(kind="static", file=str(path)), {})
    assert (told.status, str(path) in told.detail) == ("WARN", True)


def test_without_any_language_server_the_next_step_is_told(tmp_path: Path) -> None:
    none = Settings(lsp={"python": LanguageServerSettings(command=())})
    (told,) = check_language_servers(none, {"PATH": str(tmp_path)})
    assert (told.status, "pip install basedpyright" in told.next_step) == ("WARN", True)
    odd = Settings(lsp={"go": LanguageServerSettings(command=("gopls",))})
    (wrong,) = check_language_servers(odd, {})
    assert wrong.status == "FAIL"
