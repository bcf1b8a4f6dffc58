"""Whatever comes in is read as something, and what goes out is one line of JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_BATCH,
    PARSE_ERROR,
    Fault,
    Malformed,
    Notification,
    Reply,
    Request,
    answer,
    elements,
    is_batch,
    notification,
    read,
    refusal,
    request,
)

IDS = st.integers(-(2**53), 2**53) | st.text(max_size=20)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_anything_at_all_is_read(text: bytes) -> None:
    assert isinstance(read(text), Request | Notification | Reply | Malformed)
    assert is_batch(text) or elements(text) is None


@given(IDS, st.text(max_size=20), st.dictionaries(st.text(max_size=5), JSON))
def test_a_request_is_read_as_it_was_written(own: Any, method: str, params: Any) -> None:
    found = read(request(own, method, params))
    assert isinstance(found, Request)
    assert (found.id, found.method, json.loads(found.params)) == (own, method, params)
    told = read(notification(method, params))
    assert isinstance(told, Notification)
    assert (told.method, json.loads(told.params)) == (method, params)


@given(IDS, st.dictionaries(st.text(max_size=5), JSON))
def test_an_answer_is_one_line_and_is_read_back(own: Any, result: Any) -> None:
    line = answer(own, json.dumps(result).encode())
    assert b"\n" not in line
    assert read(line) == Reply(own, result)
    assert read(refusal(own, Fault(-1, "no", {"a": 1}))) == Reply(own, None)


@pytest.mark.parametrize(
    ("text", "code", "own"),
    [
        (b"", PARSE_ERROR, None),
        (b"{", PARSE_ERROR, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE_ERROR, None),
        (b'{"a":' * 100_000, PARSE_ERROR, None),
        (b"[1]", INVALID_REQUEST, None),
        (b"7", INVALID_REQUEST, None),
        (b"{}", INVALID_REQUEST, None),
        (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', INVALID_REQUEST, 3),
        (b'{"jsonrpc":"2.0","id":3}', INVALID_REQUEST, 3),
        (b'{"jsonrpc":"2.0","id":3,"method":9}', INVALID_REQUEST, 3),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID_REQUEST, None),
        (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":[1]}', INVALID_PARAMS, "x"),
        (b'{"jsonrpc":"2.0","method":"ping","params":[', PARSE_ERROR, None),
    ],
)
def test_what_is_no_message_is_told_so(text: bytes, code: int, own: Any) -> None:
    found = read(text)
    assert isinstance(found, Malformed)
    assert (found.fault.code, found.id) == (code, own)


def test_a_notification_with_strange_parameters_has_none() -> None:
    found = read(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":"x"}')
    assert found == Notification("notifications/cancelled", b"{}")


def test_a_reply_that_cannot_be_decoded_says_nothing() -> None:
    assert read(b'{"jsonrpc":"2.0","id":1,"result":"\xff"}') == Reply(1, None)


def test_a_batch_has_a_bound() -> None:
    assert elements(b"[1,{}]") == [b"1", b"{}"]
    assert elements(b"[]") is None
    assert elements(json.dumps([1] * (MAX_BATCH + 1)).encode()) is None
    assert is_batch(b' \t[{"a":1}]')
