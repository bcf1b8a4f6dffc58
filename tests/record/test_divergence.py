"""The first place where two values differ: never missed, never made up; its path leads there."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from holdfast.contract.events import CallIntended, CallRefused, CallSettled, Event, Payload
from holdfast.contract.json_value import JsonValue
from holdfast.record.codec import GENESIS, Chain, Unwritten, event_of, stored
from holdfast.record.divergence import diverging, json_path, not_vouched_for, parting

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


def written(value: object) -> str:
    return json.dumps(value, sort_keys=True)


STEP = re.compile(r'\.(?P<name>[A-Za-z_][A-Za-z0-9_]*)|\[(?P<inner>\d+|"(?:[^"\\]|\\.)*")\]')


def at(value: Any, path: str) -> Any:
    """What stands at a path; UNSET where there is nothing. A reader of its own."""
    assert path.startswith("$")
    place = 1
    while place < len(path):
        found = STEP.match(path, place)
        assert found is not None, path
        step = found["name"] if found["name"] is not None else json.loads(found["inner"])
        try:
            value = value[step]
        except (KeyError, IndexError):
            value = UNSET
        place = found.end()
    return value


@given(JSON, JSON)
def test_there_is_a_place_exactly_where_two_values_differ(one: JsonValue, other: JsonValue) -> None:
    found = parting(one, other)
    assert (found is None) == (written(one) == written(other))
    if found is not None:
        path = json_path(found.place)
        before, after = at(one, path), at(other, path)
        assert (before, after) == (found.before, found.after)
        assert before is UNSET or after is UNSET or written(before) != written(after)


@given(JSON)
def test_a_value_is_like_its_copy(value: JsonValue) -> None:
    assert parting(value, json.loads(json.dumps(value))) is None


@given(st.lists(JSON, min_size=1, max_size=5), st.data())
def test_it_is_the_first_place(values: list[JsonValue], data: st.DataObject) -> None:
    changed = data.draw(st.integers(0, len(values) - 1))
    another: JsonValue = {"another": "thing entirely"}
    found = parting(values, [*values[:changed], another, *values[changed + 1 :], "and more"])
    assert found is not None
    assert found.place[0] == changed


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ((), "$"),
        (("a", "b_1", 0, 12), "$.a.b_1[0][12]"),
        (("", "a b", 'c"d', "1"), '$[""]["a b"]["c\\"d"]["1"]'),
    ],
)
def test_paths_are_written_as_usual(place: tuple[str | int, ...], path: str) -> None:
    assert json_path(place) == path


CHAIN = Chain(b"k" * 32)


def event(payload: Payload, sequence: int = 3, previous: bytes = GENESIS) -> Event:
    unwritten = Unwritten(f"evt_{sequence}", 1_000_000, None, payload)
    return event_of(stored(unwritten, "ses_1", sequence, previous, CHAIN))


def settled(**envelope: Any) -> CallSettled:
    return CallSettled(call_id="c", tool="t", envelope=Raw(json.dumps(envelope).encode()))


def test_what_was_measured_is_not_compared() -> None:
    then = event(
        settled(
            ok=True,
            metadata={
                "duration_ms": 5,
                "output_path": "/a",
                "truncated": True,
                "tail": "x",
                "output_bytes": 9,
                "dropped_bytes": 1,
            },
        )
    )
    assert diverging(then, settled(ok=True, metadata={"duration_ms": 9})) is None
    assert diverging(then, settled(ok=True)) is not None
    repaired = settled(ok=True, metadata={"repairs": [1]})
    found = diverging(then, repaired)
    assert found is not None
    assert (found.field, found.before, found.after) == ("$.envelope.metadata.repairs", UNSET, [1])


INTENDED = CallIntended(call_id="c", tool="t", arguments_hash="aa", grounds="g")


def test_another_kind_of_event_is_named_with_what_it_says() -> None:
    refused = CallRefused(call_id="c", tool="t", arguments_hash="aa", kind="rejected", reason="no!")
    found = diverging(event(INTENDED), refused)
    assert found is not None
    assert (found.sequence, found.event_id, found.kind) == (3, "evt_3", "call.intended")
    assert (found.field, found.before, found.after) == ("$.type", "call.intended", "call.refused")
    assert found.says == "no!"


def test_a_missing_event_is_told_whole() -> None:
    found = diverging(event(INTENDED), None)
    assert found is not None
    assert (found.field, found.after) == ("$", UNSET)


def test_a_field_can_be_left_out() -> None:
    other = CallIntended(call_id="c", tool="t", arguments_hash="bb", grounds="g")
    found = diverging(event(INTENDED), other)
    assert found is not None
    assert (found.field, found.says) == ("$.arguments_hash", None)
    assert diverging(event(INTENDED), other, [("arguments_hash",)]) is None


def test_an_event_that_its_hash_does_not_vouch_for_is_found() -> None:
    first = event(INTENDED, 1)
    second = event(settled(ok=True, result=1), 2, first.hash)
    assert not_vouched_for([first, second], CHAIN) is None
    assert not_vouched_for([], CHAIN) is None
    forged = event_of(
        stored(Unwritten(second.id, 1_000_000, None, second.payload), "ses_1", 2, b"x", CHAIN),
        payload=settled(ok=True, result=2),
    )
    found = not_vouched_for([first, forged], CHAIN)
    assert found is not None
    assert (found.sequence, found.field, found.before) == (2, "$.hash", forged.hash.hex())
    other_key = not_vouched_for([first, second], Chain(b"o" * 32))
    assert other_key is not None
    assert other_key.sequence == 1
    assert first.at == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
