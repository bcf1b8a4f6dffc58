"""bash itself as the judge: whatever it runs or writes was foretold, or there was a doubt.

Only stand-ins can be found by the texts that run here, and each run has a folder of its own.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from shell_texts import PROGRAMS, texts

from holdfast.policy.shell.analysis import ShellText, analyse

pytestmark = pytest.mark.system("bash")

# A stand-in writes its words, each ended by NUL, to a file of its own.
_STAND_IN = """#!/bin/bash
printf '%s\\0' {name} "$@" > "$RECORDS/$$.$RANDOM"
"""
_LIMITED = 'ulimit -v 4000000 -u 4000; exec /bin/bash --norc --noprofile -c -- "$1"'


@pytest.fixture(scope="module")
def programs() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        for name in PROGRAMS:
            path = Path(folder) / name
            path.write_text(_STAND_IN.format(name=name), "utf-8")
            path.chmod(0o755)
        yield Path(folder)


def _run(programs: Path, text: str) -> tuple[list[tuple[str, ...]], set[str]]:
    """The command lines bash really ran, and the files it made."""
    with TemporaryDirectory() as folder:
        records, place = Path(folder) / "records", Path(folder) / "place"
        records.mkdir()
        place.mkdir()
        environment = {
            "PATH": str(programs), "RECORDS": str(records), "HOME": str(place),
            "FUNCNEST": "5", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        subprocess.run(
            ["/usr/bin/timeout", "5", "/bin/bash", "-c", _LIMITED, "limited", text],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        ran = [
            tuple(record.read_bytes().decode("utf-8", "replace").split("\0")[:-1])
            for record in records.iterdir()
        ]
        return ran, {path.name for path in place.iterdir()}


def _foretold(found: ShellText, argv: tuple[str, ...]) -> bool:
    return any(
        command.argv == argv or (command.expands and command.argv[0] == argv[0])
        for command in found.commands
    )


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(texts)
@example("beta - 1>o1")
@example("( beta \\  )")
@example("gamma {f}>o1")
@example(">&2\\`beta\\`x")
@example(">&'$(beta)'")
@example("alpha a#b; beta")
@example("gamma a$ == 2>&1")
def test_everything_bash_runs_or_writes_was_foretold_or_in_doubt(programs: Path, text: str) -> None:
    found = analyse(text)
    if found.doubts:
        return
    ran, made = _run(programs, text)
    assert [argv for argv in ran if not _foretold(found, argv)] == []
    assert made <= {opened.target for opened in found.redirections if opened.mode == "write"}


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts)
def test_a_text_without_doubts_is_one_that_bash_can_parse(text: str) -> None:
    if analyse(text).doubts:
        return
    checked = subprocess.run(
        ["/usr/bin/timeout", "5", "/bin/bash", "--norc", "-n", "-c", "--", text],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
