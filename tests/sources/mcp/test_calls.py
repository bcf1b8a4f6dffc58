"""Calls of tools of MCP servers, from the model's words to the envelope."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from sources.mcp.mcp_kit import enforceable, raw, served, settled

from holdfast.contract.failure import FailureKind
from holdfast.contract.requirements import NetRequirement, RequirementSet
from holdfast.sources.mcp.servers import McpServers
from holdfast.sources.mcp.setup import CALL_SECONDS, ServerSetup
from holdfast.testing.fakes import FakeProgress, FakeSidecars

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


async def text_of(servers: McpServers, tool: str, **arguments: object) -> str:
    answer = await settled(servers, tool, arguments)
    assert answer.failure is None, answer.failure
    return cast("dict[str, str]", answer.result)["text"]


@pytest.mark.req("SPEC-MCP-08")
def test_a_call_has_thirty_seconds_by_default() -> None:
    assert CALL_SECONDS == 30.0
    assert ServerSetup(name="a", command="b").seconds == 30.0


@pytest.mark.req("BOA-OWN-03", "SPEC-MCP-01")
async def test_a_tool_of_a_server_is_called_by_its_reduced_name(workspace: Path) -> None:
    async with served(workspace, raw(workspace, name="my-raw.server")) as servers:
        (state,) = servers.states()
        assert (state.status, state.protocol_version) == ("connected", "2025-11-25")
        assert (state.server_name, state.server_version) == ("raw", "1.2")
        echo = next(one for one in servers.tools() if one.name == "my_raw_server_echo")
        assert echo.ownership == "mcp"
        assert echo.alias == "mcp:my-raw.server:echo"
        assert await text_of(servers, "my_raw_server_echo", text="hi") == "hi"


@pytest.mark.req("OSA-ERR-13")
@pytest.mark.parametrize(
    ("tool", "kind", "said"),
    [
        ("raw_fail", FailureKind.EXECUTION_ERROR, "it broke"),
        ("raw_internal", FailureKind.EXECUTION_ERROR, "oh no"),
        ("raw_params", FailureKind.INVALID_ARGS, "text is too short"),
        ("raw_address", FailureKind.EXECUTION_ERROR, "https://example.com/in"),
        ("raw_malformed", FailureKind.EXECUTION_ERROR, "the protocol does not allow"),
    ],
)
async def test_what_a_server_reports_is_a_failure_of_its_kind(
    workspace: Path, tool: str, kind: FailureKind, said: str
) -> None:
    async with served(workspace, raw(workspace)) as servers:
        answer = await settled(servers, tool, {})
        assert answer.failure is not None
        assert answer.failure.kind == kind
        assert said in answer.failure.message
        assert await text_of(servers, "raw_echo", text="still there") == "still there"


async def test_a_failure_for_what_the_sandbox_keeps_from_it_says_what_gives_it_more(
    workspace: Path,
) -> None:
    async with served(workspace, raw(workspace)) as servers:
        failed = await settled(servers, "raw_blocked", {})
        assert failed.failure is not None
        hint = str(failed.failure.extras["hint"])
        assert hint.startswith("It may read ")
        assert hint.endswith("in [mcp.raw] gives it more")
        broken = await settled(servers, "raw_fail", {})
        assert broken.failure is not None
        assert broken.failure.extras == {}


async def test_a_second_answer_and_one_nobody_asked_for_are_dropped(workspace: Path) -> None:
    async with served(workspace, raw(workspace)) as servers:
        assert await text_of(servers, "raw_twice") == "first"
        assert await text_of(servers, "raw_echo", text="x") == "x"


async def test_signs_of_life_are_passed_on(workspace: Path) -> None:
    told = FakeProgress()
    async with served(workspace, raw(workspace)) as servers:
        answer = await settled(servers, "raw_progress", {}, progress=told)
        assert answer.result == {"text": "done"}
    (sign,) = told.heard
    assert (sign.done, sign.total, sign.message) == (1, 2, "half")


async def test_structured_content_is_the_result_if_it_fits_its_schema(workspace: Path) -> None:
    async with served(workspace, raw(workspace, "schema")) as servers:
        fits = next(one for one in servers.tools() if one.name == "raw_fits")
        assert fits.output_schema is not None
        assert fits.output_schema["required"] == ["n"]
        assert (await settled(servers, "raw_fits", {})).result == {"n": 1}
        for tool, said in (
            ("raw_misfits", "does not fit the output schema"),
            ("raw_lacks", "without structured content"),
        ):
            answer = await settled(servers, tool, {})
            assert answer.failure is not None
            assert answer.failure.kind == FailureKind.EXECUTION_ERROR
            assert said in answer.failure.message


async def test_pictures_and_other_bytes_are_stored_and_referred_to(workspace: Path) -> None:
    kept = FakeSidecars()
    async with served(workspace, raw(workspace), sidecars=kept) as servers:
        picture = cast("dict[str, Any]", (await settled(servers, "raw_picture", {})).result)
        assert (picture["kind"], picture["media_type"]) == ("image", "image/png")
        assert picture["byte_count"] == 2
        sound = cast("dict[str, Any]", (await settled(servers, "raw_sound", {})).result)
        assert (sound["kind"], sound["media_type"]) == ("binary", "audio/wav")
        mixed = cast("dict[str, Any]", (await settled(servers, "raw_mixed", {})).result)
        text, shown, broken, link, blob, words = mixed["parts"]
        assert text == {"kind": "text", "text": "see"}
        assert (shown["kind"], shown["byte_count"]) == ("image", 2)
        assert "cannot be decoded" in broken["text"]
        assert link == {"kind": "link", "uri": "file:///x", "name": "x", "media_type": "a/b"}
        assert (blob["kind"], blob["uri"]) == ("binary", "file:///b")
        assert (words["kind"], words["text"]) == ("resource", "words")
        both = await settled(servers, "raw_both", {})
        assert both.result == {"ok": True}
        assert "also answered with image" in both.warnings[0]


async def test_text_that_looks_like_an_envelope_is_text(workspace: Path) -> None:
    async with served(workspace, raw(workspace)) as servers:
        answer = await settled(servers, "raw_forged", {})
        assert answer.ok
        assert json.loads(cast("dict[str, str]", answer.result)["text"])["message"] == "forged"


@pytest.mark.req("SPEC-MCP-03")
async def test_what_is_cut_renamed_or_left_out_is_reported(workspace: Path) -> None:
    async with served(workspace, raw(workspace, "described")) as servers:
        tools = {one.name: one for one in servers.tools()}
        assert len(tools) == 3
        description = tools["raw_echo"].description
        assert description is not None
        assert len(description) == 200
        assert description.endswith("…")
        odd = [name for name in tools if name.startswith("raw_odd_name_")]
        assert len(odd) == 2
        assert all(enforceable(one) is None for one in tools.values())
        (state,) = servers.states()
        said = "\n".join(state.remarks)
        assert "'echo' has 5,000 characters" in said
        assert "'bad' is left out" in said
        assert "'odd_output' is left out: its output schema" in said
        assert all(f"is called {name}" in said for name in odd)
        assert await text_of(servers, "raw_echo", text="whole") == "whole"


async def test_hints_count_only_where_the_server_is_trusted(workspace: Path) -> None:
    def facts(servers: McpServers) -> dict[str, tuple[bool, bool]]:
        return {one.name: (one.read_only, one.destructive) for one in servers.tools()}

    async with served(workspace, raw(workspace, "hints")) as servers:
        assert set(facts(servers).values()) == {(False, True)}
    async with served(workspace, raw(workspace, "hints", trust=True)) as servers:
        assert facts(servers) == {
            "raw_reads": (True, False),
            "raw_writes": (False, False),
            "raw_plain": (False, True),
        }


async def test_only_wanted_tools_are_taken(workspace: Path) -> None:
    declared = RequirementSet(net=NetRequirement(hosts=("example.com",)))
    setup = raw(workspace, allow=("echo", "slow"), deny=("slow",), requires=declared)
    async with served(workspace, setup) as servers:
        (tool,) = servers.tools()
        assert (tool.name, tool.requires) == ("raw_echo", declared)


async def test_a_name_that_is_taken_gets_a_suffix(workspace: Path) -> None:
    async with served(workspace, raw(workspace, allow=("echo",))) as servers:
        (tool,) = servers.tools(taken={"raw_echo"})
        assert tool.name.startswith("raw_echo_")
        assert "is called raw_echo_" in "\n".join(servers.states({"raw_echo"})[0].remarks)
