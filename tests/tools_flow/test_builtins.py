"""The built-in flow tools: closed schemas, and one payload for one call."""

import json
from collections.abc import Callable, Mapping
from typing import cast

import jsonschema_rs
import pytest
from support import settle

from holdfast.contract import backend
from holdfast.contract.backend import (
    BackendTool,
    BackendToolCodeRun,
    BackendToolCommandRun,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
    CommandResult,
    FileContent,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.failure import FailureKind
from holdfast.contract.flow import FlowToolCall
from holdfast.flow import table_schemas, tool_table
from holdfast.runtime.definitions import openai_definition
from holdfast.sources.flow_class import tool_from_flow
from holdfast.testing.fakes import FakeFlowSession
from holdfast.tools.flow import FLOW_BUILTINS
from holdfast.tools.flow.shell import guarded

pytestmark = pytest.mark.anyio

BUILT: list[tuple[str, dict[str, object], BackendTool]] = [
    ("run_shell_command", {"cmd": "ls -l"}, BackendToolCommandRun(cmd="ls -l")),
    (
        "write_workspace_file",
        {"path": "a.md", "content": "é"},
        BackendToolFilesWrite(path="a.md", data="é"),
    ),
    ("write_workspace_file", {"path": "a", "content": ""}, BackendToolFilesWrite("a", "")),
    ("read_workspace_file", {"path": "a.md"}, BackendToolFilesRead("a.md", "utf-8")),
    (
        "read_workspace_file",
        {"path": "a.md", "encoding": "latin-1"},
        BackendToolFilesRead("a.md", "latin-1"),
    ),
    (
        "read_workspace_file",
        {"path": "a.bin", "encoding": None},
        BackendToolFilesRead("a.bin", None),
    ),
    ("list_workspace_files", {"path": "."}, BackendToolFilesList(path=".")),
    ("workspace_path_exists", {"path": "a"}, BackendToolFilesExists(path="a")),
    ("run_code", {"code": "print(1)"}, BackendToolCodeRun(code="print(1)")),
    (
        "run_code",
        {"code": "1", "language": "ruby", "timeout": 3},
        BackendToolCodeRun("1", "ruby", 3.0),
    ),
    ("run_code", {"code": "1", "timeout": None}, BackendToolCodeRun("1")),
]

ARGUMENTS = {name: arguments for name, arguments, _payload in BUILT}


def _exported(name: str) -> dict[str, object]:
    """The parameters as the model gets them, after a trip over the wire."""
    wire: list[dict[str, dict[str, object]]] = json.loads(json.dumps(table_schemas(tool_table())))
    (function,) = (entry["function"] for entry in wire if entry["function"]["name"] == name)
    return cast("dict[str, object]", function["parameters"])


def test_there_are_six_and_the_table_of_them_cannot_be_changed() -> None:
    assert set(FLOW_BUILTINS) == set(ARGUMENTS)
    assert all(name == tool.name for name, tool in FLOW_BUILTINS.items())
    assert all(tool.description for tool in FLOW_BUILTINS.values())
    with pytest.raises(TypeError):
        FLOW_BUILTINS["x"] = FLOW_BUILTINS["run_code"]  # pyright: ignore[reportIndexIssue] - on purpose


@pytest.mark.req("RATH-BLT-09")
@pytest.mark.parametrize("name", FLOW_BUILTINS)
def test_a_built_in_schema_is_closed_and_stays_so_when_exported(name: str) -> None:
    tool = FLOW_BUILTINS[name]
    assert tool.parameters["additionalProperties"] is False
    assert _exported(name)["additionalProperties"] is False
    bound = openai_definition(tool_from_flow(tool, FakeFlowSession()))
    function = cast("dict[str, Mapping[str, object]]", bound["function"])
    assert function["parameters"]["additionalProperties"] is False
    validator = jsonschema_rs.validator_for(_exported(name))
    assert validator.is_valid(ARGUMENTS[name])
    assert not validator.is_valid({**ARGUMENTS[name], "extra": 1})
    assert not validator.is_valid({})


@pytest.mark.req("RATH-PAY-01")
@pytest.mark.parametrize(("name", "arguments", "payload"), BUILT)
def test_a_built_in_turns_its_arguments_into_one_payload(
    name: str, arguments: dict[str, object], payload: BackendTool
) -> None:
    assert jsonschema_rs.validator_for(_exported(name)).is_valid(arguments)
    session = FakeFlowSession()
    FLOW_BUILTINS[name](session, arguments)
    assert session.dispatched == [payload]


@pytest.mark.req("RATH-PAY-01")
def test_no_payload_class_appears_in_what_the_model_is_told() -> None:
    told = json.dumps(table_schemas(tool_table()))
    payloads = [name for name in vars(backend) if name.startswith("BackendTool")]
    assert len(payloads) >= 7
    assert not [name for name in payloads if name in told]
    properties = {
        key
        for name in FLOW_BUILTINS
        for key in cast("dict[str, object]", _exported(name)["properties"])
    }
    assert properties == {"cmd", "path", "content", "encoding", "code", "language", "timeout"}
    hidden = {"env", "cwd", "stdin", "mode", "data"}  # fields of payloads only
    assert not hidden & properties


@pytest.mark.req("RATH-GEN-01")
def test_what_a_model_calls_and_what_a_sandbox_does_are_kept_apart() -> None:
    payloads = [payload for _name, _arguments, payload in BUILT]
    for tool in FLOW_BUILTINS.values():
        assert not isinstance(tool, BackendTool)
        assert isinstance(tool, FlowToolCall)
    for payload in payloads:
        assert not isinstance(payload, FlowToolCall)
        assert not callable(payload)
        assert not hasattr(payload, "parameters")
        assert not hasattr(payload, "description")
    session = FakeFlowSession()
    for name, arguments, _payload in BUILT:
        FLOW_BUILTINS[name](session, arguments)
    assert all(isinstance(sent, BackendTool) for sent in session.dispatched)
    assert session.dispatched == payloads


@pytest.mark.parametrize(
    "answer",
    [CommandResult(3, b"", b"", 1.0), FileContent("x"), True, ToolExecutionFailure("timeout", "m")],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("name", FLOW_BUILTINS)
def test_whatever_the_sandbox_answers_comes_back_as_it_is(
    name: str, answer: ToolResult | bool
) -> None:
    assert FLOW_BUILTINS[name](FakeFlowSession([answer]), ARGUMENTS[name]) is answer


@pytest.mark.parametrize("name", FLOW_BUILTINS)
def test_without_a_sandbox_every_built_in_raises_and_dispatches_nothing(name: str) -> None:
    session = FakeFlowSession(sandbox=False)
    with pytest.raises(RuntimeError, match="session has no sandbox backend"):
        FLOW_BUILTINS[name](session, ARGUMENTS[name])
    assert session.dispatched == []


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("echo a\necho b", "multiline commands are rejected"),
        ("echo a\recho b", "multiline commands are rejected"),
        ("echo a\n", "multiline commands are rejected"),
        ("x" * 2_049, "command too long"),
    ],
)
@pytest.mark.req("RATH-BLT-10", "RATH-EDG-11")
def test_a_refused_command_never_reaches_a_sandbox(command: str, reason: str) -> None:
    session = FakeFlowSession(sandbox=False)
    with pytest.raises(ValueError, match=reason):
        FLOW_BUILTINS["run_shell_command"](session, {"cmd": command})
    assert session.dispatched == []


@pytest.mark.parametrize("command", ["echo a\necho b", "x" * 2_049])
async def test_a_refused_command_is_an_invalid_argument_in_the_envelope(command: str) -> None:
    session = FakeFlowSession()
    tool = tool_from_flow(FLOW_BUILTINS["run_shell_command"], session)
    answer = await settle(tool, {"cmd": command})
    assert answer.failure is not None
    assert (answer.failure.kind, answer.failure.field) == (FailureKind.INVALID_ARGS, "cmd")
    assert session.dispatched == []


@pytest.mark.req("RATH-BLT-11")
def test_a_command_of_2049_characters_is_too_long_and_one_of_2048_is_not() -> None:
    assert guarded("x" * 2_048) == "x" * 2_048
    with pytest.raises(ValueError, match="command too long"):
        guarded("x" * 2_049)


@pytest.mark.parametrize("command", ["x" * 2_048, "", "é" * 2_048, "printf 'a\\nb'"])
def test_a_command_of_at_most_2048_characters_on_one_line_passes(command: str) -> None:
    assert guarded(command) == command


@pytest.mark.parametrize("content", [b"bytes", 5, None, ["x"]])
def test_writing_what_is_not_text_is_refused_before_any_sandbox(content: object) -> None:
    session = FakeFlowSession(sandbox=False)
    with pytest.raises(TypeError) as raised:
        FLOW_BUILTINS["write_workspace_file"](session, {"path": "a", "content": content})
    assert str(raised.value) == "content must be text for write_workspace_file"


KEYS: dict[str, tuple[str, ...]] = {
    "run_shell_command": ("exec",),
    "write_workspace_file": ("fs:write", "a"),
    "read_workspace_file": ("fs:read", "a.bin"),
    "list_workspace_files": ("fs:list", "."),
    "workspace_path_exists": ("fs:stat", "a"),
    "run_code": ("code",),
}


@pytest.mark.parametrize(("name", "key"), KEYS.items())
def test_a_call_names_the_resource_it_touches(name: str, key: tuple[str, ...]) -> None:
    flow = FLOW_BUILTINS[name]
    assert flow.resource_key(ARGUMENTS[name]) == key
    bound: Callable[[Mapping[str, object]], tuple[str, ...]] = tool_from_flow(
        flow, FakeFlowSession()
    ).resource_key
    assert bound(ARGUMENTS[name]) == key
