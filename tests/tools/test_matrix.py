"""What every built-in tool owes of its definition and its calls, proven by the same calls."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest
from matrix_calls import CALLS, NOT_IN_THE_WORKSPACE, OUTSIDE, at_work
from matrix_more import (
    PATHS,
    WITHOUT_OPTIONAL_TEXTS,
    each_tool,
    each_tool_with_a_path,
)
from tool_kit import answer

from holdfast.contract.envelope import Envelope, Repair
from holdfast.contract.failure import FailureKind
from holdfast.contract.tool import Tool
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio

_OF_NO_KIND = frozenset({"question", "clarify", "skill", "share_artifact", "render_chart"})
STRAY = "no_such_argument"


def properties(tool: Tool) -> dict[str, dict[str, Any]]:
    return cast("dict[str, dict[str, Any]]", tool.input_schema.get("properties", {}))


def optional(tool: Tool) -> Iterator[str]:
    required = cast("list[str]", tool.input_schema.get("required", []))
    return (name for name in properties(tool) if name not in required)


@each_tool
def test_every_tool_has_a_call(tool: Tool) -> None:
    assert tool.name in CALLS, f"add a call of {tool.name} to matrix_calls.py"


@each_tool
def test_every_description_holds_an_example_that_fits(tool: Tool) -> None:
    """A model copies examples: each has to be a call that would be taken."""
    found = list(_examples(tool.description or ""))
    assert found, f"{tool.name}: its description holds no example"
    for example in found:
        jsonschema_rs.validate(tool.input_schema, example)


def _examples(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in a text."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
        else:
            yield found
            at = text.find("{", end)


@each_tool
def test_what_is_declared_is_whole(tool: Tool) -> None:
    assert tool.acp_kind != "other" or tool.name in _OF_NO_KIND
    assert tool.output_schema is not None
    assert not (tool.read_only and tool.destructive)
    for name, schema in properties(tool).items():
        assert schema.get("description"), f"{tool.name}: {name} is not described"
    for name in optional(tool):
        assert "default" in properties(tool)[name], f"{tool.name}: {name} declares no default"


@pytest.mark.req("OSA-RES-05")
@each_tool
async def test_an_unknown_key_is_refused(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        refused = (await answer(hf, tool.name, **call, **{STRAY: 1})).failure
    assert refused is not None
    assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, STRAY)


@each_tool
async def test_arguments_that_are_texts_are_repaired(tool: Tool, workspace: Path) -> None:
    """Each argument that is none as a text, and all of them together as one."""
    async with at_work(workspace, tool.name) as (hf, call):
        texts = {name: _as_text(value) for name, value in call.items()}
        settled = await answer(hf, tool.name, arguments=json.dumps(texts))
    assert settled.failure is None, settled.failure
    changed = {name for name, value in call.items() if value != texts[name]}
    repaired = {repair.field for repair in settled.metadata.repairs}
    assert repaired >= changed
    assert "lifted_wrapper" in {repair.repair for repair in settled.metadata.repairs}


def _as_text(value: object) -> object:
    return value if isinstance(value, str) else json.dumps(value)


@each_tool
async def test_empty_optional_fillers_are_dropped(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        fillers = {name: "" for name in optional(tool) if name not in call and _is_text(tool, name)}
        assert (not fillers) == (tool.name in WITHOUT_OPTIONAL_TEXTS)
        settled = await answer(hf, tool.name, **call, **fillers)
    assert settled.failure is None, settled.failure
    assert set(settled.metadata.repairs) == {Repair("dropped_empty", name) for name in fillers}


def _is_text(tool: Tool, name: str) -> bool:
    return "string" in str(properties(tool)[name].get("type"))


@each_tool
def test_every_path_a_tool_is_told_is_tried(tool: Tool) -> None:
    # A command is judged by itself; of an address only a plain name is ever taken as a path.
    others = {use.argument for use in tool.uses if use.capability in ("shell.run", "net.fetch")}
    files = {use.argument for use in tool.uses if use.capability.startswith("fs.")}
    places = {"workdir", "cwd"} & properties(tool).keys()
    tried = {PATHS[tool.name].argument} if tool.name in PATHS else set[str]()
    assert (files - others) | places == tried


@each_tool_with_a_path
async def test_paths_out_of_scope_are_refused(tool: Tool, workspace: Path) -> None:
    argument, works = PATHS[tool.name]
    outside = workspace.parent / OUTSIDE
    async with at_work(workspace, tool.name) as (hf, call):
        before = _seen(outside)
        for form in NOT_IN_THE_WORKSPACE:
            sent = {**call, argument: _elsewhere(works, form.replace("{outside}", str(outside)))}
            settled = await answer(hf, tool.name, **sent)
            assert _is_out_of_reach(tool, settled), (form, settled)
            assert _seen(outside) == before
        if call.get(argument) != works:  # nothing else was wrong with the others
            settled = await answer(hf, tool.name, **{**call, argument: works})
            assert settled.failure is None, settled.failure


def _elsewhere(works: str, form: str) -> str:
    """The same path in another place; of a patch the paths in it."""
    if "\n" not in works:
        return form.format(works)
    return works.replace("src/app.py", form.format("src/app.py"))


def _is_out_of_reach(tool: Tool, settled: Envelope) -> bool:
    failure = settled.failure
    if failure is not None and failure.kind is FailureKind.INVALID_ARGS:
        # Told before the policy: by the guard of paths, or by a guard of its own.
        own = tool.guard is not None and failure.field == PATHS[tool.name].argument
        return own or "reason" in failure.extras
    return failure is not None and failure.kind is FailureKind.REJECTED


def _seen(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@each_tool
async def test_a_call_that_is_not_wanted_any_more_does_not_run(tool: Tool, workspace: Path) -> None:
    abort = Abort()
    async with at_work(workspace, tool.name) as (hf, call):
        before = _seen(workspace)
        abort.set()
        settled = await hf.settle(tool.name, call, abort=abort)
        assert _seen(workspace) == before
    assert settled.failure is not None
    assert settled.failure.kind is FailureKind.EXECUTION_ERROR
    assert settled.failure.message == f"Tool '{tool.name}' was cancelled."
    assert settled.failure.retryable is False


@each_tool
async def test_what_only_reads_changes_nothing(tool: Tool, workspace: Path) -> None:
    async with at_work(workspace, tool.name) as (hf, call):
        before = _seen(workspace)
        settled = await answer(hf, tool.name, **call)
        assert settled.failure is None, settled.failure
        assert not tool.read_only or _seen(workspace) == before
