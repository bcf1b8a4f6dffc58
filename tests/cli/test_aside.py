"""Standard output holds the answer and nothing else, whatever tools and their files print."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import HOLDFAST, Cli, start

from holdfast.surfaces.cli.aside import tools_speak_aside
from holdfast.surfaces.cli.entry import main
from holdfast.surfaces.cli.screen import Screen

LOUD = """
import atexit
import os
import subprocess
import sys
from holdfast import tool

def shout(place):
    print(f"{place} by print")
    sys.__stdout__.write(f"{place} by the stream\\n")
    os.write(1, f"{place} by the descriptor\\n".encode())

shout("loaded")
atexit.register(shout, "left")

@tool
def loud() -> str:
    'Say more than the result.'
    shout("called")
    subprocess.run(["echo", "called by a child"], check=True)
    return "quiet"
"""


@pytest.fixture
def loud(tmp_path: Path) -> Path:
    path = tmp_path / "loud.py"
    path.write_text(LOUD, "utf-8")
    return path


def _shouts(*places: str) -> set[str]:
    ways = ("print", "the stream", "the descriptor")
    return {f"{place} by {way}" for place in places for way in ways}


def test_what_a_tool_prints_goes_to_standard_error(home: Path, loud: Path) -> None:
    answer = start("call", "loud", "--from", str(loud), home=home)
    assert answer.status == 0
    assert json.loads(answer.out)["result"] == {"text": "quiet"}
    said = _shouts("loaded", "called", "left") | {"called by a child"}
    assert set(answer.err.splitlines()) == said


@pytest.mark.parametrize("verb", ["tools", "doctor"])
def test_what_a_tool_file_prints_goes_to_standard_error(home: Path, loud: Path, verb: str) -> None:
    (home / "config.toml").write_text(f'[tools]\nfiles = ["{loud}"]\n', "utf-8")
    bare = ("--profile", "bare") if verb == "tools" else ()
    answer = start(verb, "--json", *bare, home=home)
    assert (answer.status, len(json.loads(answer.out))) == (0, {"tools": 2, "doctor": 2}[verb])
    assert set(answer.err.splitlines()) == _shouts("loaded", "left")


def test_errors_too_are_all_that_is_on_standard_output(home: Path, loud: Path) -> None:
    answer = start("tools", "lod", "--json", "--from", str(loud), home=home)
    assert answer.status == 2
    assert json.loads(answer.out) == {"error": "there is no tool 'lod'; did you mean 'loud'?"}


def test_a_caller_in_this_process_gets_its_streams_back(
    home: Path, loud: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    loud.write_text(LOUD.replace('atexit.register(shout, "left")', ""), "utf-8")
    before = (sys.stdout, os.fstat(1).st_ino)
    assert main(["call", "loud", "--from", str(loud)]) == 0
    assert (sys.stdout, os.fstat(1).st_ino) == before
    os.write(1, b"after\n")
    captured = capfd.readouterr()
    envelope, after = captured.out.splitlines()
    assert (json.loads(envelope)["result"], after) == ({"text": "quiet"}, "after")
    assert "called by the descriptor" in captured.err


def test_output_that_is_kept_in_memory_is_untouched(cli: Cli, loud: Path) -> None:
    loud.write_text(LOUD.replace('atexit.register(shout, "left")', ""), "utf-8")
    answer = cli("call", "loud", "--from", str(loud))
    assert json.loads(answer.out)["result"] == {"text": "quiet"}
    assert "called by print" in answer.err.splitlines()


@pytest.mark.parametrize("closed", [">&-", ">&- <&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_reason_to_crash(home: Path, tool_file: Path, closed: str) -> None:
    result = subprocess.run(
        ["/bin/sh", "-c", f"'{HOLDFAST}' call say text=x --from '{tool_file}' {closed}"],
        capture_output=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        check=False,
        timeout=15,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert (result.stdout == b"") == (">&-" in closed.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_answer_that_cannot_be_written_is_still_a_failure(home: Path, tool_file: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [str(HOLDFAST), "call", "say", "text=x", "--from", str(tool_file)],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
            check=False,
            timeout=15,
        )
    assert result.returncode == 1
    assert result.stderr.startswith(b"holdfast: cannot write the answer (No space left")


@pytest.fixture
def descriptors() -> "Descriptors":
    return Descriptors()


class Descriptors:
    """Descriptors 1 and 2 of this process, replaced for a while."""

    def __init__(self) -> None:
        self.read = b""

    def run(self, *, for_good: bool, err: bool = True) -> str:
        """Guard real descriptors and print through both; returns what was on standard error."""
        kept = os.dup(1), os.dup(2)
        reading, writing = os.pipe()
        heard, saying = os.pipe()
        streams = sys.stdout
        try:
            os.dup2(writing, 1)
            os.dup2(saying, 2) if err else os.close(2)
            os.close(writing)
            os.close(saying)
            out = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - closed where the stream is given back
            sys.stdout = out
            screen = Screen(out, io.StringIO())
            with tools_speak_aside(screen, for_good=for_good):
                os.write(1, b"tool\n")
                screen.raw("answer")
            os.write(1, b"after\n")
            out.close()
        finally:
            sys.stdout = streams
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])
        self.read = os.read(reading, 1000)
        said = os.read(heard, 1000).decode() if err else ""
        os.close(reading)
        os.close(heard)
        return said


def test_descriptor_1_comes_back_unless_the_process_ends(descriptors: Descriptors) -> None:
    assert descriptors.run(for_good=False) == "tool\n"
    assert descriptors.read == b"answer\nafter\n"
    assert descriptors.run(for_good=True) == "tool\nafter\n"
    assert descriptors.read == b"answer\n"


def test_without_standard_error_what_tools_print_is_lost(descriptors: Descriptors) -> None:
    descriptors.run(for_good=False, err=False)
    assert descriptors.read == b"answer\nafter\n"
