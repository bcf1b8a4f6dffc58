"""The filled example: accepted by the very tool it is for, and given when a refusal repeats."""

import pytest
from preflight.kit import one, prepare, tool_of
from support import make_call, make_pipeline, make_tool

from holdfast.contract.call import Prepared, RawArguments
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.tool import ArgumentFault
from holdfast.preflight.plan import Plan
from holdfast.runtime.abort import Abort
from holdfast.runtime.pipeline import Pipeline

FILLED: list[tuple[JsonObject, JsonValue]] = [
    ({"type": "string"}, "text"),
    ({"type": "string", "minLength": 6}, "textxx"),
    ({"type": "string", "maxLength": 2}, "te"),
    ({"type": "integer"}, 1),
    ({"type": "integer", "minimum": 5}, 5),
    ({"type": "number", "maximum": -2}, -2),
    ({"type": "number"}, 1.5),
    ({"type": "boolean"}, True),
    ({"type": "null"}, None),
    ({"type": ["integer", "null"]}, 1),
    ({"type": "array"}, []),
    ({"type": "array", "items": {"type": "integer"}}, [1]),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 3}, [1, 1, 1]),
    ({"type": "object"}, {}),
    (one({"type": "integer"}, required=True), {"x": 1}),
    ({"enum": ["low", "high"]}, "low"),
    ({"const": 7}, 7),
    ({"type": "string", "examples": ["2026-01-01"]}, "2026-01-01"),
    ({"type": "integer", "default": 30}, 30),
    ({"type": "integer", "examples": []}, 1),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 1),
    ({"oneOf": [{"type": "boolean"}]}, True),
    ({"$ref": "#/$defs/word"}, "text"),
    ({}, "text"),
    ({"description": "anything"}, "text"),
]


def _with_definitions(child: JsonValue) -> JsonObject:
    return {**one(child, required=True), "$defs": {"word": {"type": "string"}}}


@pytest.mark.parametrize(("child", "value"), FILLED, ids=[str(child) for child, _ in FILLED])
def test_a_required_property_is_filled_with_something_that_fits(
    child: JsonObject, value: JsonValue
) -> None:
    plan = Plan(tool_of(_with_definitions(child)))
    assert plan.example({}) == {"x": value}
    assert isinstance(prepare(plan, {"x": value}), Prepared)


@pytest.mark.parametrize(
    "child",
    [
        pytest.param({"type": "string", "pattern": "^[0-9]{4}$"}, id="a pattern"),
        pytest.param({"type": "integer", "multipleOf": 7}, id="a multiple"),
        pytest.param({"type": "integer", "minimum": 0.5}, id="a fractional bound"),
        pytest.param({"type": "string", "minLength": 5_000}, id="a very long text"),
        pytest.param({"type": "array", "items": {}, "minItems": 9}, id="a long array"),
        pytest.param({"type": "array", "minItems": 1}, id="an array of anything"),
        pytest.param({"anyOf": [True], "type": "integer", "minimum": 2.5}, id="odd branches"),
        pytest.param(False, id="nothing"),
    ],
)
def test_no_example_is_given_when_it_would_not_be_accepted(child: JsonValue) -> None:
    assert Plan(tool_of(_with_definitions(child))).example({}) is None


def test_an_example_keeps_what_was_right_and_replaces_what_was_wrong() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer"},
            "mode": {"type": "string", "enum": ["fast", "slow"]},
        },
        "required": ["path", "mode"],
        "additionalProperties": False,
    }
    sent: JsonObject = {"path": "a.txt", "limit": "many", "mode": "slow", "rogue": 1}
    assert Plan(tool_of(schema)).example(sent) == {"path": "a.txt", "mode": "slow"}


def test_a_long_value_is_not_repeated_in_an_example() -> None:
    plan = Plan(tool_of(one({"type": "string"}, required=True)))
    assert plan.example({"x": "y" * 100_000}) == {"x": "text"}


def test_a_required_name_without_a_schema_is_filled_too() -> None:
    plan = Plan(tool_of({"type": "object", "required": ["zz"]}))
    assert plan.example({}) == {"zz": "text"}


def test_a_schema_that_is_a_reference_gets_an_example() -> None:
    schema: JsonObject = {
        "$ref": "#/$defs/call",
        "$defs": {"call": one({"type": "integer"}, required=True)},
    }
    assert Plan(tool_of(schema)).example({"x": "many"}) == {"x": 1}


@pytest.mark.parametrize("width", [1, 9])
def test_an_endless_schema_has_no_example_and_costs_little(width: int) -> None:
    names: list[JsonValue] = [f"p{number}" for number in range(width)]
    node: JsonObject = {
        "type": "object",
        "properties": {str(name): {"$ref": "#/$defs/node"} for name in names},
        "required": names,
    }
    plan = Plan(tool_of({**one({"$ref": "#/$defs/node"}, required=True), "$defs": {"node": node}}))
    assert plan.example({}) is None


def test_an_example_is_one_the_decoder_takes_too() -> None:
    def decode(arguments: JsonObject) -> dict[str, object] | ArgumentFault:
        if arguments["x"] != "text":
            return ArgumentFault(message="only text will do", field="x")
        return dict(arguments)

    plan = Plan(tool_of(one({"type": "string"}, required=True), decode=decode))
    assert plan.example({"x": "other"}) == {"x": "text"}

    def never(_arguments: JsonObject) -> dict[str, object] | ArgumentFault:
        return ArgumentFault(message="nothing will do")

    plan = Plan(tool_of(one({"type": "string"}, required=True), decode=never))
    assert plan.example({"x": "other"}) is None


COPY: JsonObject = {
    "type": "object",
    "properties": {"source": {"type": "string"}, "times": {"type": "integer"}},
    "required": ["source", "times"],
    "additionalProperties": False,
}


async def _refused(
    pipeline: Pipeline, sent: RawArguments, *, session: str = "ses_test", tool: str = "probe"
) -> Failure:
    call = make_call(tool, sent, session=session)
    envelope: Envelope = await pipeline.settle(call, Abort())
    assert envelope.failure is not None
    return envelope.failure


async def test_a_refused_call_that_comes_again_gets_an_example_that_is_accepted() -> None:
    tool = make_tool(schema=COPY)
    pipeline = make_pipeline(tool)
    sent = '{"source": "a", "times": "many"}'
    first = await _refused(pipeline, sent)
    assert first.message == "Property 'times' must be an integer"
    assert "example" not in first.extras
    second = await _refused(pipeline, sent)
    example = second.extras["example"]
    assert example == {"source": "a", "times": 1}
    assert second.message.startswith(first.message)
    assert "refused 2 times; unchanged it will be refused again." in second.message
    assert second.message.endswith('A call that would be accepted: {"source":"a","times":1}')
    assert (second.kind, second.field) == (first.kind, first.field)
    assert isinstance(example, dict)
    accepted = await pipeline.settle(make_call(arguments=example), Abort())
    assert accepted.ok
    third = await _refused(pipeline, sent)
    assert "refused 3 times" in third.message


async def test_the_count_belongs_to_the_exact_call() -> None:
    pipeline = make_pipeline(make_tool(schema=COPY), make_tool(name="other", schema=COPY))
    await _refused(pipeline, '{"source": 1}')
    for failure in (
        await _refused(pipeline, '{"source": 2}'),
        await _refused(pipeline, b'{"source": 3}'),
        await _refused(pipeline, {"source": 4}),
        await _refused(pipeline, '{"source": 1}', tool="other"),
        await _refused(pipeline, '{"source": 1}', session="ses_other"),
    ):
        assert "refused" not in failure.message
    assert "refused 2 times" in (await _refused(pipeline, '{"source": 1}')).message
    assert "refused 2 times" in (await _refused(pipeline, {"source": 4})).message


async def test_an_accepted_call_between_two_refusals_changes_nothing() -> None:
    pipeline = make_pipeline(make_tool(schema=COPY))
    await _refused(pipeline, "{}")
    assert (await pipeline.settle(make_call(arguments={"source": "a", "times": 1}), Abort())).ok
    assert "refused 2 times" in (await _refused(pipeline, "{}")).message


@pytest.mark.parametrize("sent", ["{", "[1]", '{"a":' * 200, b"\xff"])
async def test_text_that_cannot_be_read_gets_an_example_when_it_comes_again(
    sent: RawArguments,
) -> None:
    pipeline = make_pipeline(make_tool(schema=COPY))
    await _refused(pipeline, sent)
    again = await _refused(pipeline, sent)
    assert again.extras["example"] == {"source": "text", "times": 1}


async def test_without_an_example_the_hint_stands_alone() -> None:
    pipeline = make_pipeline(
        make_tool(schema=one({"type": "string", "pattern": "^[0-9]{4}$"}, required=True))
    )
    await _refused(pipeline, {"x": "a"})
    again = await _refused(pipeline, {"x": "a"})
    assert again.message.endswith("unchanged it will be refused again.")
    assert "example" not in again.extras
    unknown = make_pipeline()
    await _refused(unknown, {}, tool="nothing")
    assert "refused 2 times" in (await _refused(unknown, {}, tool="nothing")).message


async def test_only_the_most_recent_few_hundred_refusals_are_remembered() -> None:
    pipeline = make_pipeline(make_tool(schema=COPY))
    await _refused(pipeline, '{"source": 0}')
    for number in range(1, 600):
        await _refused(pipeline, f'{{"source": {number}}}')
    assert "refused" not in (await _refused(pipeline, '{"source": 0}')).message
    assert "refused 2 times" in (await _refused(pipeline, '{"source": 599}')).message
