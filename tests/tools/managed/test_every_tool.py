"""Every managed tool by the table: what it takes, what it refuses, and where it leads."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tools.managed.standing import SECRET, STEP_KEYS, Standing, standing, steps_in, told_by, whole
from tools.managed.tool_table import TABLE

from holdfast.app.profiles import TOOLSETS
from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio

NO_CALL = {FailureKind.INVALID_ARGS, FailureKind.TOOL_NOT_FOUND}
"""What becomes of a step that cannot be made as it stands."""


def test_every_tool_has_a_row_and_every_row_a_tool() -> None:
    assert set(TABLE) == {one.name for one in TOOLSETS["managed"]}
    for name, row in TABLE.items():
        assert row.good, name
        assert row.bad, name


async def followed(world: Standing, steps: Iterable[dict[str, Any]]) -> None:
    """Each step is a call that can be made as it stands."""
    there = {one.name: one for one in world.holdfast.tools}
    for step in steps:
        assert set(step) >= STEP_KEYS, step
        assert step["rationale"].strip(), step
        assert step["tool"] in there, step
        jsonschema_rs.validate(world.schema(step["tool"]), step["args"])
        settled = await world.holdfast.settle(step["tool"], step["args"])
        if settled.failure is not None:
            assert settled.failure.kind not in NO_CALL, (step, settled.failure)


def unlike(steps: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for step in steps:
        found.setdefault(f"{step['tool']} {step['args']}", step)
    return [*found.values()]


@pytest.mark.req("BOA-ARG-07", "BOA-BND-08")
@pytest.mark.parametrize("name", TABLE)
async def test_a_tool_does_what_is_documented_and_each_of_its_steps_can_be_made(
    workspace: Path, name: str
) -> None:
    async with standing(workspace) as world:
        tool = next(one for one in world.holdfast.tools if one.name == name)
        assert tool.output_schema is not None
        fits = jsonschema_rs.validator_for(tool.output_schema)
        steps: list[dict[str, Any]] = []
        for arguments in TABLE[name].good:
            jsonschema_rs.validate(world.schema(name), world.filled(arguments))
            envelope = await world.settled(name, arguments)
            assert envelope.failure is None, (arguments, envelope.failure)
            assert isinstance(envelope.result, dict)
            assert not envelope.metadata.truncated
            fits.validate(envelope.result)
            steps += steps_in(envelope.result)
        await followed(world, unlike(steps))


@pytest.mark.parametrize("name", TABLE)
async def test_a_tool_refuses_what_is_documented_and_says_where_it_is_wrong(
    workspace: Path, name: str
) -> None:
    async with standing(workspace) as world:
        steps: list[dict[str, Any]] = []
        for wrong in TABLE[name].bad:
            envelope = await world.settled(name, wrong.arguments)
            assert envelope.failure is not None, (wrong, envelope.result)
            told = (envelope.failure.kind, envelope.failure.field)
            assert told == (wrong.kind, wrong.field), (wrong, envelope.failure)
            steps += steps_in(told_by(envelope))
        await followed(world, unlike(steps))


@pytest.mark.req("BOA-BND-08")
@pytest.mark.parametrize("name", TABLE)
async def test_no_answer_leads_to_a_tool_that_the_agent_has_not(workspace: Path, name: str) -> None:
    """Neither where it works nor where it fails, and it still is what its schema says."""
    async with standing(workspace) as world:
        declared = next(one for one in world.holdfast.tools if one.name == name).output_schema
        assert declared is not None
        world.holdfast.parts.catalog.exchange(
            [one.name for one in world.holdfast.tools if one.name != name], []
        )
        for arguments in TABLE[name].good:
            envelope = await world.settled(name, arguments)
            assert {one["tool"] for one in steps_in(told_by(envelope))} <= {name}
            if envelope.failure is None:
                jsonschema_rs.validator_for(declared).validate(envelope.result)
        for wrong in TABLE[name].bad:
            refused = await world.settled(name, wrong.arguments)
            assert {one["tool"] for one in steps_in(told_by(refused))} <= {name}


@pytest.mark.req("BOA-ARG-05", "BOA-ARG-06")
async def test_a_session_is_the_current_one_or_one_of_the_same_agent(workspace: Path) -> None:
    async with standing(workspace) as world:
        asked = [one for one in TABLE if "session_id" in world.schema(one)["properties"]]
        assert len(asked) > 15
        for name in asked:
            required = "session_id" in world.schema(name).get("required", ())
            assert required is (name == "session_run_child")
            first = next(one for one in TABLE[name].good if "expected_version_id" not in one)
            for other in (world.facts["stranger"], "ses_none"):
                envelope = await world.settled(name, {**first, "session_id": other})
                assert envelope.failure is not None, name
                said = f"Session {other} is not available to agent writer"
                assert envelope.failure.kind is FailureKind.REJECTED, name
                assert envelope.failure.message == said, name
                assert dict(envelope.failure.extras) == {}, name
                assert SECRET not in whole(envelope), name
            if required:
                continue
            here = {**first, "session_id": world.facts["here"]}
            absent = {key: value for key, value in first.items() if key != "session_id"}
            ours, meant = await world.settled(name, here), await world.settled(name, absent)
            assert (ours.failure, meant.failure) == (None, None), name
            told: Any = ours.result, meant.result
            assert told[0].keys() == told[1].keys(), name


def is_text(declared: dict[str, Any]) -> bool:
    """Whether an argument is free text; one of a few words is none."""
    return '"string"' in json.dumps(declared.get("type")) and "enum" not in declared


@pytest.mark.req("BOA-ARG-02")
async def test_blank_text_is_missing(workspace: Path) -> None:
    async with standing(workspace) as world:
        tried = 0
        for name, row in TABLE.items():
            schema = world.schema(name)
            for field in schema.get("required", ()):
                if not is_text(schema["properties"][field]):
                    continue
                tried += 1
                envelope = await world.settled(name, {**max(row.good, key=len), field: " \n"})
                assert envelope.failure is not None, (name, field)
                told = (envelope.failure.kind, envelope.failure.field)
                assert told == (FailureKind.INVALID_ARGS, field), name
                said = f"{name} requires a non-empty {field}"
                assert envelope.failure.message == said, name
        assert tried > 20


@pytest.mark.req("BOA-ARG-01")
@pytest.mark.parametrize("name", [one for one, row in TABLE.items() if any(row.good)])
async def test_text_is_trimmed_and_blank_text_counts_as_left_out(
    workspace: Path, name: str
) -> None:
    async with standing(workspace) as world:
        schema = world.schema(name)
        texts = {field for field, one in schema["properties"].items() if is_text(one)}
        for arguments in TABLE[name].good:
            given = world.filled(arguments)
            padded = {key: f" {value}\n" if key in texts else value for key, value in given.items()}
            for key in texts - given.keys() - {*schema.get("required", ())}:
                padded[key] = "  "
            # What is told of this session changes with every call.
            is_of_another = given.get("session_id") == world.facts["second"]
            is_as_before = is_of_another and name not in {"memory_write", "outcome_define"}
            meant = await world.settled(name, given) if is_as_before else None
            same = await world.settled(name, padded)
            assert same.failure is None, (padded, same.failure)
            if meant is not None:
                assert same.result == meant.result, padded
