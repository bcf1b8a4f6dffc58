"""Argument text, however it was written: an object, or a defined refusal."""

import json
import subprocess
import sys

import pytest
from preflight.kit import parsed, unparsed

from holdfast.contract.arguments import UNPARSEABLE
from holdfast.contract.call import RawArguments
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import MAX_DEPTH, JsonObject
from holdfast.preflight.copying import TOO_DEEP
from holdfast.preflight.parse import (
    MAX_ARGUMENT_BYTES,
    NOT_AN_OBJECT,
    Parsed,
    parse_arguments,
    parse_flow_arguments,
)

NOT_JSON: dict[str, str | bytes] = {
    "a word": "hello",
    "blank": "  \n\t",
    "unclosed": '{"a": 1',
    "trailing garbage": '{"a": 1} x',
    "two objects": '{"a": 1}{"a": 2}',
    "trailing comma": '{"a": 1,}',
    "single quotes": "{'a': 1}",
    "Python words": '{"a": None}',
    "comment": '{/* a */ "a": 1}',
    "leading zero": '{"a": 01}',
    "raw newline in text": '{"a": "\n"}',
    "NaN": '{"a": NaN}',
    "Infinity": '{"a": Infinity}',
    "minus Infinity": '{"a": -Infinity}',
    "beyond a float": '{"a": 1e400}',
    "10,000 digits": '{"a": ' + "9" * 10_000 + "}",
    "byte order mark": '\ufeff{"a": 1}',
    "byte order mark in bytes": b'\xef\xbb\xbf{"a": 1}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "not UTF-8": b'{"a": "\xff\xfe"}',
    "overlong UTF-8": b'{"a": "\xc0\x80"}',
    "surrogate in UTF-8": b'{"a": "\xed\xa0\x80"}',
    "raw lone surrogate": '{"a": "\ud800"}',
    "escaped high surrogate": '{"a": "\\ud800"}',
    "escaped low surrogate": '{"a": "\\udc00x"}',
    "surrogates the wrong way round": '{"a": "\\udc00\\ud800"}',
    "surrogate in a key": '{"\\ud800": 1}',
}


@pytest.mark.parametrize("raw", NOT_JSON.values(), ids=NOT_JSON.keys())
@pytest.mark.req("BOA-CALL-08")
def test_text_that_is_not_json_is_refused_and_says_why(raw: str | bytes) -> None:
    failure = unparsed(raw)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert failure.message == UNPARSEABLE
    assert failure.field is None
    assert failure.extras["reason"]
    received = failure.extras["received"]
    assert isinstance(received, str)
    assert received.endswith("…") is (len(raw) > 60)
    assert len(received.removesuffix("…")) <= 60
    received.encode()


@pytest.mark.parametrize(
    ("raw", "received"),
    [
        ("[]", "an array"),
        ("null", "null"),
        ("true", "a boolean"),
        ("3", "a number"),
        ("1.5", "a number"),
        ('"text"', "a string"),
        ('""', "a string"),
        ('"[1]"', "a string"),
        (["a"], "an array"),
        (7, "a number"),
    ],
)
@pytest.mark.req("OSA-VAL-02", "BOA-ARG-03")
def test_json_that_is_not_an_object_is_refused_without_a_field(
    raw: RawArguments, received: str
) -> None:
    failure = unparsed(raw)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert failure.message == "Arguments must be an object" == NOT_AN_OBJECT
    assert failure.field is None
    assert failure.extras == {"received": received}


@pytest.mark.parametrize("raw", ['{"a": 1}', b'{"a": 1}', ' {"a":1}\n', {"a": 1}])
def test_an_object_is_taken_as_it_is(raw: RawArguments) -> None:
    found = parse_arguments(raw)
    assert found == Parsed({"a": 1})


@pytest.mark.parametrize("raw", [None, "", b""])
def test_nothing_at_all_is_a_call_without_arguments(raw: RawArguments) -> None:
    assert parse_arguments(raw) == Parsed({})


@pytest.mark.req("OSA-VAL-02")
def test_text_that_holds_an_object_as_text_is_read_one_level_further() -> None:
    found = parse_arguments(json.dumps('{"a": 1}'))
    assert isinstance(found, Parsed)
    assert found.arguments == {"a": 1}
    assert [(repair.repair, repair.field) for repair in found.repairs] == [("object_from_text", "")]


def test_an_object_as_text_inside_text_is_not_read() -> None:
    assert unparsed(json.dumps(json.dumps('{"a": 1}'))).message == NOT_AN_OBJECT


def test_of_a_repeated_key_the_last_one_counts() -> None:
    assert parsed('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}') == {"a": 3, "b": {"c": 2}}


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 10**30, -(10**300)])
def test_integers_beyond_64_bits_stay_exact(number: int) -> None:
    assert parsed(f'{{"n": {number}}}') == {"n": number}


def test_text_outside_the_basic_plane_is_kept() -> None:
    assert parsed('{"a": "\\ud83d\\ude00 \\u0000"}') == {"a": "😀 \x00"}


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
@pytest.mark.req("OSA-VAL-23")
def test_text_nested_a_hundred_thousand_deep_is_refused_quickly(opening: str) -> None:
    failure = unparsed('{"a":' + opening * 100_000)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert failure.message == TOO_DEEP


def _nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.req("OSA-VAL-23")
def test_the_deepest_accepted_text_has_exactly_as_many_levels_as_is_said(as_bytes: bool) -> None:
    beside = '{"b": [[], {}, []], "a": '
    deepest, deeper = (beside + _nested(levels) + "}" for levels in (MAX_DEPTH - 1, MAX_DEPTH))
    assert str(MAX_DEPTH) in TOO_DEEP
    assert parsed(deepest.encode() if as_bytes else deepest)
    assert unparsed(deeper.encode() if as_bytes else deeper).message == TOO_DEEP


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert parsed('{"a": [' + ",".join(["[{}]"] * 1_000) + "]}") == {"a": [[{}]] * 1_000}


def test_text_of_exactly_the_limit_is_read_and_one_byte_more_is_not() -> None:
    text = '{"a": "xx"}'
    assert isinstance(parse_arguments(text, max_bytes=len(text)), Parsed)
    failure = parse_arguments(text, max_bytes=len(text) - 1)
    assert not isinstance(failure, Parsed)
    assert failure.message.startswith("Arguments are 11 bytes long; at most 10 are accepted.")


@pytest.mark.parametrize("letter", ["é", "漢", "😀", "\ud800"])
def test_the_limit_counts_bytes_not_characters(letter: str) -> None:
    text = '{"a": "' + letter * 10 + '"}'
    size = len(text.encode("utf-8", "replace"))
    inside = parse_arguments(text, max_bytes=size)
    outside = parse_arguments(text, max_bytes=size - 1)
    assert isinstance(inside, Parsed) or inside.message == UNPARSEABLE
    assert not isinstance(outside, Parsed)
    if size > len(text):
        assert outside.message.startswith(f"Arguments are {size} bytes long")


MEASURE = """
import resource
from holdfast.preflight.parse import parse_arguments
from holdfast.contract.failure import Failure

text = '{"a": "' + "x" * 50_000_000 + '"}'
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = parse_arguments(text)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert isinstance(found, Failure), type(found)
print(found.message)
print(grown)
"""


def test_fifty_megabytes_are_refused_without_copying_them() -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
    )
    message, grown = run.stdout.splitlines()
    assert message == (
        f"Arguments are 50,000,009 bytes long; at most {MAX_ARGUMENT_BYTES:,} are accepted."
        " Write large content to a file and pass its path."
    )
    assert MAX_ARGUMENT_BYTES == 8 * 1024 * 1024
    kilobytes = int(grown) // (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 5_000


FLOW: list[tuple[str | None, tuple[JsonObject | None, bool]]] = [
    (None, (None, False)),
    ("", (None, False)),
    ('{"a": 1}', ({"a": 1}, False)),
    ("{}", ({}, False)),
    ("[1]", (None, True)),
    ("{", (None, True)),
    ('"{}"', (None, True)),
]


@pytest.mark.parametrize(("raw", "found"), FLOW)
def test_the_flow_loop_gets_the_object_or_hears_of_an_error(
    raw: str | None, found: tuple[JsonObject | None, bool]
) -> None:
    assert parse_flow_arguments(raw) == found
