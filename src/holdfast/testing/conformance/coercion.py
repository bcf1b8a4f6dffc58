"""The coercion suite: preflight and the argument helpers."""

from collections.abc import Iterator

from holdfast.contract.arguments import (
    optional_string,
    require_arguments,
    require_int,
    require_string,
    require_string_array,
)
from holdfast.contract.builders import failure_of
from holdfast.contract.call import Rejected, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.tool import Body, Tool
from holdfast.preflight.plan import Plan
from holdfast.preflight.schema import SchemaProblem
from holdfast.testing.conformance.case import Case, NotForUs, differs, part, text, texts

_HELPERS = {
    "require_string": require_string,
    "require_int": require_int,
    "require_string_array": require_string_array,
    "optional_string": optional_string,
}


def check(case: Case) -> Iterator[str]:
    """Judge one case."""
    operation = text(case, "op")
    if operation == "preflight":
        return _compare(_preflight(case), part(case, "expect"), "args")
    if operation == "require_arguments":
        return _compare(_value(require_arguments(text(case, "raw"))), part(case, "expect"), "value")
    if operation in _HELPERS:
        return _compare(_helper(case, operation), part(case, "expect"), "value")
    raise NotForUs


def _helper(case: Case, operation: str) -> "JsonValue | Failure | list[str]":
    arguments, key, expected = part(case, "args"), text(case, "key"), text(case, "expected")
    if operation == "require_string":
        allow_empty = case.get("allow_empty") is True
        return _value(require_string(arguments, key, expected=expected, allow_empty=allow_empty))
    return _value(_HELPERS[operation](arguments, key, expected=expected))


def _value(
    given: "JsonObject | JsonValue | list[str] | Envelope",
) -> "JsonValue | list[str] | Failure":
    if not isinstance(given, Envelope):
        return given
    if given.failure is None:
        raise ValueError("a helper answered with a success envelope")
    return given.failure


def _preflight(case: Case) -> "JsonObject | Failure":
    schema = case.get("schema")
    tool = Tool(
        name="case",
        description=None,
        input_schema=schema,  # pyright: ignore[reportArgumentType] - a case may hold a bad schema
        requires=NOTHING_REQUIRED,
        body=Body(style="inline", invoke=lambda _values, _runtime: None),
        keep_empty=frozenset(texts(case, "keep_empty")),
    )
    raw = case.get("raw")
    written = raw if isinstance(raw, str) else encode_json(case.get("args"))
    call = ToolCall(id="case", tool="case", arguments=written, session_id="conformance")
    try:
        prepared = Plan(tool).prepare(call)
    except SchemaProblem as problem:
        return failure_of(FailureKind.INVALID_ARGS, str(problem))
    return prepared.failure if isinstance(prepared, Rejected) else prepared.arguments


def _compare(found: object, expect: JsonObject, key: str) -> Iterator[str]:
    if not isinstance(expect.get("ok"), bool):
        yield "the case expects neither success nor refusal"
        return
    if expect["ok"]:
        if isinstance(found, Failure):
            yield f"refused: {found.message}"
        elif key in expect:
            yield from differs(key, found, expect[key])
        return
    if not isinstance(found, Failure):
        yield f"accepted as {found!r}"
        return
    yield from _compare_failure(found, expect)


def _compare_failure(found: Failure, expect: JsonObject) -> Iterator[str]:
    facts: JsonObject = {
        "kind": found.kind.value,
        "field": found.field,
        "message": found.message,
        "expected": found.expected,
    }
    for key, value in facts.items():
        if key in expect:
            yield from differs(key, value, expect[key])
    allowed = texts(expect, "field_any")
    if allowed and found.field not in allowed:
        yield f"field: expected one of {allowed}, got {found.field!r}"
    for needle in texts(expect, "message_contains"):
        if needle not in found.message:
            yield f"message: expected {needle!r} in {found.message!r}"
