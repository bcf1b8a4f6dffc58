"""Flow classes: a schema the model sees and a callable that gets the session."""

from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.contract.backend import (
    BackendTool,
    BackendToolFilesRead,
    FileContent,
    ToolResult,
)
from holdfast.contract.flow import FlowSandbox, FlowSession, FlowToolCall
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import ToolDefinitionError
from holdfast.sources.flow_class import tool_from_flow

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
    "x-anything": [None, {"kept": True}],
}


class AddOne(FlowToolCall):
    @property
    def name(self) -> str:
        return "add_one"

    @property
    def parameters(self) -> Mapping[str, object]:
        return SCHEMA

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        return {"session": session, "sum": int(str(arguments["x"])) + 1}


class ReadFile(FlowToolCall):
    parallel_safe = True

    @property
    def name(self) -> str:
        return "read_file"

    @property
    def description(self) -> str | None:
        return "Read a file."

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"type": "object"}

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        return session.require_sandbox().dispatch(BackendToolFilesRead(str(arguments["path"])))

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        return ("file", str(arguments["path"]))


class EchoSandbox:
    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        assert isinstance(payload, BackendToolFilesRead)
        return FileContent(f"content of {payload.path}")


class OneSession:
    def require_sandbox(self) -> FlowSandbox:
        return EchoSandbox()


@pytest.mark.req("RATH-FTC-01")
@pytest.mark.parametrize("missing", ["name", "parameters", "__call__"])
def test_a_flow_class_without_a_required_part_cannot_be_instantiated(missing: str) -> None:
    members = {key: value for key, value in vars(AddOne).items() if key != missing}
    members.pop("__abstractmethods__", None)
    incomplete: Any = type("Incomplete", (FlowToolCall,), members)
    with pytest.raises(TypeError, match=missing):
        incomplete()


@pytest.mark.req("RATH-FTC-02", "RATH-FTC-03")
def test_name_and_description_are_the_tools_and_the_latter_may_be_absent() -> None:
    assert tool_from_flow(AddOne(), OneSession()).name == "add_one"
    assert tool_from_flow(AddOne(), OneSession()).description is None
    assert tool_from_flow(ReadFile(), OneSession()).description == "Read a file."


def test_the_schema_is_passed_on_unchanged_and_detached() -> None:
    made = tool_from_flow(AddOne(), OneSession())
    assert made.input_schema == SCHEMA
    assert made.input_schema is not SCHEMA


@pytest.mark.req("RATH-FTC-05", "RATH-LAY-02", "RATH-LAY-04")
def test_the_body_gets_session_and_arguments_and_may_answer_itself(
    runtime: Runtime,
) -> None:
    session = OneSession()
    made = tool_from_flow(AddOne(), session)
    assert made.body.style == "thread"
    assert made.body.invoke({"x": 41}, runtime) == {"session": session, "sum": 42}


@pytest.mark.req("RATH-GEN-02")
def test_the_model_sees_a_schema_and_the_body_may_use_a_backend(
    runtime: Runtime,
) -> None:
    made = tool_from_flow(ReadFile(), OneSession())
    assert made.input_schema == {"type": "object"}
    assert made.body.invoke({"path": "a"}, runtime) == FileContent("content of a")
    answered = tool_from_flow(AddOne(), OneSession()).body.invoke({"x": 1}, runtime)
    assert isinstance(answered, dict)


@pytest.mark.req("RATH-FTC-09")
def test_calls_are_serial_unless_the_class_says_otherwise() -> None:
    class Safe(AddOne):
        parallel_safe = True

    session = OneSession()
    serial, safe, keyed = (tool_from_flow(flow, session) for flow in (AddOne(), Safe(), ReadFile()))
    assert AddOne.parallel_safe is False
    assert (serial.parallel_safe, serial.resource_key({})) == (False, ("global",))
    assert (safe.parallel_safe, safe.resource_key({})) == (True, ("safe", "add_one"))
    assert keyed.resource_key({"path": "a"}) == ("file", "a")


def test_a_flow_class_requires_nothing_of_its_own() -> None:
    assert tool_from_flow(ReadFile(), OneSession()).requires == NOTHING_REQUIRED


def test_parameters_that_are_no_mapping_are_refused() -> None:
    broken = type("Broken", (AddOne,), {"parameters": [1]})()
    with pytest.raises(ToolDefinitionError, match="parameters"):
        tool_from_flow(broken, OneSession())
