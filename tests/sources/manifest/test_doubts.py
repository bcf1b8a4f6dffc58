"""What is told of a manifest that the format lets pass."""

import json
import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.manifest.entries import ManifestProblem, load_manifest
from holdfast.sources.manifest.first_line import start_doubt
from holdfast.sources.manifest.key_doubts import key_doubts


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("inputSchema", "schema"),
        ("input_schema", "schema"),
        ("parameters", "schema"),
        ("timeout", "timeoutSec"),
        ("timeout_sec", "timeoutSec"),
        ("cmd", "command"),
        ("Command", "command"),
        ("commmand", "command"),
        ("env", "envPassthrough"),
        ("envPassThrough", "envPassthrough"),
        ("require", "requires"),
        ("descripton", "description"),
    ],
)
def test_a_key_that_is_nearly_one_is_told_of(written: str, meant: str) -> None:
    found = key_doubts(json.dumps({"tools": [{"name": "t", written: 1}]}).encode())
    assert found == (
        f'tool[0] "t": "{written}" is no key of a manifest and is passed over; write "{meant}"',
    )


def test_keys_of_other_loaders_are_their_own_business() -> None:
    entry: dict[str, object] = {
        "name": "t",
        "retries": 2,
        "comment": "x",
        "schema": {},
        "parameters": {},
    }
    content = json.dumps({"version": 3, "$schema": "x", "tools": [entry, None, 5]}).encode()
    assert key_doubts(content) == ()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"requires.net.hosts": ["127.0.0.1:80"]},
            '"requires.net.hosts" is no key of a manifest and is passed over; write'
            ' "requires": {"net": {"hosts": ["127.0.0.1:80"]}}',
        ),
        (
            {"fs.read": ["ä"], "requires": {"fs": {"write": ["out/**"]}, "shell": []}},
            '"fs.read" is no key of a manifest and is passed over; write'
            ' "requires": {"fs": {"write": ["out/**"], "read": ["ä"]}, "shell": []}',
        ),
        (
            {"requires.net.hosts": "a\u200b", "requires.fs.write": None, "requires": 1},
            '"requires.net.hosts", "requires.fs.write" are no keys of a manifest and are passed'
            ' over; write "requires": {"net": {"hosts": "a\\u200b"}, "fs": {"write": null}}',
        ),
    ],
)
def test_a_requirement_as_it_is_spoken_of_is_shown_as_it_is_written(
    keys: dict[str, object], said: str
) -> None:
    found = key_doubts(json.dumps({"tools": [{"name": "t", **keys}]}).encode())
    assert found == (f'tool[0] "t": {said}',)


def test_a_root_without_tools_is_told_of() -> None:
    assert key_doubts(b'{"tool": []}') == (
        '"tool" is no key of a manifest and is passed over; write "tools"',
        'there is no "tools" in it, so that it declares no tool',
    )
    assert len(key_doubts(b"{}")) == 1


@given(st.binary() | st.recursive(st.none() | st.text(), st.lists).map(msgspec.json.encode))
def test_nothing_is_said_of_what_is_no_manifest(content: bytes) -> None:
    assert all("key of a manifest" in one or "no tool" in one for one in key_doubts(content))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"tools": [\n  {"name": "\xc3\xa4",}]}', "trailing comma in object (line 2, column 16)"),
        (b'{\n"tools": [', "the text ends too early (line 2, column 11)"),
        (b" \n", "the file is empty"),
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf{}", "it begins with a byte-order mark"),
        (b"{}\n{}", "(line 2, "),
    ],
)
def test_a_mistake_in_the_text_is_found_by_line_and_column(content: bytes, said: str) -> None:
    problem = load_manifest(content, "/x")
    assert isinstance(problem, ManifestProblem)
    assert problem.text.startswith("parse manifest: ")
    assert said in problem.text


@given(st.binary(max_size=40) | st.text('{}[],:"a1\n ä', max_size=40).map(str.encode))
def test_no_place_is_told_in_bytes(content: bytes) -> None:
    problem = load_manifest(content, "/x")
    if isinstance(problem, ManifestProblem):
        assert "(byte " not in problem.text


@pytest.mark.parametrize(
    "requires", [{"read": ["/srv"]}, {"hosts": ["a.example"], "fs": {}}, {"net.hosts": []}]
)
def test_requirements_in_the_form_of_a_configuration_are_told_the_right_one(
    requires: dict[str, object],
) -> None:
    entry = {"name": "t", "command": ["/bin/true"], "requires": requires}
    problem = load_manifest(json.dumps({"tools": [entry]}).encode(), "/x")
    assert isinstance(problem, ManifestProblem)
    assert problem.text.startswith('tool[0] "t": requires: ')
    assert '{"fs": {"read": [...], "write": [...]}, "net": {"hosts": [...]}}' in problem.text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"#!/bin/sh\necho\n", None),
        (b"#! /bin/sh -e\n", None),
        (b"\x7fELF\x02", None),
        (b"echo hi\n", "does it begin with #!"),
        (b"", "does it begin with #!"),
        (b"#!\necho\n", "names no interpreter"),
        (b"#!/bin/sh\r\necho\r\n", "carriage return"),
        (b"#!/no/such/python\n", "/no/such/python, which is not there"),
    ],
)
def test_how_a_program_would_be_started_is_looked_at(
    tmp_path: Path, content: bytes, said: str | None
) -> None:
    program = tmp_path / "program"
    program.write_bytes(content)
    found = start_doubt(str(program))
    assert found is None if said is None else said in (found or "")


def test_a_program_that_cannot_be_looked_at_is_no_doubt_of_this_kind(tmp_path: Path) -> None:
    for program in (str(tmp_path / "none"), str(tmp_path), "\x00"):
        assert start_doubt(program) is None


def test_a_pipe_in_the_place_of_a_program_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert start_doubt(str(tmp_path / "pipe")) is not None
