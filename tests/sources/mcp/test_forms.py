"""Forms of servers as questions, and answers as their content."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.mcp.elicitation import (
    LEAVE_OUT,
    Unfit,
    UnknownForm,
    address_question,
    agreed,
    content_of,
    form_fields,
)


def fields_of(**properties: Any) -> Any:
    schema: Any = {"properties": properties, "required": list(properties)}
    return form_fields("s", "m", schema)


@pytest.mark.parametrize(
    ("schema", "answers", "value"),
    [
        ({"type": "string"}, ["x"], "x"),
        ({"type": "string", "minLength": 1, "maxLength": 3}, ["abc"], "abc"),
        ({"type": "string", "enum": ["a", "b"]}, ["b"], "b"),
        ({"type": "string", "enum": ["a"], "enumNames": ["Name"]}, ["Name"], "a"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["b", "a"]}, ["b"], "a"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["One"]}, ["b"], "b"),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A title"}]}, ["A title"], "a"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, [" 3 "], 3),
        ({"type": "number"}, ["1.5"], 1.5),
        ({"type": "number"}, ["-2"], -2),
        ({"type": "boolean"}, ["yes"], True),
        ({"type": "boolean"}, ["No"], False),
        (
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            ["b", "a"],
            ["b", "a"],
        ),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "T"}]}}, ["T", "T"], ["a"]),
    ],
)
def test_an_answer_has_the_type_of_its_field(
    schema: Any, answers: list[str], value: object
) -> None:
    found = content_of(fields_of(f=schema), [answers])
    assert found == {"f": value}
    assert type(found["f"]) is type(value)


@pytest.mark.parametrize(
    ("schema", "answers", "said"),
    [
        ({"type": "string", "minLength": 2}, ["x"], "at least 2 characters"),
        ({"type": "string", "maxLength": 2}, ["xxx"], "at most 2 characters"),
        ({"type": "string", "enum": ["a"]}, ["b"], "is one of: a"),
        ({"type": "integer"}, ["1.5"], "is a whole number"),
        ({"type": "integer", "minimum": 5}, ["1"], "is at least 5"),
        ({"type": "integer", "maximum": 5}, ["9"], "is at most 5"),
        ({"type": "number"}, ["nan"], "is a number"),
        ({"type": "number"}, ["many"], "is a number"),
        ({"type": "boolean"}, ["perhaps"], "is Yes or No"),
        ({"type": "array", "minItems": 1, "items": {"enum": ["a"]}}, [], "has to be answered"),
        ({"type": "array", "minItems": 2, "items": {"enum": ["a"]}}, ["a"], "at least 2"),
        ({"type": "array", "maxItems": 1, "items": {"enum": ["a", "b"]}}, ["a", "b"], "at most 1"),
        ({"type": "string"}, [LEAVE_OUT], "has to be answered"),
    ],
)
def test_an_answer_that_does_not_fit_says_why(schema: Any, answers: list[str], said: str) -> None:
    with pytest.raises(Unfit, match=said):
        content_of(fields_of(f=schema), [tuple(answers)])


def test_what_is_not_required_may_be_left_out_and_what_is_usual_is_offered() -> None:
    schema: Any = {
        "properties": {
            "a": {"type": "string", "default": "usual", "description": "What\x1b it is"},
            "b": {"type": "boolean", "default": True},
            "c": {"type": "array", "items": {"enum": ["x", "y"]}, "default": ["x", "y"]},
            "d": {"type": "integer", "default": 3},
        }
    }
    a, b, c, d = form_fields("s", "m", schema)
    assert [one.label for one in a.question.options] == ["usual", LEAVE_OUT]
    assert a.question.question == "The MCP server s asks: m\na: What  it is (usually usual)"
    assert [one.label for one in b.question.options] == ["Yes", "No", LEAVE_OUT]
    assert b.question.question.endswith("(usually Yes)")
    assert c.question.multi_select
    assert c.question.question.endswith("(usually x, y)")
    assert [one.label for one in d.question.options] == ["3", LEAVE_OUT]
    assert content_of((a, b, c, d), [(LEAVE_OUT,), ("No",), (), ("3",)]) == {"b": False, "d": 3}


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"properties": {"a": 1}},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": {"type": "string", "enum": []}}},
        {"properties": {"a": {"type": "array"}}},
        {"properties": {str(at): {"type": "string"} for at in range(21)}},
    ],
)
def test_a_form_that_no_question_stands_for_is_not_asked(schema: Any) -> None:
    with pytest.raises(UnknownForm):
        form_fields("s", "m", schema)


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "file:///etc", "https://", "http://[::1", "https://a\nb", "x"],
)
def test_an_address_nobody_should_open_is_not_shown(url: str) -> None:
    assert address_question("s", "m", url) is None


def test_only_yes_is_yes() -> None:
    assert agreed([["Yes"]])
    assert agreed([[" yes "]])
    refusals: list[list[list[str]]] = [[], [[]], [["No"]], [["Yes", "No"]], [["sure"]]]
    for answers in refusals:
        assert not agreed(answers)


KINDS = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", 1, None])
SCHEMAS: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": KINDS},
    optional={
        "title": st.text(max_size=5),
        "enum": st.lists(st.text(max_size=3), max_size=3),
        "minimum": st.integers(-3, 3),
        "default": st.none() | st.text(max_size=3) | st.integers() | st.lists(st.text(max_size=3)),
        "items": st.fixed_dictionaries({"enum": st.lists(st.text(max_size=3), max_size=3)}),
    },
)


@given(
    st.dictionaries(st.text(max_size=4), SCHEMAS, max_size=3),
    st.lists(st.lists(st.text(min_size=1, max_size=4), max_size=2), min_size=3, max_size=3),
)
def test_any_form_and_any_answers_end_in_content_or_a_word(
    properties: dict[str, Any], answers: list[list[str]]
) -> None:
    try:
        fields = form_fields("s", "m", {"properties": properties})
    except UnknownForm:
        return
    for field in fields:
        labels = [one.label for one in field.question.options]
        assert all(labels)
    given_to = answers[: len(fields)]
    try:
        content = content_of(fields, given_to)
    except Unfit as problem:
        assert str(problem)  # noqa: PT017 - one of two good ends
    else:
        assert set(content) <= set(properties)
