"""Encoding is total: whatever Python object a tool hands back, JSON comes out."""

import dataclasses
import datetime
import decimal
import enum
import json
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import NoReturn

import msgspec
import pydantic
import pytest
from envelope.strategies import steady
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.builders import failure
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import (
    MAX_DEPTH,
    clean_text,
    decode_json,
    depth_of,
    dumped,
    encode_json,
    plain,
    text_of,
)
from holdfast.envelope.dialects import flow_text, mcp_result, ok
from holdfast.envelope.render import TEXT_DIALECTS, render


class Mute:
    def __str__(self) -> NoReturn:
        raise RuntimeError("no text")

    __repr__ = __str__


class Prickly:
    """Whatever is asked of it, it raises something that is no AttributeError."""

    def __getattr__(self, name: str) -> NoReturn:
        raise LookupError(name)


class BrokenItems(dict[str, int]):
    def items(self) -> NoReturn:
        raise KeyError("items")


class BrokenList(list[int]):
    def __iter__(self) -> NoReturn:
        raise OSError("iter")


class Model(pydantic.BaseModel):
    name: str
    when: datetime.date


class Undumpable(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    held: object


class RaisingDump:
    def model_dump(self, *, mode: str) -> NoReturn:
        raise RuntimeError(mode)


class Record(msgspec.Struct):
    name: str
    parts: list[object]


@dataclasses.dataclass
class Data:
    name: str
    inner: object = None


class Color(str, enum.Enum):  # noqa: UP042 - its str() is "Color.RED", and that is the point
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


def _cycle() -> list[object]:
    here: list[object] = []
    here.append(here)
    return here


def _branching_cycle() -> dict[str, object]:
    here: dict[str, object] = {}
    here.update(dict.fromkeys("abc", here))
    return here


def _cyclic_record() -> Record:
    record = Record("r", [])
    record.parts.append(record)
    return record


def _cyclic_data() -> Data:
    data = Data("d")
    data.inner = [data]
    return data


def _deep(levels: int) -> object:
    here: object = "leaf"
    for level in range(levels):
        here = [here] if level % 2 else {"k": here}
    return here


def _items() -> Iterator[int]:
    yield 1


HOSTILE: dict[str, Callable[[], object]] = {
    "mute": Mute,
    "mute-in-list": lambda: [1, Mute()],
    "prickly": Prickly,
    "broken-items": lambda: BrokenItems(a=1),
    "broken-items-beside-a-surrogate": lambda: {"a": BrokenItems(a=1), "b": "\ud800"},
    "broken-list-beside-a-surrogate": lambda: [BrokenList([1]), "\ud800"],
    "cycle": _cycle,
    "branching-cycle": _branching_cycle,
    "cyclic-record": _cyclic_record,
    "cyclic-dataclass": _cyclic_data,
    "deep": lambda: _deep(5_000),
    "surrogate": lambda: "a\ud800b",
    "surrogate-key": lambda: {"a\ud800b": "\udfff"},
    "nan": lambda: [float("nan"), float("inf"), -float("inf")],
    "set": lambda: {"b", "a"},
    "mixed-set": lambda: {"b", 1, None, (1, 2)},
    "bytes": lambda: {"a": b"\xff\x00", "b": bytearray(b"x"), "c": memoryview(b"y")},
    "tuple-keys": lambda: {(1, 2): 3, None: 4, 1.5: 5, True: 6},
    "object-keys": lambda: {Mute(): 1},
    "pydantic": lambda: Model(name="n", when=datetime.date(2026, 1, 2)),
    "undumpable-pydantic": lambda: Undumpable(held=Mute()),
    "raising-dump": RaisingDump,
    "model-class-itself": lambda: Model,
    "record": lambda: Record("r", [Mute(), {1, 2}]),
    "dataclass": lambda: Data("d", Record("r", [])),
    "decimal": lambda: [decimal.Decimal("1.50"), decimal.Decimal("NaN")],
    "moments": lambda: [
        datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
        datetime.timedelta(days=1),
        datetime.time(1, 2),
    ],
    "generator": _items,
    "function": lambda: _items,
    "module": lambda: sys,
    "exception": lambda: ValueError("v"),
    "huge-integer": lambda: [10**6_000],
    "uuid-path-enum": lambda: [uuid.UUID(int=1), PurePosixPath("/a"), Color.RED, Level.HIGH],
    "complex": lambda: 1j,
    "memory": lambda: object(),
}


@pytest.mark.req("OSA-ENV-12")
@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_success_of_any_object_can_be_encoded(make: Callable[[], object]) -> None:
    envelope = envelope_of(make())
    top = json.loads(ok.render(envelope))
    assert top["ok"] is True
    assert "result" in top
    for dialect in TEXT_DIALECTS:
        assert isinstance(render(envelope, dialect), str)
    json.dumps(mcp_result.render(envelope), allow_nan=False)


@pytest.mark.req("OSA-ENV-12")
@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_failure_with_any_object_in_it_can_be_encoded(make: Callable[[], object]) -> None:
    built = failure("timeout", text_of(make()), extras={"held": make()})
    by_hand = Envelope(
        failure=Failure(
            kind=FailureKind.TIMEOUT,
            message="m\ud800",
            retryable=True,
            extras={"held": make()},  # pyright: ignore[reportArgumentType] - on purpose
        )
    )
    for envelope in (built, by_hand):
        top = json.loads(ok.render(envelope))
        assert top["ok"] is False
        assert top["kind"] == "timeout"
        assert isinstance(top["message"], str)
        assert "held" in top
        for dialect in TEXT_DIALECTS:
            assert isinstance(render(envelope, dialect), str)


@pytest.mark.req("OSA-ENV-12")
def test_a_success_whose_result_cannot_be_written_becomes_null() -> None:
    broken = Envelope(result_json=b'"\xff"', tool="t")
    assert json.loads(ok.render(broken)) == {"ok": True, "result": None, "tool": "t"}


def test_a_name_that_is_not_unicode_costs_only_the_name() -> None:
    top = json.loads(ok.render(Envelope(result_json=b'{"a":1}', tool="t\ud800")))
    assert top == {"ok": True, "result": {"a": 1}, "tool": "t?"}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_the_flow_text_of_any_object_can_be_written(make: Callable[[], object]) -> None:
    written = flow_text.serialize(make())
    written.encode("utf-8", "strict")
    json.loads(written)


@pytest.mark.req("OSA-ENV-12")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (decimal.Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (1j, "1j"),
        (Mute(), "<Mute: str() raised RuntimeError>"),
        ([ValueError("v")], ["v"]),
        ({(1, 2): 3}, {"(1, 2)": 3}),
        ("a\ud800b", "a?b"),
        ([float("nan")], [None]),
        (Color.RED, "red"),
        ({Color.RED: Level.HIGH, "x": "\ud800"}, {"red": 3, "x": "?"}),
        ({"b", "a", "c"}, ["a", "b", "c"]),
        (Model(name="n", when=datetime.date(2026, 1, 2)), {"name": "n", "when": "2026-01-02"}),
        ([Model(name="n", when=datetime.date(2026, 1, 2))], [{"name": "n", "when": "2026-01-02"}]),
        (Record("r", [1]), {"name": "r", "parts": [1]}),
        (Data("d", Record("r", [])), {"name": "d", "inner": {"name": "r", "parts": []}}),
        (2**80, 2**80),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_hold_becomes_its_text(value: object, expected: object) -> None:
    assert decode_json(encode_json(value)) == expected


def test_a_cycle_is_cut_where_it_closes() -> None:
    assert decode_json(encode_json(_branching_cycle())) == {"a": "…", "b": "…", "c": "…"}
    shared = [1]
    assert decode_json(encode_json([shared, shared, "\ud800"])) == [[1], [1], "?"]


@pytest.mark.parametrize("levels", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 400, 5_000])
def test_results_deeper_than_the_limit_are_flattened_and_others_are_not(levels: int) -> None:
    decoded = decode_json(encode_json(_deep(levels)))
    assert depth_of(decoded) == min(levels, MAX_DEPTH)
    assert (decoded == _deep(levels)) == (levels <= MAX_DEPTH)


def test_many_containers_side_by_side_are_not_deep() -> None:
    wide = [{"a": [1]}] * 500
    assert decode_json(encode_json(wide)) == wide


def test_sets_are_written_in_one_order_also_when_their_members_do_not_compare() -> None:
    assert encode_json({"b", 1, "\ud800"}) == encode_json({"\ud800", "b", 1})


def test_a_pydantic_class_is_not_taken_for_a_model() -> None:
    assert dumped(Model) is Model


def test_text_is_made_valid_unicode_and_the_rest_its_text() -> None:
    assert clean_text("a\udc80") == "a?"
    assert clean_text(5) == "5"
    assert clean_text(Color.RED) == "red"


def _objects() -> st.SearchStrategy[object]:
    any_text = st.text(st.characters(exclude_categories=()), max_size=6)
    leaves: st.SearchStrategy[object] = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | any_text
        | st.binary(max_size=6)
        | st.complex_numbers()
        | st.decimals()
        | st.datetimes()
        | st.timedeltas()
        | st.uuids()
        | st.builds(Mute)
        | st.builds(Prickly)
    )
    keys = any_text | st.integers() | st.none() | st.tuples(st.integers(), any_text)
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(keys, inner, max_size=3)
            | st.frozensets(any_text | st.integers(), max_size=3)
            | st.builds(Record, any_text, st.lists(inner, max_size=2))
            | st.builds(Data, any_text, inner)
            | st.builds(RaisingDump)
        ),
        max_leaves=8,
    )


@pytest.mark.req("OSA-ENV-12")
@steady
@given(_objects())
def test_encoding_never_raises_and_always_gives_json(value: object) -> None:
    encoded = encode_json(value)
    json.loads(encoded, parse_constant=_refused)
    json.dumps(plain(value), allow_nan=False).encode("utf-8", "strict")
    json.loads(flow_text.serialize(value), parse_constant=_refused)


def _refused(token: str) -> NoReturn:
    raise AssertionError(f"{token} is not JSON")
