"""What holds for any schema and any arguments."""

import copy
import json

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from preflight.kit import prepare, same, tool_of
from preflight.strategies import Case, cases, json_objects, json_values, schemas

from holdfast.contract.call import Prepared, Rejected
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.preflight.explain import explain
from holdfast.preflight.parse import Parsed, parse_arguments
from holdfast.preflight.plan import Plan
from holdfast.preflight.repair import repair_arguments
from holdfast.preflight.schema import SchemaProblem, compile_validator, effective_schema
from holdfast.preflight.shape import shape_of

many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _plan(schema: JsonObject) -> Plan:
    """A plan; a reference that only leads back to itself is refused, which is not the matter."""
    try:
        return Plan(tool_of(schema))
    except SchemaProblem:
        assume(condition=False)
        raise


def _repaired(schema: JsonObject, arguments: JsonObject) -> JsonObject:
    changed = copy.deepcopy(arguments)
    repair_arguments(shape_of(effective_schema(schema).schema), changed)
    return changed


@many
@given(cases())
@pytest.mark.req("OSA-COE-28")
def test_repairing_twice_changes_nothing_more(case: Case) -> None:
    _plan(case.schema)
    shape = shape_of(effective_schema(case.schema).schema)
    arguments = copy.deepcopy(case.arguments)
    repair_arguments(shape, arguments)
    once = copy.deepcopy(arguments)
    assert repair_arguments(shape, arguments) == []
    assert same(arguments, once)


@many
@given(schemas(), json_objects)
def test_repairing_anything_by_any_schema_never_fails(
    schema: JsonObject, arguments: JsonObject
) -> None:
    _plan(schema)
    for done in repair_arguments(shape_of(effective_schema(schema).schema), arguments):
        assert done.repair


@many
@given(cases())
def test_the_fast_way_and_the_slow_way_agree(case: Case) -> None:
    plan = _plan(case.schema)
    slow = _repaired(case.schema, case.arguments)
    fits = compile_validator(effective_schema(case.schema).schema).is_valid(slow)
    found = prepare(plan, case.arguments)
    assert isinstance(found, Prepared) is fits
    if isinstance(found, Prepared):
        assert same(found.arguments, slow)


@many
@given(cases(sloppy=False))
def test_arguments_that_fit_and_need_no_repair_come_through_unchanged(case: Case) -> None:
    plan = _plan(case.schema)
    assume(same(_repaired(case.schema, case.arguments), case.arguments))
    assume(compile_validator(effective_schema(case.schema).schema).is_valid(case.arguments))
    found = prepare(plan, case.arguments)
    assert isinstance(found, Prepared)
    assert found.repairs == ()
    assert same(found.arguments, case.arguments)


@many
@given(cases())
def test_a_change_is_never_silent(case: Case) -> None:
    found = prepare(_plan(case.schema), case.arguments)
    if isinstance(found, Prepared) and not found.repairs:
        assert same(found.arguments, case.arguments)


@many
@given(cases() | st.builds(Case, schemas(), json_objects))
def test_whatever_is_refused_is_put_into_words(case: Case) -> None:
    _plan(case.schema)
    effective = effective_schema(case.schema).schema
    validator = compile_validator(effective)
    assume(not validator.is_valid(case.arguments))
    failure = explain(effective, case.arguments, validator)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert failure.message.strip()
    assert encode_json(failure)


@many
@given(cases())
def test_an_example_given_for_a_refused_call_is_accepted(case: Case) -> None:
    plan = _plan(case.schema)
    found = prepare(plan, case.arguments)
    assume(isinstance(found, Rejected))
    example = plan.example(_repaired(case.schema, case.arguments))
    if example is not None:
        assert isinstance(prepare(plan, example), Prepared)


@many
@given(cases())
def test_text_and_mapping_of_the_same_arguments_are_treated_alike(case: Case) -> None:
    plan = _plan(case.schema)
    by_mapping = prepare(plan, case.arguments)
    by_text = prepare(plan, json.dumps(case.arguments))
    assert type(by_mapping) is type(by_text)
    if isinstance(by_mapping, Prepared) and isinstance(by_text, Prepared):
        assert same(by_mapping.arguments, by_text.arguments)
        assert by_mapping.repairs == by_text.repairs


JSON_PIECES = st.sampled_from(
    ['{"a":', "{", "}", "[", "]", ",", ":", '"', "\\", "\\ud800", "1e400", "NaN", " ", "null", "9"]
)
TEXTS = st.text() | st.lists(JSON_PIECES).map("".join) | json_values.map(json.dumps)


@settings(max_examples=300, deadline=None)
@given(TEXTS | st.binary() | TEXTS.map(json.dumps))
def test_any_text_is_read_or_refused(raw: str | bytes) -> None:
    found = parse_arguments(raw)
    assert isinstance(found, (Parsed, Failure))
    assert encode_json(found)


@many
@given(schemas(), TEXTS | st.binary())
def test_any_text_for_any_tool_ends_prepared_or_rejected(
    schema: JsonObject, raw: str | bytes
) -> None:
    assert isinstance(prepare(_plan(schema), raw), (Prepared, Rejected))


@settings(max_examples=100, deadline=None)
@given(json_values.filter(lambda value: isinstance(value, dict)))
def test_any_object_is_parsed_as_itself(value: JsonValue) -> None:
    found = parse_arguments(json.dumps(value))
    assert isinstance(found, Parsed)
    assert same(found.arguments, value)
