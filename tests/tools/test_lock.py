"""The lock: thirteen names, the same in every catalog and on every wire."""

from pathlib import Path

import pytest
from tool_kit import UNRECORDED, answer, failure, opened, result
from web_site import consenting

from holdfast import Holdfast, Rule, tool
from holdfast.app.profiles import PROFILES, TOOLSETS
from holdfast.app.settings import SandboxSettings, Settings, Surroundings
from holdfast.contract.agents import Visibility
from holdfast.contract.failure import FailureKind
from holdfast.contract.tool import LOCKED_NAMES, ToolDefinitionError
from holdfast.envelope.dialects import mcp_result
from holdfast.envelope.render import parse, render
from holdfast.runtime.definitions import full_definition, openai_definition

pytestmark = pytest.mark.anyio

THIRTEEN = (
    *("read", "write", "edit", "glob", "grep", "bash", "todo", "task", "question"),
    *("web_search", "web_fetch", "skill", "tool_search"),
)
TAKES = "python3 -c \"print(len(b'a' * ({} << 20)))\""
"""So many MiB of memory."""
WITH_THE_LOCK = sorted({*PROFILES} - {"bare"})


@pytest.mark.req("SPEC-LOCK-01")
def test_exactly_these_thirteen_ship() -> None:
    assert {*THIRTEEN} == LOCKED_NAMES
    assert tuple(one.name for one in TOOLSETS["locked"]) == THIRTEEN


@pytest.mark.req("SPEC-LOCK-02")
@pytest.mark.parametrize("profile", WITH_THE_LOCK)
async def test_every_profile_has_them_under_these_names_on_every_wire(
    profile: str, workspace: Path
) -> None:
    async with opened(workspace, profile) as hf:
        locked = [one for one in hf.tools if one.name in LOCKED_NAMES]
        for one in locked:
            refused = await answer(hf, one.name, no_such_argument=1)
            assert refused.tool == one.name
            assert parse(render(refused)).tool == one.name
            assert parse(render(refused, "typed"), "typed").tool == one.name
            assert mcp_result.parse(mcp_result.render(refused), ours=True).tool == one.name
    assert tuple(one.name for one in locked) == THIRTEEN
    for one in locked:
        assert one.alias is None
        assert openai_definition(one)["function"]["name"] == one.name  # pyright: ignore[reportIndexIssue] - a plain dict
        assert full_definition(one)["name"] == one.name
    assert "alias" not in Visibility.__struct_fields__


@pytest.mark.req("SPEC-LOCK-04", "SPEC-EXT-07")
async def test_a_host_adds_what_it_needs_under_another_name(workspace: Path) -> None:
    @tool
    def read_pdf(path: str) -> str:
        """More than read gives."""
        return path

    @tool
    def apply_patch(patch: str) -> str:
        """The host's own way to patch."""
        return f"theirs: {patch}"

    assert not {one.name for name in ("code", "host") for one in TOOLSETS[name]} & LOCKED_NAMES
    async with opened(workspace, "locked", tools=[read_pdf]) as hf:
        assert await result(hf, "read_pdf", path="a.pdf") == {"text": "a.pdf"}
        assert [one.name for one in hf.tools] == [*THIRTEEN, "read_pdf"]
    async with opened(workspace, "code", tools=[apply_patch]) as hf:
        assert await result(hf, "apply_patch", patch="x") == {"text": "theirs: x"}


@pytest.mark.req("SPEC-LOCK-04")
@pytest.mark.parametrize("name", THIRTEEN)
def test_none_of_them_is_widened_or_replaced(name: str, workspace: Path) -> None:
    @tool(name=name)
    def wider(path: str, more: str = "") -> str:
        """The same, with more."""
        return path

    for profile in PROFILES:
        with pytest.raises(ToolDefinitionError, match="this name is locked"):
            Holdfast(
                tools=[wider],
                profile=profile,
                workspace=workspace,
                settings=UNRECORDED,
                surroundings=Surroundings(data_home=workspace.parent / "data"),
            )


@pytest.mark.req("OSA-HST-01")
async def test_the_host_profile_has_its_names(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        names = {one.name for one in hf.tools}
    assert names >= {
        *("file_read", "sandbox_write_file", "sandbox_search_files", "sandbox_exec"),
        *("sandbox_process", "shell_run", "share_artifact", "render_chart"),
        *("todo", "complete", "clarify"),
    }


@pytest.mark.req("OSA-HST-03", "OSA-LST-05")
async def test_what_a_search_by_name_finds_can_be_read_and_shared(workspace: Path) -> None:
    odd = ["report.txt", "a b/report 2.txt", "dot/.report", "ümlaut/report'3.txt"]
    for name in odd:
        path = workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text of {name}\n", "utf-8")
    async with opened(workspace, "host") as hf:
        found = await result(hf, "sandbox_search_files", query="report")
        assert found["kind"] == "search"
        assert sorted(one["path"] for one in found["entries"]) == sorted(odd)
        for entry in found["entries"]:
            read = await result(hf, "file_read", path=entry["path"])
            assert read["text"] == f"text of {entry['path']}\n"
            shared = await result(hf, "share_artifact", path=entry["path"])
            assert "---SHARED_ARTIFACT_START---" in shared["text"]


async def test_files_and_commands_act_on_one_hand(workspace: Path) -> None:
    async with opened(workspace, "managed") as hf:
        await result(hf, "write", path="a/b.txt", content="one\n")
        assert (await result(hf, "bash", command="cat a/b.txt"))["stdout"] == "one\n"
    async with opened(workspace, "host") as hf:
        await result(hf, "sandbox_exec", command="echo two >> a/b.txt")
        await result(hf, "edit", path="a/b.txt", old_string="two", new_string="three")
        assert (await result(hf, "read", path="a/b.txt"))["text"] == "one\nthree\n"
        assert [
            one["path"] for one in (await result(hf, "glob", pattern="**/*.txt"))["entries"]
        ] == ["a/b.txt"]
        assert len((await result(hf, "grep", pattern="three"))["matches"]) == 1


@pytest.mark.req("SPEC-TRUNC-06")
async def test_what_was_kept_of_an_output_is_gone_after_the_session(workspace: Path) -> None:
    around = Surroundings(data_home=workspace.parent / "data", state_home=workspace.parent / "s")
    async with opened(workspace, "locked", settings=Settings(), surroundings=around) as hf:
        shown = await answer(hf, "bash", command="seq 1 100000")
        path = shown.metadata.output_path
        assert (await result(hf, "read", path=path, tail_lines=1))["text"] == "100000\n"
        session = hf.session_id
    async with opened(
        workspace, "locked", settings=Settings(), surroundings=around, session=session
    ) as hf:
        assert (await failure(hf, "read", path=path)).kind is FailureKind.NOT_FOUND


@pytest.mark.req("OSA-STR-09")
async def test_commands_without_a_clock_are_bounded_by_what_they_use(workspace: Path) -> None:
    for limits, within, beyond in (
        (SandboxSettings(cpu_seconds=1), "true", "while :; do :; done"),
        (SandboxSettings(memory_bytes=200 << 20), TAKES.format(20), TAKES.format(400)),
    ):
        settings = Settings(store=UNRECORDED.store, sandbox=limits)
        async with opened(workspace, "host", settings=settings, approver=consenting) as hf:
            assert (await result(hf, "sandbox_exec", command=within))["exit_code"] == 0
            assert (await result(hf, "sandbox_exec", command=beyond))["exit_code"] != 0
    async with opened(workspace, "host", approver=consenting) as hf:
        hf.new_turn()
        for _ in range(10):
            await result(hf, "sandbox_exec", command="true")
        refused = await failure(hf, "sandbox_exec", command="true")
        assert (refused.kind, refused.retryable) == (FailureKind.REJECTED, False)
        hf.new_turn()
        await result(hf, "sandbox_exec", command="true")


async def test_a_locked_tool_that_a_rule_forbids_says_so(workspace: Path) -> None:
    rule = Rule(permission="read", pattern="**", action="deny", scope="project", source="test")
    (workspace / "a.txt").write_text("text", "utf-8")
    async with opened(workspace, "locked", rules=[rule]) as hf:
        assert "read" in [one.name for one in hf.tools]
        assert "denied by policy" in (await failure(hf, "read", path="a.txt")).message
