"""Models that do not think: scripted turns, recorded replies, and how tokens and prices count."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.models.recorded import DivergedRequest, RecordedModel
from holdfast.agent.models.scripted import (
    ScriptedModel,
    ScriptedTrouble,
    ScriptError,
    Turn,
    script_in,
)
from holdfast.agent.models.setup import Prices
from holdfast.agent.models.tokens import tokens_of, tool_tokens
from holdfast.agent.requests import request_hash
from holdfast.contract.chunks import AskedCall, AssistantChunk, UserChunk
from holdfast.contract.model import (
    CallDelta,
    ModelDelta,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelTool,
    ModelUsage,
    ReasoningDelta,
    TextDelta,
)
from holdfast.testing.model_kit import KIT_REQUEST, KIT_TOOL, check_any_model

pytestmark = pytest.mark.anyio

SCRIPT = """
[[turn]]
text = "Let me look."
reasoning = "hm"
usage = { input_tokens = 10, output_tokens = 4 }
[[turn.calls]]
name = "weather"
arguments = { city = "Oslo" }
[[turn.calls]]
name = "broken"
arguments = '{"city": '
id = "mine"

[[turn]]
error = { trouble = "overloaded", told = "Later.", status = 529, retry_after = 3 }

[[turn]]
text = "Rain."
finish = "length"
seconds = 0.001
"""


async def test_a_script_is_played_turn_by_turn() -> None:
    model = ScriptedModel(script_in(SCRIPT, "turns.toml"), name="turns")
    heard: list[ModelDelta] = []
    first = await model.complete(KIT_REQUEST, heard.append)
    assert first == ModelReply(
        text="Let me look.",
        calls=(
            AskedCall("cal_scripted_1_1", "weather", '{"city":"Oslo"}'),
            AskedCall("mine", "broken", '{"city": '),
        ),
        finish="tool_calls",
        usage=ModelUsage(input_tokens=10, output_tokens=4),
        reasoning="hm",
    )
    assert [type(one) for one in heard] == [ReasoningDelta, TextDelta, CallDelta, CallDelta]
    with pytest.raises(ModelError, match=r"Later\.") as caught:
        await model.complete(KIT_REQUEST)
    assert (caught.value.trouble, caught.value.status) == ("overloaded", 529)
    assert caught.value.retry_after == 3
    assert (await model.complete(KIT_REQUEST)).finish == "length"
    with pytest.raises(ModelError, match="is over: it has 3 turns and was asked for number 4"):
        await model.complete(KIT_REQUEST)
    assert model.requests == [KIT_REQUEST] * 4


async def test_a_script_that_is_over_is_not_worth_a_second_try() -> None:
    with pytest.raises(ModelError) as caught:
        await ScriptedModel([]).complete(KIT_REQUEST)
    assert not caught.value.retryable


def test_a_script_may_be_json() -> None:
    turn = {"text": "a", "error": {"trouble": "timeout"}}
    assert script_in(json.dumps({"turn": [turn]}), "turns.json") == (
        Turn(text="a", error=ScriptedTrouble(trouble="timeout")),
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[[turn]", "turns.toml"),
        ("[[turn]]\nwords = 1", "turns.toml"),
        ("turns = []", "turns.toml"),
        ('{"turn": [{"error": {"trouble": "bad mood"}}]}', "turns.json"),
        ("{", "turns.json"),
        ("\ud800", "turns.json"),
    ],
)
def test_a_script_that_is_none_says_where(text: str, name: str) -> None:
    with pytest.raises(ScriptError, match=rf"^{name}: .*write \[\[turn\]\] tables"):
        script_in(text, name)


async def test_turns_may_be_written_in_code() -> None:
    def by_request(request: ModelRequest) -> str:
        return f"{len(request.rows)} rows"

    problem = ModelError("server_error", "as it is")
    model = ScriptedModel([by_request, "plain", ModelReply(text="as it is"), problem])
    assert (await model.complete(KIT_REQUEST)).text == "2 rows"
    assert (await model.complete(KIT_REQUEST)).text == "plain"
    assert (await model.complete(KIT_REQUEST)).text == "as it is"
    with pytest.raises(ModelError) as caught:
        await model.complete(KIT_REQUEST)
    assert caught.value is problem


async def test_a_scripted_model_has_the_shape_of_any_model() -> None:
    turns = [Turn(text="slow", seconds=3600), Turn(text="one"), Turn(text="two")]
    assert (await check_any_model(ScriptedModel(turns))).text == "one"


async def test_the_kit_notices_a_model_that_cannot_be_given_up() -> None:
    class Stubborn(ScriptedModel):
        async def complete(self, request: ModelRequest, heard: Any = None, /) -> ModelReply:
            with anyio.CancelScope(shield=True):
                return await super().complete(request, heard)
            raise AssertionError("a shield lets nothing through")

    with pytest.raises(AssertionError, match="given up"):
        await check_any_model(Stubborn(["one", "two", "three"]))


REQUESTS = [
    ModelRequest(rows=(UserChunk("a"),), tools=(KIT_TOOL,)),
    ModelRequest(rows=(UserChunk("a"), AssistantChunk("b"), UserChunk("c"))),
]
RECORDS = [
    (request_hash(REQUESTS[0], "m"), ModelReply(text="b")),
    (request_hash(REQUESTS[1], "m"), ModelReply(text="d")),
]


async def test_recorded_replies_come_again_in_their_order() -> None:
    model = RecordedModel(RECORDS, name="m")
    heard: list[ModelDelta] = []
    assert (await model.complete(REQUESTS[0], heard.append)).text == "b"
    assert (heard, model.left) == ([TextDelta("b")], 1)
    assert (await model.complete(REQUESTS[1])).text == "d"
    await model.close()
    with pytest.raises(DivergedRequest, match="request 3 was never recorded: there are 2") as over:
        await model.complete(REQUESTS[1])
    assert (over.value.number, over.value.retryable) == (3, False)


async def test_another_request_is_told_by_its_number() -> None:
    model = RecordedModel(RECORDS, name="m")
    await model.complete(REQUESTS[0])
    with pytest.raises(DivergedRequest, match="request 2 is not the one that was") as caught:
        await model.complete(REQUESTS[0])
    assert caught.value.number == 2
    with pytest.raises(DivergedRequest, match="request 1 is not"):
        await RecordedModel(RECORDS, name="another").complete(REQUESTS[0])


def test_a_hash_stands_for_all_of_a_request() -> None:
    one = request_hash(REQUESTS[0], "m")
    assert one == request_hash(ModelRequest(rows=(UserChunk("a"),), tools=(KIT_TOOL,)), "m")
    others = [
        request_hash(REQUESTS[0], "n"),
        request_hash(ModelRequest(rows=(UserChunk("b"),), tools=(KIT_TOOL,)), "m"),
        request_hash(ModelRequest(rows=(UserChunk("a"),)), "m"),
        request_hash(ModelRequest(rows=(UserChunk("a"),), tools=(KIT_TOOL,), notices=("n",)), "m"),
        request_hash(
            ModelRequest(rows=(UserChunk("a"),), tools=(KIT_TOOL,), max_output_tokens=1), "m"
        ),
    ]
    assert len({one, *others}) == 6


def test_a_hash_does_not_depend_on_the_order_of_keys() -> None:
    there = ModelTool(name="f", description=None, schema={"a": 1, "b": {"c": 1, "d": 2}})
    back = ModelTool(name="f", description=None, schema={"b": {"d": 2, "c": 1}, "a": 1})
    one, other = (ModelRequest(rows=(), tools=(tool,)) for tool in (there, back))
    assert request_hash(one, "m") == request_hash(other, "m")


@pytest.mark.req("BOA-CTX-04")
@given(text=st.text(max_size=200))
def test_tokens_are_a_quarter_of_the_characters_and_one_at_least(text: str) -> None:
    characters = len(text)
    rounded_up = characters // 4 + (characters % 4 > 0)
    assert tokens_of(text) == (rounded_up if characters else 1)
    assert tokens_of(text.encode("utf-8", "replace")) == tokens_of(text)


def test_a_tool_costs_what_is_sent_of_it() -> None:
    tool = ModelTool(name="f", description="d" * 40, schema={"type": "object"})
    chat = '{"type":"function","function":{"name":"f","description":"%s","parameters":%s}}'
    anthropic = '{"name":"f","description":"%s","input_schema":%s}'
    schema = '{"type":"object"}'
    assert tool_tokens(tool) == tokens_of(chat % ("d" * 40, schema))
    assert tool_tokens(tool, "anthropic") == tokens_of(anthropic % ("d" * 40, schema))


def test_prices_are_for_a_million_tokens() -> None:
    usage = ModelUsage(
        input_tokens=1_000_000,
        output_tokens=1000,
        cached_tokens=400_000,
        cache_write_tokens=100_000,
    )
    assert Prices().micros(usage) == 0
    assert Prices(input=3, output=15).micros(usage) == 3_000_000 + 15_000
    whole = Prices(input=3, output=15, cached=0.3, cache_write=3.75)
    assert whole.micros(usage) == 1_500_000 + 120_000 + 375_000 + 15_000
