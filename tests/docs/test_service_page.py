"""The units of the page on services are what systemd takes, and their commands are understood."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.surfaces.cli.catalogue import module_of, parser_of
from holdfast.surfaces.cli.verbs import BY_NAME

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "running-as-a-service.md"
UNIT = re.compile(r"`/etc/systemd/system/([\w-]+\.service)`:\n\n```ini\n(.*?)^```", re.M | re.S)
UNITS = dict(UNIT.findall(PAGE.read_text("utf-8")))


def test_the_page_has_a_unit_for_each_program() -> None:
    assert set(UNITS) == {"holdfast-serve.service", "holdfast-worker.service"}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("name", sorted(UNITS))
def test_systemd_takes_a_unit(name: str, tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("holdfast"))
    unit = tmp_path / name
    unit.write_text(UNITS[name].replace("/opt/holdfast/bin/holdfast", program), "utf-8")
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in checked.stderr.splitlines() if name in line] == []


@pytest.mark.parametrize("name", sorted(UNITS))
def test_the_command_of_a_unit_is_understood(name: str) -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", UNITS[name], re.MULTILINE)
    _, verb, *words = shlex.split(line)
    given = parser_of(BY_NAME[verb], module_of(BY_NAME[verb])).parse_args(words)
    assert given.workspace == "/srv/project"
