"""Who may come in over HTTP, and headers that have to say what the body says."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.http_door.rules import Door, headers_of, is_loopback, refused
from holdfast.surfaces.mcp.http_rules import argument_mismatch, mismatch

TOKEN = "a-token-of-the-tests"
OWN = {"host": "127.0.0.1:80", "authorization": f"Bearer {TOKEN}"}
DOOR = Door(("tools.example",), TOKEN)


def _headers(given: dict[str, str]) -> Any:
    return headers_of([(name.encode(), value.encode()) for name, value in given.items()])


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, None),
        ({"host": "localhost"}, None),
        ({"host": "[::1]:80"}, None),
        ({"host": "tools.example:443"}, None),
        ({"host": "TOOLS.example"}, None),
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"host": "[::1"}, 403),
        ({"host": ""}, 403),
        ({"origin": "http://localhost:3000"}, None),
        ({"origin": "https://tools.example"}, None),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"authorization": f"bearer {TOKEN}"}, None),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": f"Bearer {TOKEN}x"}, 401),
        ({"authorization": "Bearer é"}, 401),
    ],
)
def test_only_who_is_meant_comes_in(changed: dict[str, str], status: int | None) -> None:
    found = refused(DOOR, _headers({**OWN, **changed}))
    assert (None if found is None else found[0]) == status


def test_a_header_that_is_there_twice_helps_nobody() -> None:
    twice = [(b"Host", b"localhost"), (b"host", b"evil.example"), (b"authorization", b"x")]
    assert refused(DOOR, headers_of(twice)) == (403, "the Host header names another host")
    assert refused(DOOR, _headers({"authorization": f"Bearer {TOKEN}"})) is not None


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("LocalHost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.1", False),
        ("example.com", False),
    ],
)
def test_this_machine_is_known(host: str, own: bool) -> None:
    assert is_loopback(host) == own


NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=9)


def _encoded(value: str) -> str:
    return f"=?base64?{b64encode(value.encode()).decode()}?="


@given(NAMES, st.booleans())
def test_headers_that_say_what_the_body_says_are_taken(name: str, encode: bool) -> None:
    sent = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": _encoded(name) if encode or name.startswith("=?") else name,
    }
    assert mismatch(_headers(sent), "2026-07-28", "tools/call", {"name": name}) is None
    for one in sent:
        less = {key: value for key, value in sent.items() if key != one}
        assert mismatch(_headers(less), "2026-07-28", "tools/call", {"name": name}) is not None
        other = {**sent, one: f"{sent[one]}x"}
        assert mismatch(_headers(other), "2026-07-28", "tools/call", {"name": name}) is not None


SCHEMA: Any = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {
            "type": "object",
            "properties": {"n": {"type": "integer", "x-mcp-header": "N"}},
        },
        "sure": {"type": "boolean", "x-mcp-header": "Sure"},
        "plain": {"type": "string"},
        "odd": True,
    },
}


@pytest.mark.parametrize(
    ("sent", "arguments", "fits"),
    [
        ({}, {}, True),
        ({}, None, True),
        ({}, {"region": None, "plain": "x"}, True),
        ({"Mcp-Param-Region": "west"}, {"region": "west"}, True),
        ({"mcp-param-REGION": "=?base64?d2VzdA==?="}, {"region": "west"}, True),
        ({"Mcp-Param-Region": "=?base64?d2VzdA?="}, {"region": "west"}, False),
        ({"Mcp-Param-Region": "=?base64?/w==?="}, {"region": "west"}, False),
        ({"Mcp-Param-Region": "east"}, {"region": "west"}, False),
        ({}, {"region": "west"}, False),
        ({"Mcp-Param-Region": "west"}, {}, False),
        ({"Mcp-Param-Region": "{}"}, {"region": {}}, False),
        ({"Mcp-Param-N": "42"}, {"deep": {"n": 42}}, True),
        ({"Mcp-Param-N": "42.0"}, {"deep": {"n": 42}}, True),
        ({"Mcp-Param-N": "42.5"}, {"deep": {"n": 42}}, False),
        ({"Mcp-Param-N": "4e1"}, {"deep": {"n": 40}}, False),
        ({"Mcp-Param-N": "x"}, {"deep": {"n": "x"}}, True),
        ({"Mcp-Param-Sure": "true"}, {"sure": True}, True),
        ({"Mcp-Param-Sure": "True"}, {"sure": True}, False),
        ({"Mcp-Param-Other": "x"}, {"plain": "x"}, True),
    ],
)
def test_headers_stand_for_arguments(sent: dict[str, str], arguments: Any, fits: bool) -> None:
    assert (argument_mismatch(_headers(sent), SCHEMA, arguments) is None) == fits


def test_an_argument_with_two_headers_is_refused() -> None:
    twice = headers_of([(b"mcp-param-region", b"west"), (b"mcp-param-region", b"west")])
    assert argument_mismatch(twice, SCHEMA, {"region": "west"}) is not None
