"""One call through parse, repair and check, without a pipeline around it.

Whatever is prepared here is also prepared from its text, and the slow way, without the checks that
let clean arguments pass: all must come to the same end.
"""

import copy
from collections.abc import Iterable

import msgspec

from holdfast.contract.call import Prepared, RawArguments, Rejected, ToolCall
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import MAX_DEPTH, JsonObject, JsonValue, depth_of, encode_json
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.tool import Body, Decode, Tool
from holdfast.preflight.parse import Parsed, parse_arguments
from holdfast.preflight.plan import Plan
from holdfast.preflight.repair import repair_arguments
from holdfast.preflight.schema import compile_validator, effective_schema
from holdfast.preflight.shape import shape_of


def tool_of(
    schema: JsonObject, *, keep_empty: Iterable[str] = (), decode: Decode | None = None
) -> Tool:
    return Tool(
        name="probe",
        description=None,
        input_schema=schema,
        requires=NOTHING_REQUIRED,
        body=Body(style="inline", invoke=lambda values, _runtime: dict(values), decode=decode),
        keep_empty=frozenset(keep_empty),
    )


def prepare(plan: Plan, arguments: RawArguments) -> Prepared | Rejected:
    call = ToolCall(id="cal_test", tool="probe", arguments=arguments, session_id="ses_test")
    found = plan.prepare(call)
    parsed = parse_arguments(arguments)
    if isinstance(parsed, Parsed) and plan.tool.body.decode is None:
        as_text = msgspec.structs.replace(call, arguments=encode_json(parsed.arguments))
        for way in (found, plan.prepare(as_text)):
            _agree(way, plan.tool, copy.deepcopy(parsed.arguments))
    return found


def _agree(found: Prepared | Rejected, tool: Tool, arguments: JsonObject) -> None:
    schema = effective_schema(tool.input_schema).schema
    repairs = repair_arguments(shape_of(schema, keep_empty=tool.keep_empty), arguments)
    fits = depth_of(arguments) <= MAX_DEPTH and compile_validator(schema).is_valid(arguments)
    assert isinstance(found, Prepared) is fits
    if isinstance(found, Prepared):
        assert same(found.arguments, arguments)
        assert [*found.repairs][len(found.repairs) - len(repairs) :] == repairs


def prepared(
    schema: JsonObject, arguments: RawArguments, *, keep_empty: Iterable[str] = ()
) -> Prepared:
    found = prepare(Plan(tool_of(schema, keep_empty=keep_empty)), arguments)
    assert isinstance(found, Prepared), found
    return found


def accepted(
    schema: JsonObject, arguments: RawArguments, *, keep_empty: Iterable[str] = ()
) -> JsonObject:
    return prepared(schema, arguments, keep_empty=keep_empty).arguments


def refused(schema: JsonObject, arguments: RawArguments) -> Failure:
    found = prepare(Plan(tool_of(schema)), arguments)
    assert isinstance(found, Rejected), found
    return found.failure


def parsed(raw: RawArguments) -> JsonObject:
    found = parse_arguments(raw)
    assert isinstance(found, Parsed), found
    return found.arguments


def unparsed(raw: RawArguments) -> Failure:
    found = parse_arguments(raw)
    assert isinstance(found, Failure), found
    return found


def one(child: JsonValue, *, required: bool = False, closed: bool = False) -> JsonObject:
    """A schema with the single property ``x``."""
    schema: JsonObject = {"type": "object", "properties": {"x": child}}
    if required:
        schema["required"] = ["x"]
    if closed:
        schema["additionalProperties"] = False
    return schema


def same(found: JsonValue, wanted: JsonValue) -> bool:
    """Equal, with 1, 1.0 and True kept apart."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(
            same(found[key], wanted[key]) for key in wanted
        )
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return type(found) is type(wanted) and found == wanted
