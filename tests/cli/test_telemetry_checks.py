"""What `holdfast doctor` says of telemetry."""

import json
from pathlib import Path

import pytest
from command import Cli

from holdfast.app.settings import Settings, StoreSettings, TelemetrySettings
from holdfast.record.telemetry import door
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.telemetry_checks import check_telemetry

COLLECTOR = "http://localhost:4318"


def test_doctor_has_a_line_for_it(cli: Cli, home: Path) -> None:
    assert _line(cli) == ("OK", "off")
    (home / "config.toml").write_text(
        f'[telemetry]\nenabled = true\nendpoint = "{COLLECTOR}"\n', "utf-8"
    )
    assert _line(cli) == ("OK", f"on, without what is said: {COLLECTOR}")


def _line(cli: Cli) -> tuple[str, str]:
    checks = json.loads(cli("doctor", "--json").out)["checks"]
    (found,) = [one for one in checks if one["name"] == "telemetry"]
    return found["status"], found["detail"]


def test_without_a_collector_a_command_line_tells_nobody() -> None:
    found = check_telemetry(_on(content=True), {})
    assert (found.status, found.detail) == (
        "WARN",
        "on, with what is said: only a program with an OpenTelemetry of its own is told",
    )
    assert found.next_step == f'set telemetry.endpoint = "{COLLECTOR}"'


def test_what_keeps_it_from_working_is_told_with_the_next_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unset = check_telemetry(_on(endpoint=COLLECTOR, headers_variable="KEYS"), {})
    assert (unset.status, unset.next_step) == (
        *("FAIL", "set it where holdfast is started, or take it out"),
    )
    unwritten = Settings(telemetry=_on().telemetry, store=StoreSettings(kind="none"))
    assert check_telemetry(unwritten, {}) == Finding(
        "FAIL",
        "telemetry",
        "telemetry.enabled: what is told is made of what is written down, and store.kind is none",
        "set store.kind = 'sqlite', or telemetry.enabled = false",
    )

    def missing(_name: str) -> None:
        raise ModuleNotFoundError("No module named 'opentelemetry'")

    monkeypatch.setattr(door, "import_module", missing)
    absent = check_telemetry(_on(), {})
    assert (absent.status, absent.next_step) == (
        *("FAIL", "install it with: pip install 'holdfast[telemetry]'"),
    )


def _on(
    *, endpoint: str | None = None, headers_variable: str | None = None, content: bool = False
) -> Settings:
    return Settings(
        telemetry=TelemetrySettings(
            enabled=True, endpoint=endpoint, headers_variable=headers_variable, content=content
        )
    )
