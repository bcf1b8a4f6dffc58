"""Replies of chat completions, as servers of all sorts write them."""

import json
from typing import Any

import pytest
from agent.models.streams import RICH, STREAMS, read_document, read_whole

from holdfast.agent.models.openai_chat import FORM
from holdfast.contract.chunks import AskedCall
from holdfast.contract.model import (
    CallDelta,
    ModelDelta,
    ModelError,
    ModelReply,
    ModelUsage,
    ReasoningDelta,
    TextDelta,
)


def _streamed(*deltas: dict[str, Any], finish: str | None = "stop", more: Any = None) -> bytes:
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"delta": {}, "finish_reason": finish}], **(more or {})})
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in chunks)


def _piece(**fields: Any) -> dict[str, Any]:
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return {"tool_calls": [{**fields, "function": function}]}


def _calls(*deltas: dict[str, Any], finish: str = "tool_calls") -> list[tuple[str, str, str]]:
    reply = read_whole(FORM, _streamed(*deltas, finish=finish))
    return [(call.id, call.name, call.arguments) for call in reply.calls]


def test_a_rich_reply_is_read_whole() -> None:
    heard: list[ModelDelta] = []
    reply = read_whole(*STREAMS["chat"], heard.append)
    assert reply == ModelReply(
        text=RICH.text,
        calls=(AskedCall("c1", "f", '{"a": "ü"}'), AskedCall("c2", "g", "")),
        finish="tool_calls",
        usage=RICH.usage,
        reasoning=RICH.reasoning,
    )
    kinds = [type(one) for one in heard]
    assert kinds == sorted(kinds, key=[ReasoningDelta, TextDelta, CallDelta].index)
    assert heard[-1] == CallDelta(index=1, id="c2", name="g", arguments="")


def test_numbers_with_gaps_keep_their_order() -> None:
    assert _calls(
        _piece(index=3, id="a", name="f", arguments="{"),
        _piece(index=7, id="b", name="g", arguments="{}"),
        _piece(index=3, arguments="}"),
    ) == [("a", "f", "{}"), ("b", "g", "{}")]


def test_ids_that_are_left_out_are_made() -> None:
    assert _calls(
        _piece(index=0, name="f", arguments="{}"), _piece(index=1, name="g", arguments="{}")
    ) == [("new_1", "f", "{}"), ("new_2", "g", "{}")]


def test_an_id_that_is_given_twice_is_made_anew() -> None:
    assert _calls(
        _piece(index=0, id="call", name="f", arguments="{}"),
        _piece(index=1, id="call", name="g", arguments="{}"),
    ) == [("call", "f", "{}"), ("new_1", "g", "{}")]


def test_a_name_that_is_repeated_is_one_name() -> None:
    assert _calls(
        _piece(index=0, id="a", name="f", arguments='{"a"'),
        _piece(index=0, id="a", name="f", arguments=": 1}"),
    ) == [("a", "f", '{"a": 1}')]


def test_an_id_for_every_piece_is_still_one_call() -> None:
    assert _calls(
        _piece(index=0, id="a", name="f", arguments='{"a"'),
        _piece(index=0, id="b", arguments=": 1}"),
    ) == [("a", "f", '{"a": 1}')]


def test_several_calls_under_the_same_number_are_told_apart_by_their_ids() -> None:
    assert _calls(
        _piece(index=0, id="a", name="f", arguments="{}"),
        _piece(index=0, id="b", name="f", arguments="{}"),
    ) == [("a", "f", "{}"), ("b", "f", "{}")]


def test_calls_without_numbers_are_told_apart_by_their_ids() -> None:
    assert _calls(
        _piece(id="a", name="f", arguments="{"),
        _piece(id="b", name="g", arguments="{"),
        _piece(id="a", arguments="}"),
        _piece(id="b", arguments="}"),
    ) == [("a", "f", "{}"), ("b", "g", "{}")]


def test_calls_without_numbers_and_ids_are_told_apart_by_where_they_end() -> None:
    assert _calls(
        _piece(name="f", arguments="{"),
        _piece(name="f", arguments="}"),
        _piece(name="f", arguments="{}"),
        _piece(name="g"),
        _piece(arguments="{}"),
    ) == [("new_1", "f", "{}"), ("new_2", "f", "{}"), ("new_3", "g", "{}")]


def test_calls_that_come_together_without_numbers_are_told_apart_by_their_place() -> None:
    both = {"tool_calls": [{"function": {"name": "f"}}, {"function": {"name": "g"}}]}
    rest = {"tool_calls": [{"function": {"arguments": "1"}}, {"function": {"arguments": "2"}}]}
    assert _calls(both, rest) == [("new_1", "f", "1"), ("new_2", "g", "2")]


def test_an_id_that_comes_after_the_first_piece_counts() -> None:
    assert _calls(_piece(index=0), _piece(index=0, id="a", name="f", arguments="{}")) == [
        ("a", "f", "{}")
    ]


def test_arguments_that_are_an_object_become_its_text() -> None:
    assert _calls(_piece(index=0, id="a", name="f", arguments={"b": [1, "ü"]})) == [
        ("a", "f", '{"b":[1,"ü"]}')
    ]


def test_malformed_arguments_are_as_they_were_written() -> None:
    assert _calls(_piece(index=0, id="a", name="f", arguments='{"a": oops')) == [
        ("a", "f", '{"a": oops')
    ]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
@pytest.mark.parametrize("cut", ['{"a": ', "", '"text"'])
def test_a_call_that_was_cut_off_is_none(finish: str, cut: str) -> None:
    pieces = [
        _piece(index=0, id="a", name="f", arguments="{}"),
        _piece(index=1, id="b", name="g", arguments=cut),
    ]
    reply = read_whole(FORM, _streamed(*pieces, finish=finish))
    assert [call.id for call in reply.calls] == ["a"]
    assert reply.finish == finish


def test_a_call_that_is_complete_counts_although_the_reply_was_cut() -> None:
    piece = _piece(index=0, id="a", name="f", arguments='{"a": 1}')
    assert _calls(piece, finish="length") == [("a", "f", '{"a": 1}')]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("something new", "other"),
    ],
)
def test_reasons_to_stop(said: str, meant: str) -> None:
    assert read_whole(FORM, _streamed({"content": "x"}, finish=said)).finish == meant


@pytest.mark.parametrize("said", ["stop", "tool_calls", "function_call", "something new"])
def test_a_stop_with_calls_waits_for_their_answers(said: str) -> None:
    piece = _piece(index=0, id="a", name="f", arguments="{}")
    assert read_whole(FORM, _streamed(piece, finish=said)).finish == "tool_calls"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_go_by_several_names(field: str) -> None:
    reply = read_whole(FORM, _streamed({field: "hm"}, {"content": "so"}))
    assert (reply.reasoning, reply.text) == ("hm", "so")


def test_a_refusal_is_what_it_says() -> None:
    assert read_whole(FORM, _streamed({"refusal": "No."})).text == "No."


def test_words_in_parts_are_put_together() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, "odd", {"type": "text", "text": "b"}]
    assert read_whole(FORM, _streamed({"content": parts})).text == "ab"


def test_a_second_choice_that_nobody_asked_for_is_left() -> None:
    text = _streamed({"content": "a"}).replace(b'"index": 0', b'"index": 1')
    assert read_whole(FORM, text).text is None


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {"prompt_tokens": 5, "completion_tokens": 2},
            ModelUsage(input_tokens=5, output_tokens=2),
        ),
        (
            {"prompt_tokens": 5, "prompt_cache_hit_tokens": 3},
            ModelUsage(input_tokens=5, cached_tokens=3),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": None},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            ModelUsage(input_tokens=5, output_tokens=4, reasoning_tokens=3),
        ),
        ({"prompt_tokens": None}, ModelUsage(estimated=True)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, ModelUsage(estimated=True)),
        ({"prompt_tokens": {"odd": 1}, "completion_tokens": "5"}, ModelUsage(estimated=True)),
        ([1, 2], ModelUsage(estimated=True)),
        (
            {"prompt_tokens": -1_000_000, "completion_tokens": 7},
            ModelUsage(output_tokens=7),
        ),
        (
            {"prompt_tokens": 10**30, "completion_tokens": 1e300},
            ModelUsage(input_tokens=2**53, output_tokens=2**53),
        ),
        (
            {"prompt_tokens": 5.5, "completion_tokens": True, "prompt_cache_hit_tokens": 900},
            ModelUsage(input_tokens=5, cached_tokens=5),
        ),
    ],
)
def test_tokens_are_counted_as_servers_tell_them(usage: Any, counted: ModelUsage) -> None:
    assert read_whole(FORM, _streamed({"content": "a"}, more={"usage": usage})).usage == counted


def test_a_done_without_a_reason_to_stop_is_no_end() -> None:
    text = _streamed({"content": "a"}, finish=None) + b"data: [DONE]\n\n"
    with pytest.raises(ModelError) as caught:
        read_whole(FORM, text)
    assert caught.value.trouble == "malformed"


def test_a_document_with_an_error_inside_is_that_error() -> None:
    with pytest.raises(ModelError, match="no such model") as caught:
        read_document(FORM, b'{"error": {"message": "no such model", "code": 404}}')
    assert (caught.value.trouble, caught.value.status) == ("bad_request", 404)
