"""Numbers, booleans and texts: which spellings are taken for which type, and which never are."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from preflight.kit import accepted, one, prepared, refused, same

from holdfast.contract.arguments import optional_string, require_int, require_string
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue

INTEGER = one({"type": "integer"})
NUMBER = one({"type": "number"})
BOOLEAN = one({"type": "boolean"})
STRING = one({"type": "string"})

LONG = "1" * 60


@pytest.mark.parametrize(
    ("schema", "sent", "arrived", "repair"),
    [
        (INTEGER, "15", 15, "integer_from_text"),
        (NUMBER, "3.14", 3.14, "number_from_text"),
        (BOOLEAN, "true", True, "boolean_from_text"),
    ],
)
@pytest.mark.req("OSA-COE-01")
def test_a_scalar_written_as_text_is_converted_and_the_repair_named(
    schema: JsonObject, sent: str, arrived: JsonValue, repair: str
) -> None:
    found = prepared(schema, {"x": sent})
    assert same(found.arguments, {"x": arrived})
    assert [(done.repair, done.field) for done in found.repairs] == [(repair, "x")]


@pytest.mark.parametrize(
    ("kind", "sent", "arrived"),
    [
        ("integer", "15", 15),
        ("integer", 2.0, 2),
        ("number", "3.14", 3.14),
        ("boolean", "no", False),
    ],
)
@pytest.mark.req("OSA-COE-01")
def test_a_scalar_that_may_also_be_null_is_converted_too(
    kind: str, sent: JsonValue, arrived: JsonValue
) -> None:
    for kinds in ([kind, "null"], ["null", kind], [kind]):
        assert same(accepted(one({"type": [*kinds]}), {"x": sent}), {"x": arrived})


def test_text_for_one_of_several_types_is_left_as_it_is() -> None:
    assert refused(one({"type": ["integer", "boolean"]}), {"x": "1"}).field == "x"


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        pytest.param("15", 15, id="digits"),
        pytest.param("-7", -7, id="minus"),
        pytest.param("+5", 5, id="plus"),
        pytest.param("0", 0, id="zero"),
        pytest.param("007", 7, id="leading zeros"),
        pytest.param("-0012", -12, id="sign and leading zeros"),
        pytest.param(15, 15, id="native"),
        pytest.param(-1, -1, id="native minus"),
    ],
)
@pytest.mark.req("OSA-SCH-06", "OSA-COE-02")
def test_integers_and_their_spellings_are_taken(sent: JsonValue, arrived: int) -> None:
    assert same(accepted(INTEGER, {"x": sent}), {"x": arrived})


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(" 15", id="padding before"),
        pytest.param("15 ", id="padding after"),
        pytest.param("15\n", id="trailing newline"),
        pytest.param("1_000", id="underscore"),
        pytest.param("1,000", id="thousands comma"),
        pytest.param("15px", id="unit"),
        pytest.param("15 kg", id="spaced unit"),
        pytest.param("\uff11\uff15", id="fullwidth digits"),
        pytest.param("\u0661\u0665", id="Arabic digits"),
        pytest.param("²", id="superscript"),
        pytest.param("", id="empty"),
        pytest.param("+", id="a sign alone"),
        pytest.param("--1", id="two signs"),
        pytest.param("\u22121", id="a typographic minus"),
    ],
)
@pytest.mark.req("OSA-COE-02")
def test_text_that_only_resembles_an_integer_is_refused(sent: str) -> None:
    failure = refused(INTEGER, {"x": sent})
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, "x")
    assert failure.message == "Property 'x' must be an integer"


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        ("30.0", 30),
        ("1e3", 1000),
        ("-2.50e2", -250),
        ("1.", 1),
        ("9223372036854775808", 2**63),
        ("-99999999999999999999999999", -99999999999999999999999999),
        (f"{LONG}.000", int(LONG)),
        (2**70, 2**70),
        ("1" * 4_000, int("1" * 4_000)),
        ("1e400", 10**400),
    ],
)
@pytest.mark.req("OSA-COE-03")
def test_whole_decimals_and_huge_integers_become_exact_integers(
    sent: JsonValue, arrived: int
) -> None:
    assert same(accepted(INTEGER, {"x": sent}), {"x": arrived})


@pytest.mark.parametrize(
    "sent",
    [
        *("0x10", "0b1", "inf", "Infinity", "-Infinity", "NaN", "nan", "1.5", "1e-1", "1e9999"),
        *("abc", "fifteen", "true", "null", "1e", ".", "1" * 4_001, "1e401"),
        *(1.5, -0.25, 1e-300, True, False, [1], {"v": 1}),
    ],
    ids=lambda value: repr(value)[:20],
)
@pytest.mark.req("OSA-COE-04")
def test_what_is_no_integer_is_refused(sent: JsonValue) -> None:
    failure = refused(INTEGER, {"x": sent})
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, "x")


@pytest.mark.parametrize(("sent", "arrived"), [(30.0, 30), (-0.0, 0), (1e22, 10**22)])
@pytest.mark.req("OSA-COE-04")
def test_a_whole_json_float_arrives_as_an_integer(sent: float, arrived: int) -> None:
    found = prepared(INTEGER, {"x": sent})
    assert same(found.arguments, {"x": arrived})
    assert [done.repair for done in found.repairs] == ["integer_from_float"]


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        ("3.14", 3.14),
        ("42", 42),
        ("1e3", 1000.0),
        ("2.5E-3", 0.0025),
        ("-1.5", -1.5),
        ("+1.5", 1.5),
        (".5", 0.5),
        ("-.5", -0.5),
        (42, 42),
        (3.5, 3.5),
        (str(2**70), 2**70),
    ],
)
@pytest.mark.req("OSA-SCH-07", "OSA-COE-05")
def test_numbers_and_their_spellings_are_taken(sent: JsonValue, arrived: float) -> None:
    assert same(accepted(NUMBER, {"x": sent}), {"x": arrived})


@pytest.mark.parametrize(
    "sent",
    [
        *("NaN", "nan", "inf", "Infinity", "-Infinity", "1e400", "-1e999", "9" * 400),
        *(
            " 1.5",
            "1.5 ",
            "1.5\n",
            "1_0.5",
            "1,5",
            "foo",
            "",
            "0x1p3",
            "\uff11.\uff15",
            "1.5.2",
            "e3",
            ".",
        ),
        *("1." + "0" * 4_000, True, False, [1.0], {"v": 1}),
    ],
    ids=lambda value: repr(value)[:20],
)
@pytest.mark.req("OSA-COE-05")
def test_what_is_no_finite_number_is_refused(sent: JsonValue) -> None:
    failure = refused(NUMBER, {"x": sent})
    assert failure.field == "x"
    assert failure.message == "Property 'x' must be a number"


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        *((word, True) for word in ("true", "1", "yes", "True", "TRUE", "YES", "yEs")),
        *((word, False) for word in ("false", "0", "no", "False", "FALSE", "NO", "nO")),
        *((value, value) for value in (True, False)),
    ],
)
@pytest.mark.req("OSA-SCH-08", "OSA-COE-06")
def test_booleans_and_their_six_words_are_taken_in_any_case(sent: JsonValue, arrived: bool) -> None:
    assert same(accepted(BOOLEAN, {"x": sent}), {"x": arrived})


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [(" true", True), ("no\n", False), ("\t1 ", True), ("\u00a0yes\u3000", True)],
)
@pytest.mark.req("OSA-COE-07")
def test_blanks_around_a_boolean_word_are_ignored(sent: str, arrived: bool) -> None:
    assert same(accepted(BOOLEAN, {"x": sent}), {"x": arrived})


@pytest.mark.parametrize(
    "sent", ["on", "off", "y", "n", "t", "f", "2", "-1", "1.0", "", " ", "null", "maybe", "tru e"]
)
@pytest.mark.req("OSA-COE-06")
def test_other_words_are_no_boolean(sent: str) -> None:
    failure = refused(BOOLEAN, {"x": sent})
    assert failure.field == "x"
    assert failure.message == "Property 'x' must be a boolean"


@pytest.mark.parametrize("sent", [1, 0, 1.0, 0.0, 2])
@pytest.mark.req("OSA-COE-08")
def test_a_json_number_is_no_boolean(sent: float) -> None:
    assert refused(BOOLEAN, {"x": sent}).message == "Property 'x' must be a boolean"


@pytest.mark.parametrize("sent", [5, 1.5, True, ["a"], {"a": 1}], ids=repr)
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.req("OSA-SCH-11")
def test_a_string_property_takes_nothing_but_text(sent: JsonValue, required: bool) -> None:
    failure = refused(one({"type": "string"}, required=required), {"x": sent})
    assert failure.field == "x"
    assert failure.message == "Property 'x' must be a string"


@pytest.mark.req("OSA-SCH-11")
def test_a_string_property_refuses_null() -> None:
    assert refused(STRING, {"x": None}).message == "Property 'x' must be a string"
    assert refused(one({"type": "string"}, required=True), {"x": None}).field == "x"


@pytest.mark.parametrize(
    "sent", ["15", "3.14", "true", "[1]", '{"a": 1}', " padded ", "null", "None", "\u00a0x"]
)
@pytest.mark.req("OSA-SCH-11")
def test_text_that_looks_like_something_else_stays_as_it_is(sent: str) -> None:
    found = prepared(STRING, {"x": sent})
    assert same(found.arguments, {"x": sent})
    assert found.repairs == ()


NUMERALS = st.from_regex(r"\A[+-]?[0-9]{1,25}(\.0{0,2})?(e[0-9])?\n?\Z")
ANYTHING = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)


@example("+" + "9" * 4_000)
@example("-" + "0" * 4_000)
@example("\uff19")
@given(ANYTHING | NUMERALS | st.text(max_size=8))
@pytest.mark.req("OSA-SCH-13")
def test_what_the_integer_helper_takes_the_preflight_takes_as_the_same_integer(
    sent: JsonValue,
) -> None:
    by_helper = require_int({"x": sent}, "x", expected="a count")
    if not isinstance(by_helper, Envelope):
        assert same(accepted(one({"type": "integer"}, required=True), {"x": sent})["x"], by_helper)


@given(ANYTHING | st.text(max_size=8))
@pytest.mark.req("OSA-SCH-13")
def test_what_the_text_helpers_take_the_preflight_takes(sent: JsonValue) -> None:
    needed = require_string({"x": sent}, "x", expected="a text", allow_empty=True)
    if not isinstance(needed, Envelope):
        assert accepted(one({"type": "string"}, required=True), {"x": sent})["x"] == needed
    wanted = optional_string({"x": sent}, "x", expected="a text")
    if not isinstance(wanted, Envelope):
        nullable = one({"type": ["string", "null"]})
        assert accepted(nullable, {"x": sent}).get("x") in (wanted, None)
