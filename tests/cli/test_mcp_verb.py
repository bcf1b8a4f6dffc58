"""What `holdfast mcp` takes, and what it says to everything else."""

import os
import sys
from pathlib import Path

import pytest
from command import Cli

from holdfast.app.environment import MCP_TOKEN_VARIABLE
from holdfast.surfaces.cli import serving_words
from holdfast.surfaces.cli.parsing import UsageError


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("8765", "127.0.0.1", 8765),
        ("0", "127.0.0.1", 0),
        (":8765", "127.0.0.1", 8765),
        ("localhost:80", "localhost", 80),
        ("[::1]:80", "::1", 80),
        ("0.0.0.0:65535", "0.0.0.0", 65535),
    ],
)
def test_an_address_is_a_port_and_maybe_a_host(text: str, host: str, port: int) -> None:
    assert serving_words.address_in(text) == (host, port)


@pytest.mark.parametrize("text", ["", "x", "65536", "-1", "host:", "1.5", "²"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no such port"):
        serving_words.address_in(text)


def test_a_token_comes_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.delenv("HOLDFAST_MCP_TOKEN", raising=False)
    assert serving_words.token_from(None, MCP_TOKEN_VARIABLE, told.append) is None
    monkeypatch.setenv("HOLDFAST_MCP_TOKEN", "from-the-environment")
    assert serving_words.token_from(None, MCP_TOKEN_VARIABLE, told.append) == "from-the-environment"
    path = tmp_path / "token"
    path.write_text("from-a-file-of-mine\n", "utf-8")
    assert (
        serving_words.token_from(str(path), MCP_TOKEN_VARIABLE, told.append)
        == "from-a-file-of-mine"
    )
    for weak in ("short", "with spaces in between them", "ünïcödé-is-not-plain-enough"):
        path.write_text(weak, "utf-8")
        with pytest.raises(UsageError, match="16 plain characters"):
            serving_words.token_from(str(path), MCP_TOKEN_VARIABLE, told.append)
    path.write_bytes(b"\xff" * 20)
    with pytest.raises(UsageError, match="--token-file"):
        serving_words.token_from(str(path), MCP_TOKEN_VARIABLE, told.append)


@pytest.mark.parametrize(("mode", "others"), [(0o600, False), (0o400, False), (0o640, True)])
def test_a_token_that_others_can_read_is_told(tmp_path: Path, mode: int, *, others: bool) -> None:
    told: list[str] = []
    path = tmp_path / "token"
    path.write_text("from-a-file-of-mine\n", "utf-8")
    path.chmod(mode)
    token = serving_words.token_from(str(path), MCP_TOKEN_VARIABLE, told.append)
    assert token == "from-a-file-of-mine"
    words = f"--token-file {path} can be read by others; run: chmod 600 {path}"
    assert told == ([words] if others else [])


def test_the_variable_of_the_token_is_no_setting(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_MCP_TOKEN", "from-the-environment")
    assert cli("tools").status == 0


def test_without_the_part_for_http_it_says_what_to_install(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "holdfast.surfaces.mcp.http_server", None)
    answered = cli("mcp", "--http", "0")
    assert (answered.status, "pip install 'holdfast[serve]'" in answered.err) == (2, True)


def test_a_bind_that_others_reach_needs_names(cli: Cli) -> None:
    answered = cli("mcp", "--http", "0.0.0.0:0")
    assert (answered.status, "--expose HOSTNAME" in answered.err) == (2, True)


def test_the_rest_is_said_plainly(cli: Cli) -> None:
    assert "are for --http" in cli("mcp", "--expose", "x").err
    assert "mcp does not know 'nonsense'" in cli("mcp", "nonsense").err
    assert "holdfast mcp --http 8765" in cli("mcp", "--help").out


def test_it_answers_on_the_streams_of_this_process(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    said.write_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    heard = tmp_path / "heard"
    kept = os.dup(0), os.dup(1)
    with said.open("rb") as stdin, heard.open("wb") as stdout:
        os.dup2(stdin.fileno(), 0)
        os.dup2(stdout.fileno(), 1)
        try:
            with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
                monkeypatch.setattr(sys, "stdout", out)
                status = cli("mcp").status
        finally:
            os.dup2(kept[0], 0)
            os.dup2(kept[1], 1)
            for one in kept:
                os.close(one)
    assert status == 0
    assert heard.read_bytes() == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
