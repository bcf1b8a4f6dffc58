"""What is sent: the rows in each form, the same request as the same bytes, and nothing moved."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.form import Form
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ModelRequest, ModelTool

FORMS = {
    "chat": openai_chat.FORM,
    "responses": openai_responses.FORM,
    "messages": anthropic.FORM,
}
TOOL = ModelTool(name="f", description="Does f.", schema={"type": "object", "b": 1, "a": 2})
BARE = ModelTool(name="g", description=None, schema={"type": "object"})
OPAQUE: JsonObject = {
    "anthropic": [{"at": 0, "block": {"type": "thinking", "thinking": "hm", "signature": "s"}}],
    "openai_responses": [{"at": 1, "block": {"type": "reasoning", "encrypted_content": "x"}}],
    "somebody else": "odd",
}
ROWS: tuple[Chunk, ...] = (
    SystemChunk("Be brief."),
    SystemChunk("Be kind."),
    UserChunk("Do f twice."),
    AssistantChunk(
        "Yes.", (AskedCall("c1", "f", '{"z": 1, "a": 2}'), AskedCall("c 2", "f", "")), OPAQUE
    ),
    ToolResultChunk("c1", "f", "one"),
    UserChunk("And quick."),
    ToolResultChunk("c 2", "f", ""),
    AssistantChunk(None, (AskedCall("c3", "f", '{"a": oops'),)),
    ToolResultChunk("c3", "f", "error"),
)


def _body(form: Form, request: ModelRequest, **more: Any) -> dict[str, Any]:
    setup = ModelSetup(model="m", url="http://127.0.0.1:9", **more)
    return json.loads(HttpModel(setup, form).body(request))


def test_a_chat_completion() -> None:
    request = ModelRequest(rows=ROWS, tools=(TOOL, BARE), notices=("One.", "Two."))
    assert _body(openai_chat.FORM, request) == snapshot(
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "Do f twice."},
                {
                    "role": "assistant",
                    "content": "Yes.",
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "f", "arguments": '{"z": 1, "a": 2}'},
                        },
                        {
                            "id": "c 2",
                            "type": "function",
                            "function": {"name": "f", "arguments": "{}"},
                        },
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "one"},
                {"role": "user", "content": "And quick."},
                {"role": "tool", "tool_call_id": "c 2", "content": ""},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c3",
                            "type": "function",
                            "function": {
                                "name": "f",
                                "arguments": '{"malformed_arguments":"{\\"a\\": oops"}',
                            },
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "c3", "content": "error"},
                {
                    "role": "system",
                    "content": """\
One.

Two.\
""",
                },
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "f",
                        "description": "Does f.",
                        "parameters": {"type": "object", "b": 1, "a": 2},
                    },
                },
                {"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}},
            ],
            "max_tokens": 8192,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    )


def test_a_response() -> None:
    request = ModelRequest(rows=ROWS, tools=(TOOL, BARE), notices=("One.", "Two."))
    assert _body(openai_responses.FORM, request) == snapshot(
        {
            "model": "m",
            "input": [
                {"role": "system", "content": "Be brief."},
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "Do f twice."},
                {"role": "assistant", "content": "Yes."},
                {"encrypted_content": "x", "type": "reasoning"},
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "f",
                    "arguments": '{"z": 1, "a": 2}',
                },
                {"type": "function_call", "call_id": "c 2", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "one"},
                {"role": "user", "content": "And quick."},
                {"type": "function_call_output", "call_id": "c 2", "output": ""},
                {
                    "type": "function_call",
                    "call_id": "c3",
                    "name": "f",
                    "arguments": '{"malformed_arguments":"{\\"a\\": oops"}',
                },
                {"type": "function_call_output", "call_id": "c3", "output": "error"},
                {
                    "role": "system",
                    "content": """\
One.

Two.\
""",
                },
            ],
            "tools": [
                {
                    "type": "function",
                    "name": "f",
                    "description": "Does f.",
                    "parameters": {"type": "object", "b": 1, "a": 2},
                    "strict": False,
                },
                {
                    "type": "function",
                    "name": "g",
                    "parameters": {"type": "object"},
                    "strict": False,
                },
            ],
            "max_output_tokens": 8192,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "stream": True,
        }
    )


def test_a_message_of_anthropic() -> None:
    request = ModelRequest(rows=ROWS, tools=(TOOL, BARE), notices=("One.", "Two."))
    assert _body(anthropic.FORM, request) == snapshot(
        {
            "model": "m",
            "max_tokens": 8192,
            "system": [
                {"type": "text", "text": "Be brief."},
                {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}},
            ],
            "tools": [
                {
                    "name": "f",
                    "description": "Does f.",
                    "input_schema": {"type": "object", "b": 1, "a": 2},
                },
                {
                    "name": "g",
                    "input_schema": {"type": "object"},
                    "cache_control": {"type": "ephemeral"},
                },
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Do f twice."}]},
                {
                    "role": "assistant",
                    "content": [
                        {"signature": "s", "thinking": "hm", "type": "thinking"},
                        {"type": "text", "text": "Yes."},
                        {"type": "tool_use", "id": "c1", "name": "f", "input": {"z": 1, "a": 2}},
                        {"type": "tool_use", "id": "c_2", "name": "f", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                        {"type": "tool_result", "tool_use_id": "c_2", "content": ""},
                        {"type": "text", "text": "And quick."},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool_use",
                            "id": "c3",
                            "name": "f",
                            "input": {"malformed_arguments": '{"a": oops'},
                        }
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c3",
                            "content": "error",
                            "cache_control": {"type": "ephemeral"},
                        },
                        {
                            "type": "text",
                            "text": """\
One.

Two.\
""",
                        },
                    ],
                },
            ],
            "stream": True,
        }
    )


@pytest.mark.parametrize("name", FORMS)
def test_what_is_configured_is_sent(name: str) -> None:
    request = ModelRequest(rows=ROWS[:3], max_output_tokens=7)
    limit = {"responses": "max_output_tokens"}.get(name, "max_tokens")
    body = _body(FORMS[name], request, temperature=0.5, stream=False, extra={"top_p": 1})
    assert (body[limit], body["temperature"], body["stream"], body["top_p"]) == (7, 0.5, False, 1)
    assert "tools" not in body
    assert _body(FORMS[name], request, max_output_tokens=9)[limit] == 7
    usual = ModelRequest(rows=ROWS[:3])
    assert _body(FORMS[name], usual, max_output_tokens=9)[limit] == 9
    assert _body(FORMS[name], usual, extra={limit: 5})[limit] == 5


def test_a_chat_completion_may_name_its_limit_otherwise() -> None:
    body = _body(openai_chat.FORM, ModelRequest(rows=()), output_limit="max_completion_tokens")
    assert body["max_completion_tokens"] == 8192
    assert "max_tokens" not in body


def test_what_is_for_one_step_may_be_told_in_the_persons_name() -> None:
    request = ModelRequest(rows=ROWS[:3], notices=("Now.",))
    body = _body(openai_chat.FORM, request, notices_as="user")
    assert body["messages"][-1] == {"role": "user", "content": "Now."}


def test_an_answer_that_says_nothing_is_empty_for_a_chat_completion() -> None:
    body = _body(openai_chat.FORM, ModelRequest(rows=(AssistantChunk(),)))
    assert body["messages"] == [{"role": "assistant", "content": ""}]


@pytest.mark.parametrize("rows", [(), (AssistantChunk(""),), (SystemChunk("x"), UserChunk(" "))])
def test_a_message_of_anthropic_has_a_beginning(rows: tuple[Chunk, ...]) -> None:
    said = _body(anthropic.FORM, ModelRequest(rows=rows), cache=False)["messages"]
    assert said == [{"role": "user", "content": [{"type": "text", "text": "Begin."}]}]


def test_an_answer_that_comes_first_has_somebody_before_it_at_anthropic() -> None:
    rows = (AssistantChunk("Hello."), SystemChunk("Be brief from now on."))
    body = _body(anthropic.FORM, ModelRequest(rows=rows), cache=False)
    assert [one["role"] for one in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][-1]["content"][0]["text"] == "[system]\nBe brief from now on."
    assert "system" not in body


def test_notices_after_an_answer_are_a_message_of_their_own_at_anthropic() -> None:
    request = ModelRequest(rows=(UserChunk("a"), AssistantChunk("b")), notices=("c",))
    said = _body(anthropic.FORM, request, cache=False)["messages"]
    assert [one["role"] for one in said] == ["user", "assistant", "user"]
    assert said[-1]["content"] == [{"type": "text", "text": "c"}]


def test_thinking_is_not_marked_for_the_cache() -> None:
    kept: JsonObject = {"anthropic": [{"at": 5, "block": {"type": "thinking"}}]}
    rows = (UserChunk("a"), AssistantChunk("b", None, kept))
    said = _body(anthropic.FORM, ModelRequest(rows=rows))["messages"]
    assert said[-1]["content"] == [{"type": "text", "text": "b"}, {"type": "thinking"}]


@pytest.mark.parametrize("kept", [5, ["odd", {"at": "x", "block": 1}]])
def test_what_is_kept_and_odd_does_no_harm(kept: Any) -> None:
    rows = (UserChunk("a"), AssistantChunk("b", None, {"anthropic": kept}))
    said = _body(anthropic.FORM, ModelRequest(rows=rows), cache=False)["messages"]
    assert said[-1]["content"] == [{"type": "text", "text": "b"}]


@pytest.mark.parametrize("name", FORMS)
def test_text_that_is_no_unicode_is_sent_all_the_same(name: str) -> None:
    rows = (UserChunk("a\ud800b"), AssistantChunk(None, (AskedCall("c", "f", '{"x": 1}'),)))
    assert "a?b" in json.dumps(_body(FORMS[name], ModelRequest(rows=rows)))


TEXTS = st.text(max_size=8)
ARGUMENTS = st.sampled_from(["", "{}", '{"b": 1, "a": [2.50]}', "oops", '{"x'])
CALLS = st.lists(
    st.builds(AskedCall, st.text(min_size=1, max_size=4), TEXTS, ARGUMENTS), max_size=3
)
ROW: st.SearchStrategy[Chunk] = st.one_of(
    st.builds(SystemChunk, TEXTS),
    st.builds(UserChunk, TEXTS),
    st.builds(AssistantChunk, st.none() | TEXTS, st.none() | CALLS.map(tuple)),
    st.builds(ToolResultChunk, TEXTS, TEXTS, TEXTS),
)


def _sent(name: str, rows: list[Chunk], notices: tuple[str, ...] = ()) -> list[bytes]:
    body = _body(FORMS[name], ModelRequest(rows=tuple(rows), notices=notices), cache=False)
    return [
        json.dumps(one).encode() for one in body["input" if name == "responses" else "messages"]
    ]


@pytest.mark.parametrize("name", ["chat", "responses"])
@given(before=st.lists(ROW, max_size=6), after=st.lists(ROW, max_size=4))
def test_further_rows_leave_what_was_sent_before(
    name: str, before: list[Chunk], after: list[Chunk]
) -> None:
    earlier, later = _sent(name, before), _sent(name, [*before, *after], ("now",))
    assert later[: len(earlier)] == earlier


@given(before=st.lists(ROW, min_size=1, max_size=6), after=st.lists(ROW, max_size=4))
def test_further_rows_leave_every_message_that_was_complete_at_anthropic(
    before: list[Chunk], after: list[Chunk]
) -> None:
    """The last one may go on: there the same side says everything in one message."""
    first = [UserChunk("x"), *before]
    earlier, later = _sent("messages", first), _sent("messages", [*first, *after], ("now",))
    assert later[: len(earlier) - 1] == earlier[:-1]


@given(rows=st.lists(ROW, max_size=8))
def test_messages_of_anthropic_take_turns_and_begin_with_results(rows: list[Chunk]) -> None:
    said = [json.loads(one) for one in _sent("messages", rows)]
    roles = [one["role"] for one in said]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    for one in said:
        results = [block["type"] == "tool_result" for block in one["content"]]
        assert results == sorted(results, reverse=True)
        assert one["content"]


@pytest.mark.parametrize("name", FORMS)
@given(rows=st.lists(ROW, max_size=8))
def test_the_same_request_is_the_same_bytes(name: str, rows: list[Chunk]) -> None:
    setup = ModelSetup(model="m", url="http://127.0.0.1:9", extra={"b": 1, "a": 2})
    request = ModelRequest(rows=tuple(rows), tools=(TOOL, BARE), notices=("n",))
    one, other = HttpModel(setup, FORMS[name]), HttpModel(setup, FORMS[name])
    assert one.body(request) == other.body(request) == one.body(request)
