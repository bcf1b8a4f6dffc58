"""The server as a process behind a pipe: whatever comes in, it answers, and it ends in order."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from command import HOLDFAST
from mcp_pipe import GREETING, Piped
from mcp_process import variables

pytestmark = pytest.mark.timeout(60)


def test_garbage_is_answered_and_the_next_message_too(piped: Piped) -> None:
    piped.write(b"garbage\n\n  \n\xff\xfe\n[]\n[1]\n7\n" + b"[" * 200_000 + b"\n")
    codes = [piped.hear()["error"]["code"] for _ in range(6)]
    assert codes == [-32700, -32700, -32600, -32600, -32600, -32600]
    piped.greet()


def test_a_message_without_end_is_passed_over(piped: Piped) -> None:
    for _ in range(17):
        piped.write(b"x" * 1024 * 1024)
    assert piped.hear()["error"]["code"] == -32600
    piped.write(b"still the same line\n")
    piped.greet()


def test_what_tools_print_and_read_does_not_touch_the_protocol(piped: Piped) -> None:
    piped.greet()
    piped.call(1, "add", a=1)
    assert piped.hear()["result"]["structuredContent"] == {"sum": 2}


def test_the_end_of_input_ends_it_when_all_is_answered(piped: Piped) -> None:
    piped.greet()
    for own in range(1, 20):
        piped.call(own, "add", a=own)
    piped.stdin.close()
    answers = [json.loads(line) for line in piped.stdout]
    assert sorted(one["id"] for one in answers) == list(range(1, 20))
    assert piped.process.wait(20) == 0


def test_the_end_of_input_stops_what_is_under_way(piped: Piped, tmp_path: Path) -> None:
    piped.greet()
    piped.call(1, "hang", marks=str(tmp_path))
    piped.call(2, "add", a=1)
    assert piped.hear()["id"] == 2
    while not (tmp_path / "began").exists():
        pass
    piped.stdin.close()
    assert piped.process.wait(20) == 0
    assert (tmp_path / "ended").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(piped: Piped, tmp_path: Path, number: int) -> None:
    piped.greet()
    piped.call(1, "hang", marks=str(tmp_path))
    while not (tmp_path / "began").exists():
        pass
    piped.process.send_signal(number)
    assert piped.process.wait(20) == 0
    assert (tmp_path / "ended").exists()


@pytest.mark.measured
def test_nobody_who_reads_ends_it(piped: Piped) -> None:
    piped.greet()
    piped.stdout.close()
    piped.say({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert piped.process.wait(20) == 0


def test_a_client_that_does_not_read_loses_no_answer(piped: Piped) -> None:
    piped.greet()
    for own in range(1, 400):
        piped.say({"jsonrpc": "2.0", "id": own, "method": "tools/list"})
    piped.call(1000, "count", to=3000)
    found = {piped.hear().get("id") for _ in range(400)}
    assert found == {*range(1, 400), 1000}


def test_input_that_is_a_file_works_as_well(tool_file: Path, tmp_path: Path) -> None:
    said = tmp_path / "said.txt"
    said.write_text(json.dumps(GREETING), "utf-8")
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with said.open("rb") as stdin:
        done = subprocess.run(
            [str(HOLDFAST), "mcp", "--workspace", str(tmp_path), "--from", str(tool_file)],
            stdin=stdin,
            capture_output=True,
            env=variables(home),
            check=False,
            timeout=30,
        )
    assert json.loads(done.stdout)["id"] == 0
    assert done.returncode == 0


def test_without_any_input_it_says_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    done = subprocess.run(
        [str(HOLDFAST), "mcp", "--workspace", str(tmp_path)],
        capture_output=True,
        env=variables(home),
        check=False,
        timeout=30,
        preexec_fn=lambda: os.close(0),
    )
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr
