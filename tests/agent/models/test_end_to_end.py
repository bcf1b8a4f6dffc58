"""The adapters against real weights behind real HTTP: the shape of replies, never their wits."""

from collections.abc import Iterator

import pytest
from local_server import KEY, calling_server, llama_server

from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.form import Form
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.setup import ModelSetup
from holdfast.agent.models.wire import object_in
from holdfast.contract.chunks import AssistantChunk, SystemChunk, ToolResultChunk, UserChunk
from holdfast.contract.model import ModelDelta, ModelError, ModelRequest, TextDelta
from holdfast.testing.model_kit import KIT_TOOL

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(90),
]  # one thread thinks

FORMS = [openai_chat.FORM, openai_responses.FORM, anthropic.FORM]
ROWS = (SystemChunk("You are brief."), UserChunk("Say hello."))


def _name(form: Form) -> str:
    return form.path.strip("/")


def _model(url: str, form: Form, *, stream: bool = True, key: str = KEY) -> HttpModel:
    # The likeliest words: chance must not decide whether anything is said.
    setup = ModelSetup(model="smollm2", url=url, key=key, stream=stream, temperature=0.0)
    return HttpModel(setup, form)


@pytest.fixture(scope="module")
def weights() -> Iterator[str]:
    with llama_server() as url:
        yield url


@pytest.mark.parametrize("form", FORMS, ids=_name)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_text(weights: str, form: Form, stream: bool) -> None:
    model = _model(weights, form, stream=stream)
    heard: list[ModelDelta] = []
    request = ModelRequest(rows=ROWS, notices=("Now.",), max_output_tokens=12)
    reply = await model.complete(request, heard.append)
    await model.close()
    assert reply.text
    assert reply.text == "".join(one.text for one in heard if isinstance(one, TextDelta))
    assert reply.usage.input_tokens > 0
    assert 0 < reply.usage.output_tokens <= 12
    assert reply.finish in {"stop", "length"}
    if stream:
        assert len(heard) > 1


@pytest.mark.parametrize("form", FORMS, ids=_name)
async def test_a_conversation_with_a_call_behind_it(weights: str, form: Form) -> None:
    """What the adapters send of calls and results is taken by a server that they did not write."""
    async with calling_server() as url:
        calling = _model(url, form)
        asked = ModelRequest(rows=ROWS, tools=(KIT_TOOL,))
        first = await calling.complete(asked)
        await calling.close()
    (call,) = first.calls
    arguments = object_in(call.arguments)
    assert arguments is not None
    assert list(arguments) == ["city"]
    assert (call.name, first.finish) == ("weather", "tool_calls")
    rows = (
        *ROWS,
        AssistantChunk(first.text, first.calls),
        ToolResultChunk(call.id, call.name, "Rain."),
        UserChunk("Thank you."),
    )
    model = _model(weights, form)
    reply = await model.complete(ModelRequest(rows=rows, tools=(KIT_TOOL,), max_output_tokens=8))
    await model.close()
    assert reply.text
    assert reply.usage.input_tokens > first.usage.output_tokens


@pytest.mark.parametrize("form", FORMS, ids=_name)
async def test_a_wrong_key_is_refused(weights: str, form: Form) -> None:
    model = _model(weights, form, key="another-key-than-that")
    with pytest.raises(ModelError) as caught:
        await model.complete(ModelRequest(rows=ROWS))
    await model.close()
    assert (caught.value.trouble, caught.value.status) == ("authentication", 401)
    assert "another-key" not in str(caught.value)


@pytest.mark.parametrize("form", FORMS, ids=_name)
async def test_what_does_not_fit_is_told(weights: str, form: Form) -> None:
    model = _model(weights, form)
    with pytest.raises(ModelError) as caught:
        await model.complete(ModelRequest(rows=(UserChunk("word " * 9000),)))
    await model.close()
    assert caught.value.trouble == "context_length"
