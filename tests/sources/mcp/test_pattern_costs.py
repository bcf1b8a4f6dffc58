"""What patterns cost is guessed from their text: much is known for much, and usual ones pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject
from holdfast.sources.mcp.definitions import Definition
from holdfast.sources.mcp.pattern_costs import MOST_COST, pattern_cost


def of(*patterns: str) -> int:
    schema: JsonObject = {"properties": {str(n): {"pattern": p} for n, p in enumerate(patterns)}}
    return pattern_cost([schema, None])


@pytest.mark.parametrize(
    "patterns",
    [
        [r"(?=\w{100}7)\w"] * 40,
        [r"(\w{50}){50}"],
        [r"\d{99999999999999999999}"],
        ["." * (MOST_COST + 1)],
    ],
)
def test_what_takes_long_is_too_much(patterns: list[str]) -> None:
    assert of(*patterns) > MOST_COST


@pytest.mark.parametrize(
    "pattern", ["^[a-z0-9-]{1,64}$", r"^\d{4}-\d{2}-\d{2}$", "^[A-Z]{3}$", r"^https?://"]
)
def test_dozens_of_usual_ones_pass(pattern: str) -> None:
    assert 0 <= of(*[pattern] * 40) <= MOST_COST


@given(
    st.recursive(
        st.text() | st.none(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["pattern", "patternProperties", "items"]), inner)
        ),
    )
)
def test_any_value_has_a_cost(value: object) -> None:
    assert pattern_cost(value) >= 0  # pyright: ignore[reportArgumentType] - JSON by construction


def test_patterns_of_names_count_as_well() -> None:
    assert pattern_cost({"patternProperties": {r"\w{5000}": {}}}) > MOST_COST


def test_a_definition_without_any_costs_nothing() -> None:
    plain = Definition(name="x", input_schema={"type": "object"})
    assert pattern_cost([plain.input_schema, plain.output_schema]) == 0
