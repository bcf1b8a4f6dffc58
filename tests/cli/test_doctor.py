"""`holdfast doctor`: each check says OK, WARN or FAIL and the next step; only FAIL is status 1."""

import json
import os
from pathlib import Path

import pytest
from command import Cli, Terminal

from holdfast.app.locations import NOWHERE
from holdfast.surfaces.cli import checks
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.screen import Screen


def _only(findings: list[Finding]) -> Finding:
    (found,) = findings
    return found


def test_a_healthy_machine_is_all_ok(cli: Cli) -> None:
    answer = cli("doctor")
    assert (answer.status, answer.err) == (0, "")
    lines = answer.out.splitlines()
    names = [line.split(":")[0].split(maxsplit=1)[1] for line in lines]
    assert names[:2] == ["python", "system"]
    assert {"anyio", "jsonschema-rs", "msgspec", "rich"} <= set(names)
    first = names.index("configuration")
    assert names[first:][:7] == [
        "configuration", "trust", "grants", "lsp", "telemetry", "data directory", "state directory"
    ]  # fmt: skip
    assert "sandbox" in names[first + 5 :]


def test_json_is_one_document(cli: Cli) -> None:
    document = json.loads(cli("doctor", "--json").out)
    assert document["ok"] is True
    assert document["checks"][0].keys() == {"status", "name", "detail", "next_step"}


def test_a_broken_configuration_fails_with_the_next_step(cli: Cli, home: Path) -> None:
    (home / "config.toml").write_text("[limits]\nargument_byte = 1\n", "utf-8")
    answer = cli("doctor")
    assert answer.status == 1
    assert f"FAIL  configuration: {home / 'config.toml'}: limits.argument_byte" in answer.out
    assert "      -> did you mean 'argument_bytes'?" in answer.out
    assert json.loads(cli("doctor", "--json").out)["ok"] is False


def test_notices_are_warnings_and_no_failure(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "config.toml").write_text('[tools]\nfiles = ["x"]\n', "utf-8")
    answer = cli("doctor")
    assert answer.status == 0
    assert "WARN  configuration: not applied: " in answer.out
    assert "      -> run holdfast trust to let its files count, or put it into your" in answer.out


def test_a_tool_file_that_tools_could_not_load_is_a_failure(
    cli: Cli, home: Path, tool_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("def (:\n", "utf-8")
    (tmp_path / "again.py").write_text(tool_file.read_text("utf-8"), "utf-8")
    for names, said, step in (
        (["nope.py"], f"{home}/nope.py: there is no such file", "check the path"),
        ([str(tmp_path)], f"{tmp_path}: it cannot be read (Is a directory)", "give the path"),
        ([str(tmp_path / "broken.py")], f"{tmp_path}/broken.py:1: ", "correct that line"),
        ([str(tool_file), str(tmp_path / "again.py")], "the tool 'add' is both in", "rename one"),
    ):
        (home / "config.toml").write_text(f"[tools]\nfiles = {json.dumps(names)}\n", "utf-8")
        answer = cli("doctor")
        assert answer.status == 1
        assert f"FAIL  tool files: {said}" in answer.out
        assert f"      -> {step}" in answer.out
        assert cli("tools").status == 2
    (home / "config.toml").write_text(f'[tools]\nfiles = ["{tool_file}"]\n', "utf-8")
    answer = cli("doctor")
    assert answer.status == 0
    assert f"OK    tool files: {tool_file} (5 tools)\n" in answer.out


def test_limits_that_mean_no_tool_or_change_nothing_are_warnings(
    cli: Cli, home: Path, tool_file: Path, tmp_path: Path
) -> None:
    (home / "config.toml").write_text(
        f'[tools]\nfiles = ["{tool_file}"]\n[limits.tool.flod]\nmax_bytes = 9\n', "utf-8"
    )
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "config.toml").write_text(
        "[limits.tool.add]\nwall_seconds = 999\n", "utf-8"
    )
    answer = cli("doctor")
    assert answer.status == 0
    warnings = answer.out[answer.out.index("WARN") : answer.out.index("OK    project")]
    assert warnings.splitlines() == [
        "WARN  configuration: limits.tool.flod: no configured tool has this name",
        "      -> did you mean 'flood'?",
        "WARN  configuration: not applied: limits.tool.add.wall_seconds = 999:"
        " larger than the tool's 120",
        "      -> a project may only make limits smaller until you run holdfast trust",
    ]


def test_a_tool_that_is_hidden_by_a_misspelt_name_is_a_warning(cli: Cli, home: Path) -> None:
    (home / "config.toml").write_text('[profile.code.tools]\ndeny = ["bsh"]\n', "utf-8")
    answer = cli("doctor")
    assert answer.status == 0
    warning = "WARN  configuration: profile.code.tools.deny: no tool is called 'bsh'\n"
    assert f"{warning}      -> did you mean 'bash'?\n" in answer.out


def test_overrides_are_checked_too(cli: Cli) -> None:
    assert cli("doctor", "--set", "limits.argument_bytes=0").status == 1


def test_systems_are_told_apart() -> None:
    assert checks.check_system("Linux").status == "OK"
    mac = checks.check_system("Darwin")
    assert (mac.status, "kernel sandbox is missing" in mac.detail) == ("WARN", True)
    assert checks.check_system("Windows").status == "FAIL"


def test_an_old_python_and_old_or_missing_packages_fail() -> None:
    assert checks.check_python((3, 10)).next_step == "install Python 3.11 or newer"
    assert checks.check_package("rich", "9999").status == "FAIL"
    missing = checks.check_package("holdfast-no-such-part", "1.0")
    assert missing == (
        "FAIL",
        "holdfast-no-such-part",
        "not installed",
        "run: pip install --upgrade 'holdfast-no-such-part>=1.0'",
    )


def test_the_data_directory_may_be_missing_private_or_open(tmp_path: Path) -> None:
    where = tmp_path / "data"
    assert "made when needed" in _only(list(checks.check_data_directory(where))).detail
    where.mkdir(mode=0o700)
    assert _only(list(checks.check_data_directory(where))).status == "OK"
    where.chmod(0o755)
    opened = _only(list(checks.check_data_directory(where)))
    assert (opened.status, opened.next_step) == ("WARN", f"run: chmod 700 {where}")


def test_a_data_directory_that_cannot_be_used_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    for where in (tmp_path / "file", tmp_path / "file" / "below", NOWHERE):
        assert _only(list(checks.check_data_directory(where))).status == "FAIL"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a place nobody can write")
@pytest.mark.parametrize("where", ["/proc", "/proc/holdfast/data"])
def test_a_place_that_even_root_cannot_write_fails(where: str) -> None:
    found = _only(list(checks.check_data_directory(Path(where))))
    assert (found.status, "HOLDFAST_HOME" in found.next_step) == ("FAIL", True)


def test_looking_leaves_nothing_behind(cli: Cli, home: Path) -> None:
    cli("doctor")
    assert list(home.iterdir()) == []


def test_a_directory_of_somebody_else_is_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987_654)
    found = _only(list(checks.check_data_directory(tmp_path)))
    assert (found.status, "HOLDFAST_HOME" in found.next_step) == ("WARN", True)


def test_a_person_at_a_terminal_sees_the_same_findings() -> None:
    shown = Terminal()
    found = Finding("WARN", "thing", "a [bold] detail", "do this")
    Screen(shown, shown).look.findings([found, Finding("OK", "other", "fine")])
    for part in ("WARN", "thing", "a [bold] detail", "do this", "other"):
        assert part in shown.getvalue()
