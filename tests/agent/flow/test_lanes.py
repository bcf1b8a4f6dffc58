"""Which calls of an answer wait for which: equal keys always, others only where all are safe."""

import json
from collections.abc import Mapping

from flow_kit import Does, Safe, gives
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agent.flow.calls import lanes_of, looked_up
from holdfast.agent.flow.ports import FlowCall, LookedUp, RefusedCall
from holdfast.contract.chunks import AskedCall
from holdfast.contract.flow import FlowSession
from holdfast.runtime.flow_calls import read_arguments, unknown


def _nothing(_session: FlowSession, _arguments: Mapping[str, object]) -> object:
    return None


SAFE, UNSAFE = Safe("safe", _nothing), Does("unsafe", _nothing)


def _asked(name: str) -> AskedCall:
    return AskedCall("c", name, "{}")


def _call(tool: Does, number: int) -> LookedUp:
    return FlowCall(_asked(tool.name), tool, {"n": number})


REFUSED: LookedUp = RefusedCall(_asked("nope"), unknown("nope"))
CALLS = st.lists(
    st.one_of(
        st.builds(_call, st.just(SAFE), st.integers(0, 3)),
        st.builds(_call, st.just(UNSAFE), st.integers(0, 3)),
        st.just(REFUSED),
    ),
    min_size=1,
    max_size=6,
)


@given(CALLS)
def test_every_call_is_in_one_lane_and_each_lane_is_in_order(calls: list[LookedUp]) -> None:
    lanes = lanes_of(calls)
    assert sorted(place for lane in lanes for place in lane) == list(range(len(calls)))
    assert all(lane == sorted(lane) for lane in lanes)


@given(CALLS)
def test_calls_overlap_only_when_all_are_safe_and_touch_different_things(
    calls: list[LookedUp],
) -> None:
    lanes = lanes_of(calls)
    ran = [call for call in calls if isinstance(call, FlowCall)]
    if any(call.tool is UNSAFE for call in ran):
        assert len(lanes) == 1
    of_lane = [
        {str(call.arguments["n"]) for place in lane if isinstance(call := calls[place], FlowCall)}
        for lane in lanes
    ]
    for place, numbers in enumerate(of_lane):
        if len(lanes) > 1:
            assert len(numbers) <= 1
        assert not any(numbers & others for others in of_lane[place + 1 :])


@given(st.integers(2, 5))
def test_calls_that_are_safe_and_apart_each_have_a_lane(count: int) -> None:
    calls = [_call(SAFE, number) for number in range(count)]
    assert lanes_of(calls) == [[number] for number in range(count)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(JSON)
def test_arguments_are_read_when_they_are_an_object_and_not_otherwise(value: object) -> None:
    read = read_arguments(json.dumps(value))
    assert read == (value if isinstance(value, dict) else None)


@given(st.text(max_size=30))
def test_any_text_is_looked_up_without_raising(raw: str) -> None:
    found = looked_up(AskedCall("c", "a", raw), {"a": gives("a", 1)})
    read = read_arguments(raw)
    if isinstance(found, FlowCall):
        assert found.arguments == read
    else:
        assert read is None
        assert found.failure.extras["error_kind"] == "invalid_tool_arguments"
