"""The argument helpers: the value, or a failure envelope that is ready to be returned."""

import json
from collections.abc import Callable, Mapping

import pytest
from support import make_tool, settle

import holdfast
from holdfast.contract.arguments import (
    optional_string,
    require_arguments,
    require_int,
    require_string,
    require_string_array,
)
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.runtime import Runtime

Helper = Callable[..., object]
HELPERS: list[Helper] = [require_string, require_int, require_string_array, optional_string]
UNPARSEABLE = (
    'Arguments could not be parsed as JSON. Pass an object literal, e.g. `{"path": "foo.txt"}`.'
)


def _failure(found: object) -> Failure:
    assert isinstance(found, Envelope)
    assert not found.ok
    assert found.failure is not None
    return found.failure


@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.req("OSA-HLP-01")
def test_a_failure_is_ready_with_its_kind_tool_field_and_expectation(helper: Helper) -> None:
    found = helper({"k": {"not": "this"}}, "k", expected="something else", tool="reader")
    failure = _failure(found)
    assert isinstance(found, Envelope)
    assert found.tool == "reader"
    assert failure.kind is FailureKind.INVALID_ARGS
    assert (failure.field, failure.expected) == ("k", "something else")


@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.req("OSA-HLP-01")
async def test_a_helpers_failure_reaches_the_caller_unchanged(helper: Helper) -> None:
    made: list[object] = []

    def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        made.append(helper(values, "k", expected="something else", tool="reader"))
        return made[0]

    envelope = await settle(make_tool(body, name="reader"), {"k": {"not": "this"}})
    assert envelope.failure == _failure(made[0])
    assert envelope.tool == "reader"


def test_the_helpers_are_there_for_every_author() -> None:
    for helper in (*HELPERS, require_arguments):
        assert getattr(holdfast, helper.__name__) is helper


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [('{"path": "a"}', {"path": "a"}), (b'{"n": [1]}', {"n": [1]}), (" {} ", {})],
)
@pytest.mark.req("OSA-HLP-02")
def test_argument_text_is_parsed_into_a_dict(raw: str | bytes, arguments: JsonObject) -> None:
    assert require_arguments(raw) == arguments


@pytest.mark.parametrize(
    "raw",
    [
        *("", " ", "{", "path", "[1]", "null", '"text"', "3", "{'a': 1}", '{"a": NaN}', "\ud800"),
        *(b"\xff", "[" * 100_000),
    ],
    ids=lambda raw: ascii(raw[:12]),
)
@pytest.mark.req("OSA-HLP-03")
def test_text_that_is_no_json_object_fails_with_one_sentence_and_no_field(
    raw: str | bytes,
) -> None:
    failure = _failure(require_arguments(raw, tool="reader"))
    assert failure.message == UNPARSEABLE
    assert failure.kind is FailureKind.INVALID_ARGS
    assert failure.field is None


@pytest.mark.parametrize("helper", [require_string, require_int, require_string_array])
@pytest.mark.req("OSA-HLP-04")
def test_a_missing_argument_is_named(helper: Helper) -> None:
    failure = _failure(helper({"other": 1}, "path", expected="a relative path"))
    assert failure.message == "Missing required argument `path` (a relative path)."
    assert (failure.field, failure.expected) == ("path", "a relative path")


@pytest.mark.parametrize("text", ["a", "15", "null", "é", " padded "])
@pytest.mark.req("OSA-HLP-04")
def test_a_text_is_returned_as_it_is(text: str) -> None:
    assert require_string({"path": text}, "path", expected="a path") == text


@pytest.mark.req("OSA-HLP-05")
def test_the_empty_text_is_refused_unless_it_is_allowed() -> None:
    failure = _failure(require_string({"path": ""}, "path", expected="a path"))
    assert failure.message == "Argument `path` must not be empty (a path)."
    assert require_string({"path": ""}, "path", expected="a path", allow_empty=True) == ""


@pytest.mark.parametrize("blank", [" ", "\n", "\t\t", "\u00a0"])
@pytest.mark.req("OSA-HLP-05")
def test_a_text_of_blanks_is_accepted(blank: str) -> None:
    assert require_string({"path": blank}, "path", expected="a path") == blank


GOT: list[tuple[object, str]] = [
    (True, "a boolean"),
    (3, "a number"),
    (1.5, "a number"),
    (["a"], "an array"),
    ({"a": 1}, "an object"),
    (None, "null"),
]


@pytest.mark.parametrize(("value", "got"), GOT)
@pytest.mark.req("OSA-HLP-06")
def test_a_wrong_type_for_a_text_says_what_was_wanted_and_what_came(
    value: object, got: str
) -> None:
    failure = _failure(require_string({"k": value}, "k", expected="a path"))
    assert failure.message == f"Argument `k` must be a JSON string (a path). Got {got}."


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ("x", "a string"),
        (True, "a boolean"),
        (1.5, "a number"),
        ([1], "an array"),
        ({"a": 1}, "an object"),
        (None, "null"),
    ],
)
@pytest.mark.req("OSA-HLP-06")
def test_a_wrong_type_for_an_integer_says_so_too(value: object, got: str) -> None:
    failure = _failure(require_int({"k": value}, "k", expected="a count"))
    assert failure.message == f"Argument `k` must be an integer (a count). Got {got}."


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (True, "a boolean"),
        (3, "a number"),
        ({"a": 1}, "an object"),
        (None, "null"),
        (["a", 1], "an array"),
    ],
)
@pytest.mark.req("OSA-HLP-06")
def test_a_wrong_type_for_a_list_says_so_too(value: object, got: str) -> None:
    failure = _failure(require_string_array({"k": value}, "k", expected="names"))
    assert failure.message == f"Argument `k` must be an array of strings (names). Got {got}."


@pytest.mark.req("OSA-HLP-07")
def test_null_is_a_wrong_type_and_not_a_missing_argument() -> None:
    failure = _failure(require_string({"k": None}, "k", expected="a path"))
    assert failure.message == "Argument `k` must be a JSON string (a path). Got null."


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (30, 30),
        (-1, -1),
        ("30", 30),
        ("+5", 5),
        ("-007", -7),
        (30.0, 30),
        (10**30, 10**30),
        (str(10**30), 10**30),
    ],
)
@pytest.mark.req("OSA-HLP-08")
def test_integers_are_taken_from_numbers_and_from_text(value: JsonValue, number: int) -> None:
    found = require_int({"n": value}, "n", expected="a count")
    assert (type(found), found) == (int, number)


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        True,
        False,
        "1.5",
        "",
        " 1",
        "1 ",
        "1\n",
        "1_0",
        "\uff11",
        "x",
        "1" * 5_000,
        float("inf"),
    ],
    ids=lambda value: ascii(value)[:12],
)
@pytest.mark.req("OSA-HLP-08")
def test_nothing_is_cut_or_taken_for_an_integer_that_is_none(value: object) -> None:
    failure = _failure(require_int({"n": value}, "n", expected="a count"))
    assert failure.message.startswith("Argument `n` must be an integer (a count).")


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (["a", "b"], ["a", "b"]),
        (json.dumps(["a", "b"]), ["a", "b"]),
        (' ["a"]\n', ["a"]),
        (["", " "], ["", " "]),
    ],
)
@pytest.mark.req("OSA-HLP-09")
def test_a_list_of_texts_is_taken_as_it_is_or_from_json_text(
    value: JsonValue, names: list[str]
) -> None:
    assert require_string_array({"p": value}, "p", expected="names") == names


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("numpy", ["numpy"]),
        (" numpy\n", ["numpy"]),
        ("a,b", ["a,b"]),
        ('{"a": 1}', ['{"a": 1}']),
        ("[1", ["[1"]),
        ("3", ["3"]),
    ],
)
@pytest.mark.req("OSA-HLP-10")
def test_a_bare_text_becomes_a_list_of_one_trimmed(value: str, names: list[str]) -> None:
    assert require_string_array({"p": value}, "p", expected="names") == names


def test_text_nested_too_deep_to_be_read_is_a_bare_text() -> None:
    deep = "[" * 100_000
    assert require_string_array({"p": deep}, "p", expected="names") == [deep]


@pytest.mark.parametrize("value", [[], "[]", "", "  "])
@pytest.mark.req("OSA-HLP-11")
def test_an_empty_list_is_refused_as_empty(value: JsonValue) -> None:
    failure = _failure(require_string_array({"p": value}, "p", expected="names"))
    assert failure.message == "Argument `p` must not be empty (names)."


@pytest.mark.parametrize("value", [["a", 1], [None], [["a"]], '["a", 1]', "[true]"])
@pytest.mark.req("OSA-HLP-11")
def test_a_list_with_something_else_in_it_is_a_wrong_type(value: JsonValue) -> None:
    failure = _failure(require_string_array({"p": value}, "p", expected="names"))
    assert failure.message == "Argument `p` must be an array of strings (names). Got an array."


@pytest.mark.parametrize(
    ("arguments", "text"), [({}, None), ({"d": None}, None), ({"d": "x"}, "x"), ({"d": ""}, "")]
)
@pytest.mark.req("OSA-HLP-12")
def test_an_optional_text_is_the_text_or_none(arguments: JsonObject, text: str | None) -> None:
    assert optional_string(arguments, "d", expected="a text") == text


@pytest.mark.parametrize(("value", "got"), [pair for pair in GOT if pair[0] is not None])
@pytest.mark.req("OSA-HLP-12")
def test_another_value_for_an_optional_text_is_a_wrong_type(value: object, got: str) -> None:
    failure = _failure(optional_string({"d": value}, "d", expected="a text"))
    assert failure.message == f"Argument `d` must be a JSON string (a text). Got {got}."
