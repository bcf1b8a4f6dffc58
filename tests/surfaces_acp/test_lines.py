"""The pipe itself: whatever a client writes, the next line is answered, and no word is lost."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from acp_editor import ASKS_ABOUT_BASH, Place, turn
from command import HOLDFAST, start

from holdfast.surfaces.acp import pipe

pytestmark = [pytest.mark.timeout(60), pytest.mark.measured]

HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


def _lines(*messages: object) -> bytes:
    return b"".join(
        (one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in messages
    )


def _agent(place: Place, stdin: bytes, *words: str) -> tuple[list[Any], str]:
    given = ("acp", "--model", place.script({"text": "Hello."}), *words)
    done = start(*given, home=place.home, stdin=stdin, cwd=place.work)
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()], done.err


def test_requests_that_came_before_the_end_of_input_are_answered(place: Place) -> None:
    (answer,), _ = _agent(place, _lines(HELLO))
    assert answer["result"]["protocolVersion"] == 1


def test_what_is_no_message_is_refused_and_passed_over(place: Place) -> None:
    aside = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 7}}
    unknown = {"jsonrpc": "2.0", "id": 2, "method": "session/fly"}
    odd: dict[str, Any] = {"jsonrpc": "2.0", "id": 3, "method": []}
    deep = b"[" * 100_000
    written = _lines(b"no json", b"", [HELLO], deep, aside, unknown, odd, {"id": 9}, HELLO)
    answers, err = _agent(place, written)
    codes = [one["error"]["code"] for one in answers if "error" in one]
    assert sorted(codes) == sorted([-32700, -32600, -32700, -32601, -32603])
    assert [one["id"] for one in answers if "result" in one] == [1]
    assert "cancel_request" not in err


@pytest.mark.parametrize("times", [1, 2])
def test_a_message_that_is_too_long_is_refused_once(place: Place, times: int) -> None:
    long = b'{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"' + b"y" * pipe.MOST_BYTES * times
    answers, _ = _agent(place, long + b'"}}\n' + _lines(HELLO))
    assert [one.get("error", {}).get("code") for one in answers] == [-32600, None]


def test_params_that_do_not_fit_are_named(place: Place) -> None:
    bad = {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": 7}}
    (answer,), _ = _agent(place, _lines(bad))
    assert answer["error"]["code"] == -32602
    assert "sessionId" in str(answer["error"]["data"])


def test_without_a_client_it_ends_at_once(place: Place) -> None:
    with Path(os.devnull).open("rb") as nothing:
        done = subprocess.run(
            [str(HOLDFAST), "acp", "--model", place.script({"text": "Hello."})],
            stdin=nothing,
            capture_output=True,
            env={**os.environ, "HOLDFAST_HOME": str(place.home)},
            check=False,
            timeout=15,
        )
    assert (done.returncode, done.stdout) == (0, b"")


NOISY = """
import os, sys
from holdfast import tool

print("loaded")

@tool
def shout(text: str) -> str:
    '''Say it.'''
    print(text)
    os.write(1, b"by the descriptor\\n")
    return sys.stdin.read() + "."
"""


@contextmanager
def _running(place: Place, *words: str) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [str(HOLDFAST), "acp", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "HOLDFAST_HOME": str(place.home)},
        cwd=place.work,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _asked(process: subprocess.Popen[bytes], number: int, method: str, **params: object) -> Any:
    """What came of a request, the notifications before it left out."""
    assert process.stdin is not None
    assert process.stdout is not None
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(_lines(request))
    process.stdin.flush()
    while True:
        message = json.loads(process.stdout.readline())  # whatever else is printed is no JSON
        if message.get("id") == number:
            return message


def test_what_tools_print_goes_elsewhere(place: Place) -> None:
    tools = place.home.parent / "noisy.py"
    tools.write_text(NOISY, "utf-8")
    model = place.script(turn(("shout", {"text": "hey"})), {"text": "Done."})
    with _running(place, "--from", str(tools), "--model", model) as process:
        _asked(process, 1, "initialize", protocolVersion=1)
        begun = _asked(process, 2, "session/new", cwd=str(place.work), mcpServers=[])
        session = begun["result"]["sessionId"]
        said = [{"type": "text", "text": "Shout."}]
        ended = _asked(process, 3, "session/prompt", sessionId=session, prompt=said)
        assert ended["result"] == {"stopReason": "end_turn"}
        _out, err = process.communicate(timeout=15)
        assert b"hey" in err
        assert b"by the descriptor" in err
        assert process.returncode == 0


def test_an_agent_whose_output_nobody_reads_ends(place: Place) -> None:
    with _running(place, "--model", place.script({"text": "Hello."})) as process:
        _asked(process, 1, "initialize", protocolVersion=1)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(_lines({**HELLO, "id": 2}))
        process.stdin.flush()
        assert process.wait(10) == 0


def test_what_is_wrong_is_said_before_an_editor_waits(place: Place) -> None:
    home = place.home
    (home / "config.toml").write_text(
        '[agent.below]\nmode = "subagent"\ndescription = "x"\n', "utf-8"
    )
    done = start("acp", "--agent", "below", home=home, cwd=place.work)
    assert (done.status, "other agents hand work to it" in done.err) == (2, True)
    done = start("acp", "--workspace", "none", home=home, cwd=place.work)
    assert (done.status, "there is no such directory" in done.err) == (2, True)


def test_without_the_sdk_it_says_what_to_install(place: Place, tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['acp'] = None;"
        "from holdfast.surfaces.cli.entry import main; sys.exit(main(['acp']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        env={**os.environ, "HOLDFAST_HOME": str(place.home)},
        cwd=tmp_path,
        check=False,
        timeout=15,
    )
    assert done.returncode == 2
    assert b"pip install 'holdfast[acp]'" in done.stderr


def test_the_workspace_of_the_command_line_counts_before_the_editor_s(place: Place) -> None:
    other = place.home.parent / "other"
    other.mkdir()
    model = place.script(turn(("write", {"path": "a.txt", "content": "a"})), {"text": "Done."})
    with _running(place, "--model", model, "--workspace", str(other)) as process:
        _asked(process, 1, "initialize", protocolVersion=1)
        begun = _asked(process, 2, "session/new", cwd=str(place.work), mcpServers=[])
        said = [{"type": "text", "text": "Write."}]
        _asked(process, 3, "session/prompt", sessionId=begun["result"]["sessionId"], prompt=said)
    assert (other / "a.txt").read_text("utf-8") == "a"


ALLOWED: dict[str, Any] = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


@pytest.mark.parametrize(
    ("said", "is_answered"),
    [
        ({"id": [0], "result": ALLOWED}, False),
        ({"id": {}, "error": {}}, False),
        ({"id": "0", "result": ALLOWED}, False),
        ({"id": False, "result": ALLOWED}, False),
        ({"id": 0.0, "result": ALLOWED}, False),
        ({"id": 0, "error": "no"}, True),
        ({"id": 0, "error": None}, True),
        ({"id": 0, "error": {"code": "x", "message": ["y"]}}, True),
        ({"id": 0, "error": {"code": 1, "message": "y"}, "result": ALLOWED}, True),
        ({"id": 0, "result": 5}, True),
        ({"id": 0}, True),
    ],
    ids=json.dumps,
)
def test_what_is_not_quite_an_answer_allows_nothing_and_the_next_line_is_read(
    place: Place, said: dict[str, Any], is_answered: bool
) -> None:
    place.rules(ASKS_ABOUT_BASH)
    model = place.script(turn(("bash", {"command": "touch made"})), {"text": "Done."})
    with _running(place, "--model", model) as process:
        _asked(process, 1, "initialize", protocolVersion=1)
        begun = _asked(process, 2, "session/new", cwd=str(place.work), mcpServers=[])
        session = begun["result"]["sessionId"]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "Touch it."}]}
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            _lines({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt})
        )
        process.stdin.flush()
        while json.loads(process.stdout.readline()).get("method") != "session/request_permission":
            pass
        process.stdin.write(_lines({"jsonrpc": "2.0", **said}))
        if not is_answered:  # the person still can
            told = {"outcome": {"outcome": "selected", "optionId": "reject_once"}}
            process.stdin.write(_lines({"jsonrpc": "2.0", "id": 0, "result": told}))
        process.stdin.flush()
        while (message := json.loads(process.stdout.readline())).get("id") != 3:
            pass
        assert message["result"]["stopReason"] == "end_turn"
        assert not (place.work / "made").exists()
        _out, err = process.communicate(timeout=15)
        assert (process.returncode, err) == (0, b"")


def test_what_the_sdk_cannot_use_is_a_line_and_no_traceback(place: Place) -> None:
    astray: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "method": "session/cancel"},
        {"jsonrpc": "2.0", "method": "session/update", "params": []},
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "ses_of_nobody"}},
    ]
    (answer,), err = _agent(place, _lines(*astray, HELLO))
    assert answer["id"] == 1
    assert "Traceback" not in err
    assert [line.split(":")[0] for line in err.splitlines()] == ["holdfast"] * 2
    assert "ses_of_nobody" not in err  # a turn that has ended meanwhile is nothing to report
    debugged = start(
        *("acp", "--model", place.script({"text": "Hello."})),
        home=place.home,
        stdin=_lines(*astray),
        variables={"HOLDFAST_DEBUG": "1"},
    )
    assert "Traceback" in debugged.err


def test_half_a_character_is_told_by_a_mark(place: Place) -> None:
    with _running(place, "--model", place.script({"text": "Hello."})) as process:
        _asked(process, 1, "initialize", protocolVersion=1)
        begun = _asked(process, 2, "session/new", cwd=str(place.work), mcpServers=[])
        session = begun["result"]["sessionId"]
        said = [{"type": "text", "text": "a \ud83d b \U0001f600 c \udc00"}]
        ended = _asked(process, 3, "session/prompt", sessionId=session, prompt=said)
        assert ended["result"] == {"stopReason": "end_turn"}
        process.communicate(timeout=15)
    told = start("sessions", "show", "last", home=place.home, cwd=place.work)
    assert "a ? b \U0001f600 c ?" in told.out


@pytest.mark.parametrize("cwd", ["/a\0b", "/" + "x" * 5000], ids=["nothing", "long"])
def test_what_can_be_no_path_is_no_folder(place: Place, cwd: str) -> None:
    given: dict[str, object] = {"cwd": cwd, "mcpServers": []}
    asked = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        for number, method in enumerate(("session/new", "session/list"), 2)
    ]
    answers, err = _agent(place, _lines(*asked))
    assert err == ""
    assert [one["error"]["code"] for one in answers] == [-32602] * 2
    for one in answers:
        assert "is no folder here; give the whole path" in one["error"]["message"]
        assert len(one["error"]["message"]) < 400
