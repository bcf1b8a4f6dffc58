"""Every model passes the kit of the port: scripted, recorded, and the adapters over loopback."""

import msgspec
import pytest
from model_server import turn_server

from holdfast.agent.models import anthropic, openai_chat, openai_responses
from holdfast.agent.models.form import Form
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.scripted import ScriptedModel, Turn
from holdfast.agent.models.setup import ModelSetup
from holdfast.contract.model import ModelReply, ModelRequest
from holdfast.testing.model_kit import check_any_model, check_model, kit_turns

pytestmark = pytest.mark.anyio

FORMS = [openai_chat.FORM, openai_responses.FORM, anthropic.FORM]


def _names(form: object) -> str:
    return form.path.strip("/") if isinstance(form, Form) else str(form)


def _turns(form: Form, *, stream: bool) -> list[Turn]:
    """Whole messages of Anthropic hold arguments as objects: they cannot be malformed or empty."""
    if stream or form is not anthropic.FORM:
        return list(kit_turns())
    return [
        msgspec.structs.replace(
            turn, calls=tuple(call for call in turn.calls if call.id in {"call_a", "call_b"})
        )
        for turn in kit_turns()
    ]


async def test_the_scripted_model_passes_the_kit() -> None:
    await check_model(ScriptedModel(kit_turns()))


@pytest.mark.parametrize("form", FORMS, ids=_names)
@pytest.mark.parametrize("piece", [0, 61])
async def test_an_adapter_passes_the_kit_over_a_stream(form: Form, piece: int) -> None:
    async with turn_server(kit_turns(), piece=piece) as (_, url):
        model = HttpModel(ModelSetup(model="m", url=url, key="k" * 20), form)
        await check_model(model)


@pytest.mark.parametrize("form", [openai_chat.FORM, openai_responses.FORM], ids=_names)
async def test_an_adapter_passes_the_kit_without_a_stream(form: Form) -> None:
    async with turn_server(kit_turns()) as (server, url):
        model = HttpModel(ModelSetup(model="m", url=url, stream=False), form)
        await check_model(model)
        assert all(asked["stream"] is False for asked in server.asked)


async def test_a_whole_message_of_anthropic_is_understood() -> None:
    turns = _turns(anthropic.FORM, stream=False)[:3]
    async with turn_server(turns) as (_, url):
        model = HttpModel(ModelSetup(model="m", url=url, stream=False), anthropic.FORM)
        replies = [await model.complete(ModelRequest(rows=())) for _ in turns]
        await model.close()
    assert replies[0].usage.cached_tokens == 4
    assert [call.arguments for call in replies[1].calls] == ['{"city":"Oslo"}']
    assert len(replies[2].calls[0].arguments) > 20_000


@pytest.mark.parametrize("form", FORMS, ids=_names)
async def test_an_adapter_has_the_shape_of_any_model(form: Form) -> None:
    async with turn_server([Turn(text="one"), Turn(text="two"), Turn(text="three")]) as (_, url):
        model = HttpModel(ModelSetup(model="m", url=url), form)
        assert (await check_any_model(model)).text in {"one", "two"}
        await model.close()


@pytest.mark.parametrize(
    "wrong",
    [
        ModelReply(text="other"),
        ModelReply(text=""),
        ModelReply(text="x", finish="length"),
    ],
)
async def test_the_kit_can_fail(wrong: ModelReply) -> None:
    model = ScriptedModel([wrong, *kit_turns()[1:]])
    with pytest.raises(AssertionError):
        await check_model(model)
