"""`holdfast serve`: where it listens, for whom, and what keeps it from beginning."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agent_scripts import says, script
from command import HOLDFAST, Cli, start
from http_process import serving, wait_for

TOKEN = "a-token-of-twenty-four-x"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.mark.measured
def test_it_tells_where_it_listens_and_ends_when_it_is_told_to(home: Path, work: Path) -> None:
    with serving(home, work) as server:
        told = server.told
        assert told["kind"] == "listening"
        assert told["address"].startswith("http://127.0.0.1:")
        assert told["console"] == f"{told['address']}/?token={told['token']}"
        facts = server.get("/server")
        assert facts["workspace"] == str(work)
        model = script(work.parent, says("Hello."))
        session = server.post("/sessions", 201, message="Hi.", model=model)["id"]
        row = server.until(f"/sessions/{session}", lambda row: row["turns"] == 1)
        assert row["model"] == model
        server.signal()
        assert server.ended() == 0
    again = start("sessions", "show", session, home=home)
    assert "Hello." in again.out
    elsewhere = work.parent / "another"
    elsewhere.mkdir(mode=0o700)
    with serving(elsewhere, work) as server:
        assert server.get("/sessions")["sessions"] == []
        assert server.told["token"] != told["token"]
        server.signal(signal.SIGINT)
        assert server.ended() == 0


@pytest.mark.measured
@pytest.mark.parametrize("way", ["variable", "file"])
def test_a_token_that_is_given_is_not_told_again(
    home: Path, work: Path, tmp_path: Path, way: str
) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", "utf-8")
    words = ("--token-file", str(file)) if way == "file" else ()
    variables = {"HOLDFAST_SERVE_TOKEN": TOKEN if way == "variable" else "x" * 30}
    with serving(home, work, *words, token=TOKEN, variables=variables) as server:
        assert TOKEN not in json.dumps(server.told)
        assert server.told["console"] == server.told["address"]
        assert server.get("/server")
        stranger = server.client.get("/server", headers={"authorization": "Bearer wrong"})
        assert stranger.status_code == 401


@pytest.mark.measured
@pytest.mark.parametrize("given", [True, False])
def test_a_person_is_told_how_to_come_in(home: Path, work: Path, *, given: bool) -> None:
    variables = {**os.environ, "HOLDFAST_HOME": str(home)}
    variables |= {"HOLDFAST_SERVE_TOKEN": TOKEN} if given else {}
    with subprocess.Popen(
        [str(HOLDFAST), "serve", "--port", "0", "--workspace", str(work)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            process.terminate()
            _, remarks = process.communicate(timeout=15)
        finally:
            process.kill()
    assert line.startswith("the console: http://127.0.0.1:")
    assert ("/?token=" in line) is not given
    assert ("it asks for the token that this was started with" in remarks) is given
    assert TOKEN not in line + remarks


@pytest.mark.measured
def test_a_port_that_is_in_use_is_told(home: Path, work: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = start("serve", "--port", str(port), "--workspace", str(work), home=home)
    assert (answer.status, answer.out) == (2, "")
    assert "choose another port" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "0.0.0.0:0"), "--expose HOSTNAME"),
        (("--port", "box:0"), "--expose HOSTNAME"),
        (("--port", "65536"), "there is no such port"),
        (("--port", "0", "--set", "store.kind=none"), "store.kind"),
        (("--port", "0", "--token-file", "/nowhere/at/all"), "--token-file"),
        (("--port", "0", "--profile", "unheard"), "unheard"),
    ],
)
@pytest.mark.measured
def test_what_keeps_it_from_beginning_is_told(
    cli: Cli, work: Path, words: tuple[str, ...], said: str
) -> None:
    answer = cli("serve", *words, "--workspace", str(work))
    assert (answer.status, answer.out) == (2, ""), answer
    assert said in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.measured
def test_a_store_that_is_damaged_is_told(home: Path, work: Path) -> None:
    (home / "data").mkdir(mode=0o700)
    (home / "data" / "holdfast.db").write_bytes(b"this is no database, and never was" * 99)
    answer = start("serve", "--port", "0", "--workspace", str(work), home=home)
    assert (answer.status, answer.out) == (1, "")
    assert "it is damaged" in answer.err
    assert "unexpected" not in answer.err


@pytest.mark.measured
def test_the_address_of_all_addresses_is_told_as_one_that_can_be_opened(
    home: Path, work: Path
) -> None:
    with serving(home, work, "--port", "0.0.0.0:0", "--expose", "box.example") as server:
        assert server.told["address"].startswith("http://127.0.0.1:")
        assert server.get("/server")


def test_a_short_token_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_SERVE_TOKEN", "short")
    answer = cli("serve", "--port", "0")
    assert (answer.status, "16 plain characters" in answer.err) == (2, True)


def test_a_part_that_is_missing_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "holdfast.surfaces.http.server", None)
    answer = cli("serve", "--port", "0")
    assert (answer.status, "pip install 'holdfast[serve]'" in answer.err) == (2, True)


def test_its_help_shows_how_it_is_used(cli: Cli) -> None:
    answer = cli("serve", "--help")
    assert answer.status == 0
    for said in ("holdfast serve --port 0 --json", "--token-file", "--expose"):
        assert said in answer.out


@pytest.mark.measured
def test_an_exposed_name_is_let_in_and_no_other(home: Path, work: Path) -> None:
    words = ("--expose", "box.example")
    with serving(home, work, *words) as server:
        ours = server.client.get("/server", headers={"host": "box.example"})
        theirs = server.client.get("/server", headers={"host": "evil.example"})
        assert (ours.status_code, theirs.status_code) == (200, 403)


def test_nothing_is_left_of_it_when_it_is_hung_up(home: Path, work: Path) -> None:
    with serving(home, work) as server:
        server.signal(signal.SIGHUP)
        assert server.ended() == 0
        pid = server.process.pid
        wait_for(lambda: Path(f"/proc/{pid}").exists(), lambda there: not there)


@pytest.mark.parametrize(
    ("made_up", "said"), [(True, "/?token=kept"), (False, "asks for the token")]
)
def test_a_person_is_told_where_it_listens(
    cli: Cli, work: Path, monkeypatch: pytest.MonkeyPatch, *, made_up: bool, said: str
) -> None:
    async def serve(_parts: object, _listening: object, _page: object, tell: Any) -> None:
        tell(SimpleNamespace(address="http://127.0.0.1:1", token="kept", made_up=made_up))

    monkeypatch.setattr("holdfast.surfaces.http.server.serve", serve)
    answer = cli("serve", "--workspace", str(work))
    assert answer.status == 0
    assert "the console: http://127.0.0.1:1" in answer.out
    assert said in answer.out + answer.err


def test_what_goes_wrong_in_several_ways_is_nobodys_words(
    cli: Cli, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def serve(*_: object) -> None:
        raise ExceptionGroup("both", [ValueError("one"), ValueError("other")])

    monkeypatch.setattr("holdfast.surfaces.http.server.serve", serve)
    answer = cli("serve", "--workspace", str(work))
    assert (answer.status, "unexpected ExceptionGroup" in answer.err) == (1, True)
