"""Whatever a model of anybody's returns can be kept afterwards, and what can be kept stays."""

from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.models.storable import storable_delta, storable_reply
from holdfast.contract.chunks import AskedCall
from holdfast.contract.json_value import MAX_DEPTH, JsonValue, depth_of
from holdfast.contract.model import (
    CallDelta,
    ModelDelta,
    ModelReply,
    ModelUsage,
    ReasoningDelta,
    TextDelta,
)

_encode = msgspec.json.Encoder(order="deterministic").encode


def _nested(depth: int) -> JsonValue:
    value: JsonValue = "inside"
    for _ in range(depth):
        value = [value]
    return value


def test_text_that_is_no_unicode_is_replaced() -> None:
    reply = storable_reply(
        ModelReply(
            text="a\ud800",
            calls=(AskedCall("i\ud800", "n\ud800", '{"x": "\ud800"}'),),
            reasoning="r\ud800",
            opaque={"k\ud800": "v\ud800"},
            cut_calls=("c\ud800",),
        )
    )
    assert reply == ModelReply(
        text="a?",
        calls=(AskedCall("i?", "n?", '{"x": "?"}'),),
        reasoning="r?",
        opaque={"k?": "v?"},
        cut_calls=("c?",),
    )
    _encode(reply)


def test_what_nests_without_end_is_flattened() -> None:
    arguments: Any = {"x": _nested(5000)}
    reply = storable_reply(
        ModelReply(calls=(AskedCall("i", "n", arguments),), opaque={"x": _nested(5000)})
    )
    assert reply.opaque is not None
    assert depth_of(reply.opaque) <= MAX_DEPTH
    assert isinstance(reply.calls[0].arguments, str)
    assert depth_of(msgspec.json.decode(reply.calls[0].arguments)) <= MAX_DEPTH
    deep = "[" * 5000
    assert storable_reply(ModelReply(calls=(AskedCall("i", "n", deep),))).calls[0].arguments == deep


def test_what_is_of_another_type_becomes_what_it_should_be() -> None:
    odd: Any = {
        "text": 5,
        "calls": [AskedCall(cast("Any", 1), cast("Any", None), cast("Any", {"a": 1}))],
        "finish": "done",
        "usage": None,
        "opaque": ["x"],
        "cut_calls": None,
    }
    assert storable_reply(ModelReply(**odd)) == ModelReply(
        text="5",
        calls=(AskedCall("1", "None", '{"a":1}'),),
        finish="other",
        usage=ModelUsage(estimated=True),
    )


def test_counts_can_be_added_up() -> None:
    usage: Any = {"input_tokens": -5, "output_tokens": 10**30, "cached_tokens": 1.5}
    found = storable_reply(ModelReply(usage=ModelUsage(**usage, cost_micros=cast("Any", "x"))))
    assert found.usage == ModelUsage(output_tokens=2**53, cached_tokens=1)


TEXTS = st.text(st.characters(exclude_categories=()), max_size=6)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(
    reply=st.builds(
        ModelReply,
        text=st.none() | TEXTS,
        calls=st.lists(st.builds(AskedCall, TEXTS, TEXTS, TEXTS), max_size=2).map(tuple),
        usage=st.builds(ModelUsage, input_tokens=st.integers(), estimated=st.booleans()),
        opaque=st.none() | st.dictionaries(TEXTS, VALUES, max_size=2),
        cut_calls=st.lists(TEXTS, max_size=2).map(tuple),
    )
)
def test_what_was_kept_comes_out_as_it_is(reply: ModelReply) -> None:
    kept = storable_reply(reply)
    again = msgspec.json.decode(_encode(kept), type=ModelReply)
    assert again == kept
    assert storable_reply(again) == kept


@pytest.mark.parametrize(
    ("delta", "told"),
    [
        (TextDelta("a\ud800"), TextDelta("a?")),
        (ReasoningDelta("a\ud800"), ReasoningDelta("a?")),
        (
            CallDelta(index=1, id="\ud800", name="\ud800", arguments="\ud800"),
            CallDelta(index=1, id="?", name="?", arguments="?"),
        ),
    ],
)
def test_pieces_can_be_told_anywhere(delta: ModelDelta, told: ModelDelta) -> None:
    assert storable_delta(delta) == told
