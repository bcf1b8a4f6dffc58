"""`holdfast mcp add`: what a person types, as a server that can be started from anywhere."""

import json
import os
import sys
from pathlib import Path

import pytest
from command import Cli
from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.cli.mcp_file import header_of


def written(home: Path, name: str) -> dict[str, object]:
    return json.loads((home / "mcp.json").read_text("utf-8"))["mcpServers"][name]


def test_files_are_named_in_full_and_nothing_else_is(cli: Cli, home: Path, tmp_path: Path) -> None:
    (tmp_path / "server.py").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "run").touch()
    (tmp_path / "python").touch()
    words = ("python", "server.py", "data", ".", "-v", "none.py", "sub/../server.py")
    (tmp_path / "sub").mkdir()
    added = cli("mcp", "add", "a", "--", *words)
    assert added.status == 0
    full = str(tmp_path / "server.py")
    assert written(home, "a") == {
        "command": "python",
        "args": [full, "data", ".", "-v", "none.py", full],
    }
    assert f"note: server.py is written as {full}" in added.err
    assert "'data'" not in added.err
    assert "note: there is no file 'none.py'" in added.err
    assert cli("mcp", "add", "b", "--", "./run").status == 0
    assert written(home, "b")["command"] == str(tmp_path / "run")


def test_a_word_that_can_be_no_path_stays(cli: Cli, home: Path) -> None:
    odd = "x" * 5000
    assert cli("mcp", "add", "a", "--", "sh", odd).err == ""
    assert written(home, "a")["args"] == [odd]


@pytest.mark.parametrize("name", ["a b", "a.b", "a:b", "", "-", "ä", "a" * 65, "a/b", "_a"])
def test_a_name_that_would_need_quotes_is_refused(cli: Cli, home: Path, name: str) -> None:
    answered = cli("mcp", "add", "--", name, "x")
    assert answered.status == 2
    assert "letters, digits, hyphens and underscores" in answered.err
    assert not (home / "mcp.json").exists()


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("A=b", "A", "b"),
        ("A: b", "A", "b"),
        ("A:b", "A", "b"),
        ("Authorization: Basic YQ==", "Authorization", "Basic YQ=="),
        ("X-Place=http://a:1", "X-Place", "http://a:1"),
        ("A=", "A", ""),
    ],
)
def test_headers_are_given_in_either_form(
    cli: Cli, home: Path, given: str, name: str, value: str
) -> None:
    assert cli("mcp", "add", "a", "https://x.example", "--header", given).status == 0
    assert written(home, "a")["headers"] == {name: value}


@pytest.mark.parametrize("given", ["A", "=b", ": b", "A b: c"])
def test_what_is_no_header_is_told(cli: Cli, given: str) -> None:
    answered = cli("mcp", "add", "a", "https://x.example", "--header", given)
    assert answered.status == 2
    assert "write NAME=VALUE, NAME: VALUE" in answered.err


_TOKEN = st.text("abcXYZ-_09", min_size=1)


@given(_TOKEN, st.text(), st.sampled_from(["=", ":", ": "]))
def test_name_and_value_of_a_header_come_back(name: str, value: str, between: str) -> None:
    meant = value.lstrip() if between != "=" else value
    assert header_of(f"{name}{between}{value}") == (name, meant)


@pytest.mark.parametrize("place", [".mcp.json", "mcp.json", ".vscode/mcp.json"])
def test_a_server_of_another_program_is_pointed_at(
    cli: Cli, home: Path, tmp_path: Path, place: str
) -> None:
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"mcpServers": {"theirs": {"command": sys.executable}}}), "utf-8")
    for words in (("test", "theirs"), ("pin", "theirs")):
        answered = cli("mcp", *words)
        assert answered.status == 2
        assert f"{file} has it" in answered.err
        assert str(home / "mcp.json") in answered.err
    assert str(file) not in cli("mcp", "test", "other").err
    assert f"{file} has servers" in cli("mcp", "list").err


def test_a_strangers_file_can_be_anything(cli: Cli, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".mcp.json")
    (tmp_path / "mcp.json").write_text("{", "utf-8")
    answered = cli("mcp", "test", "x")
    assert answered.status == 2
    assert "No MCP server is configured" in answered.err


@pytest.mark.parametrize("word", ["htp://y", "ftp://y/z", "ws://y", "://"])
def test_an_address_of_another_kind_is_refused(cli: Cli, home: Path, word: str) -> None:
    for words in ((word,), ("--", word)):
        answered = cli("mcp", "add", "x", *words)
        assert answered.status == 2
        assert "reached by http:// and https:// alone" in answered.err
    assert not (home / "mcp.json").exists()


def test_without_two_hyphens_a_program_has_to_be_there(cli: Cli, home: Path) -> None:
    refused = cli("mcp", "add", "two", "no-such-a", "b c")
    assert refused.status == 2
    assert "there is no program 'no-such-a'" in refused.err
    assert "holdfast mcp add two -- no-such-a 'b c'" in refused.err
    assert not (home / "mcp.json").exists()
    assert cli("mcp", "add", "two", "sh", "b").err == ""
    assert written(home, "two") == {"command": "sh", "args": ["b"]}


def test_what_will_not_start_is_written_down_with_a_note(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "run").write_text("#!/bin/sh\n", "utf-8")
    assert "note: there is no program 'no-such-a'" in cli("mcp", "add", "a", "--", "no-such-a").err
    assert "run' is not executable; run: chmod +x" in cli("mcp", "add", "b", "--", "./run").err
    missing = cli("mcp", "add", "c", "--", "sh", "x/y.py", "-v", "z.js", "https://a/b.js").err
    assert "there is no file 'x/y.py'" in missing
    assert "there is no file 'z.js'" in missing
    assert missing.count("there is no file") == 2
    assert [written(home, name)["command"] for name in "abc"] == [
        "no-such-a",
        str(tmp_path / "run"),
        "sh",
    ]


def test_a_variable_that_is_not_set_here_is_nobodys_fault(cli: Cli) -> None:
    assert cli("mcp", "add", "a", "--", "${NO_SUCH_VARIABLE}/x").err == ""


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://me:word@a.example/mcp", "give them as a header"),
        ("http://[", "its url is no address"),
        ("HTTPS://a.example/mcp", ""),
    ],
)
def test_an_address_that_is_doubtful_is_written_down_with_a_note(
    cli: Cli, home: Path, address: str, said: str
) -> None:
    added = cli("mcp", "add", "a", address)
    assert added.status == 0
    assert said in added.err
    assert bool(said) == bool(added.err)
    assert written(home, "a")["url"] == address
