"""What every model behind `ChatModel` must do.

`check_model` wants one that plays `kit_turns`: a scripted one, or an adapter whose server does.
`check_any_model` asks any model, and looks at the shape of its replies alone.
"""

from typing import get_args

import anyio

from holdfast.agent.models.scripted import ScriptedCall, ScriptedTrouble, Turn
from holdfast.contract.chunks import SystemChunk, UserChunk
from holdfast.contract.model import (
    CallDelta,
    ChatModel,
    FinishReason,
    ModelDelta,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelTool,
    ModelUsage,
    ReasoningDelta,
    TextDelta,
)

_LONG = "x" * 20_000
_ODD = 'text with "quotes", \\ and ünï¢ode \U0001f600\n'
KIT_TOOL = ModelTool(
    name="weather",
    description="The weather of a city.",
    schema={
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
KIT_REQUEST = ModelRequest(
    rows=(SystemChunk("You are brief."), UserChunk("What is the weather in Oslo?")),
    tools=(KIT_TOOL,),
    notices=("One step is left.",),
)


def kit_turns() -> tuple[Turn, ...]:
    """What a model has to play to be checked by `check_model`."""
    return (
        Turn(text=_ODD, usage=ModelUsage(input_tokens=12, output_tokens=3, cached_tokens=4)),
        Turn(calls=(ScriptedCall(name="weather", arguments='{"city":"Oslo"}', id="call_a"),)),
        Turn(
            text="Both at once.",
            calls=(
                ScriptedCall(name="weather", arguments=f'{{"city":"{_LONG}"}}', id="call_b"),
                ScriptedCall(name="weather", arguments='{"city": oops', id="call_c"),
                ScriptedCall(name="now", arguments="", id="call_d"),
            ),
        ),
        Turn(text="cut", finish="length"),
        Turn(error=ScriptedTrouble(trouble="rate_limited", status=429, retry_after=2.0)),
        Turn(text="again"),
        Turn(text="after closing"),
    )


async def check_model(model: ChatModel) -> None:
    """Says what was played, tells the pieces as they come, and can be used after closing."""
    first = await _heard(model)
    _expect(first.text == _ODD and not first.calls, f"a text came as {first!r}")
    _expect(first.finish == "stop", f"a text ended with {first.finish!r}")
    counted = (first.usage.input_tokens, first.usage.output_tokens, first.usage.cached_tokens)
    _expect(counted == (12, 3, 4), f"the tokens were counted as {counted}")
    one = await _heard(model)
    _expect(one.text is None, f"a call without words has the text {one.text!r}")
    _expect(one.finish == "tool_calls", f"a call ended with {one.finish!r}")
    asked = [(call.id, call.name, call.arguments) for call in one.calls]
    _expect(asked == [("call_a", "weather", '{"city":"Oslo"}')], f"a call came as {asked}")
    many = await _heard(model)
    _expect(many.text == "Both at once.", f"words beside calls came as {many.text!r}")
    ids = [call.id for call in many.calls]
    _expect(ids == ["call_b", "call_c", "call_d"], f"three calls came as {ids}")
    long, broken, empty = many.calls
    _expect(long.arguments == f'{{"city":"{_LONG}"}}', "long arguments are not what was sent")
    _expect(broken.arguments == '{"city": oops', "malformed arguments were changed")
    _expect(empty.arguments == "", f"arguments that are empty came as {empty.arguments!r}")
    cut = await _heard(model)
    _expect((cut.text, cut.finish) == ("cut", "length"), f"what was cut came as {cut!r}")
    await _check_trouble(model)
    await model.close()
    closed = await _heard(model)
    _expect(closed.text == "after closing", "it cannot be used after closing")
    await model.close()
    await model.close()


async def _check_trouble(model: ChatModel) -> None:
    try:
        reply = await model.complete(KIT_REQUEST)
    except ModelError as problem:
        told = (problem.trouble, problem.status, problem.retry_after)
        _expect(told == ("rate_limited", 429, 2.0), f"a refusal was told as {told}")
        _expect(problem.retryable, "waiting helps against a rate limit")
    else:
        raise AssertionError(f"a refusal came as the reply {reply!r}")
    reply = await model.complete(KIT_REQUEST)
    _expect(reply.text == "again", f"after a refusal came {reply!r}")


async def check_any_model(model: ChatModel, request: ModelRequest = KIT_REQUEST) -> ModelReply:
    """Its reply has the shape that the port promises, it can be given up, and used again."""
    _expect(bool(model.name) and bool(model.provider), "it has no name, or no provider")
    _expect(0 < model.max_output_tokens <= model.window, "its limits contradict each other")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await model.complete(request)
        raise AssertionError("a question that was given up got its reply")
    reply = await _heard(model, request)
    await model.close()
    await _heard(model, request)
    return reply


async def _heard(model: ChatModel, request: ModelRequest = KIT_REQUEST) -> ModelReply:
    """A reply whose pieces, as they were heard, are what it says."""
    pieces: list[ModelDelta] = []
    reply = await model.complete(request, pieces.append)
    said = "".join(one.text for one in pieces if isinstance(one, TextDelta))
    _expect(said == (reply.text or ""), f"heard {said!r}, and the reply says {reply.text!r}")
    thought = "".join(one.text for one in pieces if isinstance(one, ReasoningDelta))
    _expect(thought == (reply.reasoning or ""), f"heard the thoughts {thought!r}")
    for index, call in enumerate(reply.calls):
        own = [one for one in pieces if isinstance(one, CallDelta) and one.index == index]
        _expect(bool(own), f"nothing was heard of call {index}")
        _expect({(one.id, one.name) for one in own} == {(call.id, call.name)}, "other names")
        written = "".join(one.arguments for one in own)
        _expect(written == call.arguments, f"heard {written!r} for call {index}")
    _check_shape(reply)
    return reply


def _check_shape(reply: ModelReply) -> None:
    _expect(reply.finish in get_args(FinishReason), f"it ended with {reply.finish!r}")
    ids = [call.id for call in reply.calls]
    _expect(all(ids) and len(set(ids)) == len(ids), f"the calls have the ids {ids}")
    _expect(all(call.name for call in reply.calls), "a call has no name")
    _expect(reply.text != "", "no words are None, not an empty text")
    usage = reply.usage
    _expect(min(usage.input_tokens, usage.output_tokens) >= 0, f"it counts {usage}")
    _expect(usage.cached_tokens <= usage.input_tokens, f"it counts {usage}")


def _expect(held: bool, otherwise: str) -> None:  # noqa: FBT001 - an assertion reads best this way
    if not held:
        raise AssertionError(otherwise)
