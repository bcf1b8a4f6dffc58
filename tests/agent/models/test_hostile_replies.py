"""Replies that are made to take long or much, and calls that servers do not tell apart well."""

import json
import tracemalloc
from typing import Any

import pytest
from agent.models.streams import read_document, read_whole

from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.balance import Balance
from holdfast.agent.models.form import Form
from holdfast.agent.models.openai_chat import FORM
from holdfast.contract.model import ModelError

FORMS = {
    "chat": openai_chat.FORM,
    "responses": openai_responses.FORM,
    "messages": anthropic.FORM,
}


def _event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _pieces(*pieces: dict[str, Any], finish: str = "tool_calls") -> bytes:
    events = [{"choices": [{"delta": {"tool_calls": [one]}}]} for one in pieces]
    end: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": finish}]}
    return b"".join(_event(one) for one in [*events, end])


def _calls(*pieces: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in read_whole(FORM, _pieces(*pieces)).calls]


def _piece(name: str | None, arguments: str, **more: Any) -> dict[str, Any]:
    return {**more, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("given_id", [{}, {"id": ""}, {"id": None}])
@pytest.mark.parametrize("second", ["f", "g"])
def test_calls_under_one_number_and_without_ids_are_told_apart(
    given_id: dict[str, Any], second: str
) -> None:
    more = {"index": 0, **given_id}
    assert _calls(_piece("f", '{"x":1}', **more), _piece(second, '{"y":1}', **more)) == [
        ("f", '{"x":1}'),
        (second, '{"y":1}'),
    ]


def test_a_name_and_then_its_arguments_are_one_call_also_under_the_number_of_another() -> None:
    assert _calls(
        _piece("f", '{"x"', index=0),
        _piece("f", ":1}", index=0),
        _piece("f", "", index=0),
        _piece(None, '{"y"', index=0),
        _piece(None, ":1}", index=0),
    ) == [("f", '{"x":1}'), ("f", '{"y":1}')]


def test_a_name_that_comes_again_at_the_end_is_no_further_call() -> None:
    assert _calls(_piece("f", '{"x":1}', index=0), _piece("f", "", index=0)) == [("f", '{"x":1}')]


def test_calls_that_come_whole_and_together_are_told_apart_from_those_before() -> None:
    both = [_piece("f", '{"x":1}'), _piece("g", '{"x":2}')]
    events: list[Any] = [{"choices": [{"delta": {"tool_calls": both}}]}] * 2
    end = {"choices": [{"finish_reason": "tool_calls"}]}
    reply = read_whole(FORM, b"".join(_event(one) for one in [*events, end]))
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("f", '{"x":1}'),
        ("g", '{"x":2}'),
    ] * 2


def test_a_call_of_servers_of_before_is_one_call() -> None:
    deltas = [
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"x"'}},
        {"function_call": {"arguments": ": 1}"}},
    ]
    events: list[Any] = [{"choices": [{"delta": one}]} for one in deltas]
    events.append({"choices": [{"delta": {}, "finish_reason": "function_call"}]})
    reply = read_whole(FORM, b"".join(map(_event, events)))
    assert [(call.name, call.arguments) for call in reply.calls] == [("f", '{"x": 1}')]
    assert (reply.finish, bool(reply.calls[0].id)) == ("tool_calls", True)


def test_a_call_that_is_told_in_both_ways_is_one_call() -> None:
    function = {"name": "f", "arguments": "{}"}
    message = {"tool_calls": [{"id": "a", "function": function}], "function_call": function}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert len(read_document(FORM, json.dumps(body).encode()).calls) == 1


MANY: dict[str, Any] = {
    "chat": {
        "choices": [{"delta": {"tool_calls": [_piece("f", "{}", id=str(i)) for i in range(1001)]}}]
    },
    "responses": {
        "type": "response.completed",
        "response": {
            "status": "completed",
            "output": [{"type": "function_call", "id": str(i), "name": "f"} for i in range(1001)],
        },
    },
}


@pytest.mark.parametrize("name", MANY)
def test_there_are_more_calls_than_anybody_wants(name: str) -> None:
    with pytest.raises(ModelError, match="more than 1,000 calls") as caught:
        read_whole(FORMS[name], _event(MANY[name]))
    assert caught.value.trouble == "malformed"


def test_messages_of_anthropic_have_no_more_calls_either() -> None:
    block: dict[str, Any] = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    text = b"".join(
        _event({"type": "content_block_start", "index": i, "content_block": block})
        for i in range(1001)
    )
    with pytest.raises(ModelError, match="more than 1,000 calls"):
        read_whole(anthropic.FORM, text)


def test_a_name_in_every_piece_makes_nobody_read_the_arguments_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    add = Balance.add

    def counting(self: Balance, piece: str) -> None:
        looked_at.append(len(piece))
        add(self, piece)

    monkeypatch.setattr(Balance, "add", counting)
    pieces = [_piece("f", '{"x":"'), *[_piece("f", "y" * 100)] * 500, _piece("f", '"}')]
    (call,) = _calls(*pieces)
    assert len(call[1]) == 50_008
    assert 50_000 < sum(looked_at) <= 50_008


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("field", ["error", "choices", "output", "content", "usage"])
def test_millions_of_lists_are_not_made_into_any(form: Form, field: str) -> None:
    body = b'{"type": "error", "%b": [%b[]]}' % (field.encode(), b"[]," * 1_000_000)
    tracemalloc.start()
    with pytest.raises(ModelError):
        read_document(form, body)
    with pytest.raises(ModelError):
        read_whole(form, b"data: " + body + b"\n\n")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10 * len(body)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_error_of_megabytes_is_told_by_its_beginning(form: Form) -> None:
    error = json.dumps({"type": "error", "error": ["overlong", *[1] * 1_000_000]}).encode()
    with pytest.raises(ModelError, match="overlong") as caught:
        read_whole(form, b"data: " + error + b"\n\n")
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("code", [10**3000, "9" * 5_000, {"a": 1}, 1.5])
def test_a_code_of_an_error_may_be_anything(code: Any) -> None:
    with pytest.raises(ModelError) as caught:
        read_whole(FORM, _event({"error": {"message": "m", "code": code}}))
    assert caught.value.trouble == "server_error"


HALVES: dict[str, tuple[dict[str, Any], ...]] = {
    "chat": (
        {"choices": [{"delta": {"content": "a\ud83d"}}]},
        {"choices": [{"delta": {"content": "\ude00b"}, "finish_reason": "stop"}]},
    ),
    "messages": (
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
        {"type": "content_block_delta", "index": 0, "delta": {"text": "a\ud83d"}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"text": "\ude00b"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ),
    "responses": (
        {"type": "response.output_text.delta", "delta": "a\ud83d"},
        {"type": "response.output_text.delta", "delta": "\ude00b"},
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "output": [
                    {"type": "message", "content": [{"type": "output_text", "text": "a😀b"}]}
                ],
            },
        },
    ),
}


@pytest.mark.parametrize("name", HALVES)
def test_a_character_that_is_cut_in_two_is_whole_again(name: str) -> None:
    told: list[Any] = []
    reply = read_whole(FORMS[name], b"".join(map(_event, HALVES[name])), told.append)
    assert reply.text == "".join(one.text for one in told) == "a😀b"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("\ude00b", "\ufffdb"),
        ("a\ud83d", "a"),
        ("\ud83d\ud83d\ude00", "😀"),
        ("😀\ud83d", "😀"),
        ("\\ud83d 😀", "\\ud83d 😀"),
        ("\\\ude00", "\\\ufffd"),
    ],
)
def test_half_a_character_does_no_harm(said: str, meant: str) -> None:
    body = {"choices": [{"delta": {"content": said}, "finish_reason": "stop"}]}
    assert read_whole(FORM, _event(body)).text == meant


@pytest.mark.parametrize(
    ("pieces", "is_closed"),
    [
        ((), False),
        (("", " "), False),
        (('{"a": [1, {"b": 2}]}',), True),
        (('{"a', '": 1', "}", "\n"), True),
        (('{"a": "}', '{"'), False),
        (('{"a": "\\', '"}'), False),
        (('{"a": "\\', '"}"', "}"), True),
        (('{"a": "\\\\', '"}'), True),
        (('{"a": "\\\\\\', '"}'), False),
        (('"text"',), False),
        (('{"a": "' + "x" * 200_000 + '"}',), True),
    ],
)
def test_where_json_ends(pieces: tuple[str, ...], is_closed: bool) -> None:
    found = Balance()
    for piece in pieces:
        found.add(piece)
    assert found.is_closed == is_closed
