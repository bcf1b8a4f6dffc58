"""Whole calls: what the checks refuse never enters a body, what they repair reaches it repaired."""

import json
from collections.abc import Mapping

import pytest
from preflight.kit import one
from support import make_call, make_pipeline, make_tool, settle

from holdfast.contract.arguments import UNPARSEABLE
from holdfast.contract.call import RawArguments
from holdfast.contract.failure import FailureKind
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Tool
from holdfast.envelope.dialects import ok
from holdfast.runtime.abort import Abort
from holdfast.sources.flow_class import tool_from_flow
from holdfast.sources.functions import tool_from_function
from holdfast.testing.fakes import FakeFlowSession

Entered = list[dict[str, object]]

READ: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1, "default": 10},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def _recording(schema: JsonObject, entered: Entered) -> Tool:
    def body(values: Mapping[str, object], _runtime: Runtime) -> object:
        entered.append(dict(values))
        return "done"

    return make_tool(body, schema=schema)


BAD: dict[str, tuple[RawArguments, str | None]] = {
    "a missing property": ({}, "path"),
    "null": ({"path": None}, "path"),
    "a wrong type": ({"path": 5}, "path"),
    "a wrong type of an optional one": ({"path": "a", "limit": "many"}, "limit"),
    "out of range": ({"path": "a", "limit": 0}, "limit"),
    "a stray key": ({"path": "a", "rogue": 1}, "rogue"),
    "not an object": ("[1]", None),
    "not JSON": ("{", None),
    "blank": (" ", None),
    "not Unicode": (b"\xff", None),
    "too deep": ('{"path":' * 500, None),
    "nan": ({"path": float("nan")}, None),
}


@pytest.mark.parametrize(("sent", "field"), BAD.values(), ids=BAD.keys())
@pytest.mark.req("OSA-SCH-02", "SPEC-CON-09", "SPEC-CON-10")
async def test_a_call_that_fails_its_check_is_answered_and_never_enters_the_body(
    sent: RawArguments, field: str | None
) -> None:
    entered: Entered = []
    envelope = await settle(_recording(READ, entered), sent)
    assert entered == []
    assert not envelope.ok
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.INVALID_ARGS
    assert envelope.failure.field == field
    assert envelope.failure.message
    assert ok.render(envelope).startswith('{"')


@pytest.mark.req("OSA-SCH-02", "SPEC-CON-09")
async def test_the_same_call_put_right_enters_the_body_once() -> None:
    entered: Entered = []
    envelope = await settle(_recording(READ, entered), {"path": "a", "limit": 1})
    assert envelope.ok
    assert entered == [{"path": "a", "limit": 1}]


@pytest.mark.parametrize(
    ("schema", "sent", "message"),
    [
        (READ, {}, "Missing required property: path"),
        (READ, {"path": 5}, "Property 'path' must be a string"),
        (one({"multipleOf": 5}), {"x": 3}, "Property 'x': 3 is not a multiple of 5"),
        (one({"const": 5}), {"x": 3}, "Property 'x': 5 was expected"),
    ],
)
@pytest.mark.req("SPEC-CON-10")
async def test_the_envelope_carries_the_words_of_the_check(
    schema: JsonObject, sent: RawArguments, message: str
) -> None:
    envelope = await settle(_recording(schema, []), sent)
    assert envelope.failure is not None
    assert envelope.failure.message == message


@pytest.mark.parametrize("raw", ["[]", '"text"', "null", "7", "true"])
@pytest.mark.req("BOA-ARG-03")
async def test_arguments_that_are_no_object_do_not_count_as_none(raw: str) -> None:
    entered: Entered = []
    envelope = await settle(_recording({"type": "object"}, entered), raw)
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.INVALID_ARGS
    assert envelope.failure.message == "Arguments must be an object"
    assert entered == []


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"path": "a", "limit": 0}, "limit"),
        ({"path": "a", "limit": -3}, "limit"),
        ({"path": "a", "limit": "-3"}, "limit"),
        ({"path": "a", "limit": "all"}, "limit"),
        ({"path": "a", "limit": True}, "limit"),
        ({"path": "a", "limit": [5]}, "limit"),
        ({"path": "a", "limit": None}, "limit"),
    ],
)
@pytest.mark.req("BOA-ARG-04")
async def test_a_wrong_optional_value_is_refused_not_replaced_by_the_default(
    sent: RawArguments, field: str
) -> None:
    entered: Entered = []
    envelope = await settle(_recording(READ, entered), sent)
    assert envelope.failure is not None
    assert (envelope.failure.kind, envelope.failure.field) == (FailureKind.INVALID_ARGS, field)
    assert entered == []


@pytest.mark.parametrize("raw", ['{"limit": 5', "limit=5", "{limit: 5}", "ls -la"])
@pytest.mark.req("BOA-CALL-08")
async def test_arguments_that_do_not_parse_are_an_error_and_not_an_empty_object(raw: str) -> None:
    entered: Entered = []
    envelope = await settle(_recording({"type": "object"}, entered), raw)
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.INVALID_ARGS
    assert "could not be parsed" in envelope.failure.message
    assert entered == []


class _Flow(FlowToolCall):
    def __init__(self) -> None:
        self.entered: list[Mapping[str, object]] = []

    @property
    def name(self) -> str:
        return "flow"

    @property
    def parameters(self) -> Mapping[str, object]:
        return READ

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        self.entered.append(arguments)
        return "done"


@pytest.mark.req("RATH-FTC-10")
async def test_a_flow_tools_parameters_are_enforced_before_it_is_called() -> None:
    flow = _Flow()
    tool = tool_from_flow(flow, FakeFlowSession())
    for bad, field in (({}, "path"), ({"path": "a", "limit": "x"}, "limit"), ({"path": 1}, "path")):
        envelope = await settle(tool, bad)
        assert envelope.failure is not None
        assert (envelope.failure.kind, envelope.failure.field) == (FailureKind.INVALID_ARGS, field)
    assert flow.entered == []
    assert (await settle(tool, {"path": "a", "limit": "3"})).ok
    assert flow.entered == [{"path": "a", "limit": 3}]


@pytest.mark.parametrize(("sent", "field"), [("{}", "timezone"), ('{"tz": "UTC"}', "timezone")])
@pytest.mark.req("CLI-EXM-03")
async def test_the_time_example_needs_its_timezone(sent: str, field: str) -> None:
    await _refuses_time(sent, field)


@pytest.mark.parametrize("key", ["zone", "Timezone", "format"])
@pytest.mark.req("CLI-EXM-03")
async def test_the_time_example_refuses_an_undeclared_key(key: str) -> None:
    await _refuses_time({"timezone": "Europe/Helsinki", key: "x"}, key)


async def _refuses_time(sent: RawArguments, field: str) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "timezone": {"type": "string", "description": "IANA timezone, e.g. Europe/Helsinki"},
            "tz": {"type": "string", "description": "Alias for timezone (deprecated)"},
        },
        "required": ["timezone"],
        "additionalProperties": False,
    }
    entered: Entered = []
    envelope = await settle(_recording(schema, entered), sent)
    assert envelope.failure is not None
    assert (envelope.failure.kind, envelope.failure.field) == (FailureKind.INVALID_ARGS, field)
    assert entered == []


SHELL: JsonObject = {
    "type": "object",
    "properties": {
        "command": {"type": "string"},
        "timeout": {"type": "integer", "default": 120},
        "background": {"type": "boolean", "default": False},
        "cwd": {"type": "string"},
    },
    "required": ["command"],
    "additionalProperties": False,
}


@pytest.mark.req("OSA-COE-32")
async def test_a_sloppy_shell_call_reaches_the_body_as_it_was_meant() -> None:
    entered: Entered = []
    sent = '{"command": "ls", "timeout": "15", "background": "no", "cwd": ""}'
    envelope = await settle(_recording(SHELL, entered), sent)
    assert envelope.ok
    assert entered == [{"command": "ls", "timeout": 15, "background": False}]
    assert entered[0]["background"] is False
    assert [done.repair for done in envelope.metadata.repairs] == [
        "dropped_empty",
        "integer_from_text",
        "boolean_from_text",
    ]


@pytest.mark.req("OSA-RES-01")
async def test_the_four_sloppy_shapes_are_repaired_before_the_body_sees_them() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "names": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
            "scope": {"type": "string", "enum": ["pinned", "episodes"]},
        },
    }
    entered: Entered = []
    await settle(
        _recording(schema, entered),
        {"count": "3", "names": '["a", "b"]', "note": "", "scope": "PINNED"},
    )
    assert entered == [{"count": 3, "names": ["a", "b"], "scope": "pinned"}]


@pytest.mark.req("OSA-RES-08")
async def test_no_default_is_filled_in_and_the_functions_own_applies() -> None:
    entered: Entered = []
    await settle(_recording(SHELL, entered), {"command": "ls"})
    assert entered == [{"command": "ls"}]

    def count(word: str, times: int = 7) -> str:
        """Repeat a word."""
        return word * times

    tool = tool_from_function(count, inline=True)
    envelope = await settle(tool, {"word": "a"})
    assert envelope.result == {"text": "aaaaaaa"}


async def test_of_a_repeated_key_the_body_sees_the_one_that_was_checked() -> None:
    entered: Entered = []
    tool = _recording(READ, entered)
    assert (await settle(tool, '{"path": 5, "path": "b"}')).ok
    assert entered == [{"path": "b"}]
    assert not (await settle(tool, '{"path": "b", "path": 5}')).ok
    assert len(entered) == 1


async def test_a_repair_of_the_arguments_as_a_whole_is_reported_with_the_others() -> None:
    envelope = await settle(_recording(READ, []), '"{\\"path\\": \\"a\\", \\"limit\\": \\"2\\"}"')
    assert [(done.repair, done.field) for done in envelope.metadata.repairs] == [
        ("object_from_text", ""),
        ("integer_from_text", "limit"),
    ]


async def test_a_type_the_schema_cannot_express_is_refused_as_an_argument() -> None:
    entered: list[float] = []

    def wait(seconds: float) -> None:
        """Wait."""
        entered.append(seconds)

    envelope = await settle(tool_from_function(wait, inline=True), {"seconds": 10**400})
    assert envelope.failure is not None
    assert (envelope.failure.kind, envelope.failure.field) == (FailureKind.INVALID_ARGS, "seconds")
    assert entered == []


async def test_an_unknown_tool_is_not_a_matter_of_arguments() -> None:
    envelope = await make_pipeline().settle(make_call("nothing", {}), Abort())
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.TOOL_NOT_FOUND


@pytest.mark.req("OSA-EXE-01")
@pytest.mark.parametrize("schema", [{}, {"type": "object"}])
async def test_without_a_schema_nothing_is_changed_and_what_is_no_json_never_enters(
    schema: JsonObject,
) -> None:
    entered: Entered = []
    tool = _recording(schema, entered)
    sent = {"n": "5", "flag": "true", "list": '["a"]', "null": None, "empty": "", "deep": {"a": 1}}
    envelope = await settle(tool, json.dumps(sent))
    assert envelope.ok
    assert entered == [sent]
    assert envelope.metadata.repairs == ()
    entered.clear()
    for raw in ("{", "no json", '{"a": }'):
        refused = await settle(tool, raw)
        assert refused.failure is not None
        assert refused.failure.message == UNPARSEABLE
        assert refused.failure.kind is FailureKind.INVALID_ARGS
    assert entered == []
