"""Tools from manifests in a session: who named them, what they may, and how they change."""

import json
from pathlib import Path

import msgspec
import pytest
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast import Holdfast, Subagent, tool
from holdfast.app.problems import ConfigurationError, MissingProgramError
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import Settings
from holdfast.app.source_settings import ManifestSettings, Timeouts
from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule
from holdfast.contract.tool import ToolDefinitionError

pytestmark = pytest.mark.anyio


class Written:
    """A manifest that a test writes, with its programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "tools.json"
        (folder / "tools" / "bin").mkdir(parents=True)

    def program(self, name: str, script: str) -> None:
        file = self.folder / "tools" / "bin" / name
        file.write_text(f"#!/bin/bash\n{script}\n", "utf-8")
        file.chmod(0o755)

    def declare(self, *entries: dict[str, object]) -> None:
        self.path.write_text(json.dumps({"tools": entries}), "utf-8")


def entry(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "command": [f"./tools/bin/{name}"], **more}


@pytest.fixture
def manifest(tmp_path: Path) -> Written:
    made = Written(tmp_path / "elsewhere")
    made.program("greet", 'echo \'{"said":"hello"}\'')
    made.declare(entry("greet"))
    return made


@pytest.mark.req("CLI-GEN-01")
async def test_each_entry_is_a_tool_like_any_other(workspace: Path, manifest: Written) -> None:
    manifest.program("second", "echo '{}'")
    manifest.declare(entry("greet", description="Say hello."), entry("second"))
    async with opened(workspace, "bare", manifests=[manifest.path]) as hf:
        assert await result(hf, "greet") == {"said": "hello"}
        assert await result(hf, "second") == {}
        told = {one.name: one.description for one in hf.offered}
    assert told["greet"] == "Say hello."
    assert told["second"] is None


async def test_a_configured_one_is_there_in_every_profile_but_bare(
    workspace: Path, manifest: Written
) -> None:
    settings = configured(manifest)
    async with opened(workspace, "locked", settings=settings) as hf:
        assert await result(hf, "greet") == {"said": "hello"}
    async with opened(workspace, "bare", settings=settings) as hf:
        assert (await failure(hf, "greet")).kind is FailureKind.TOOL_NOT_FOUND


def configured(manifest: Written, **more: object) -> Settings:
    table = ManifestSettings(file=str(manifest.path), **more)  # pyright: ignore[reportArgumentType] - untyped fields
    return Settings(store=UNRECORDED.store, manifest={"mine": table})


@pytest.mark.req("CLI-RUN-26")
async def test_naming_one_lets_its_tools_run_unattended_and_rules_narrow_that(
    workspace: Path, manifest: Written
) -> None:
    manifest.declare(entry("greet", requires={"fs": {"write": ["out/**"]}}))
    settings = configured(manifest)
    async with opened(workspace, "locked", settings=settings) as hf:  # nobody is there to be asked
        explained = await hf.explain("greet", {})
        assert await result(hf, "greet") == {"said": "hello"}
    assert f"the manifest {manifest.path} was named by the configuration" in str(explained)
    for action in ("ask", "deny"):
        rule = Rule(
            permission="greet", pattern="*", action=action, scope="project", source="a test"
        )
        async with opened(workspace, "locked", settings=settings, rules=[rule]) as hf:
            assert (await failure(hf, "greet")).kind is FailureKind.REJECTED


async def test_one_that_merely_lies_in_the_workspace_is_none(workspace: Path) -> None:
    found = Written(workspace / "project")
    found.program("greet", "echo '{}'")
    found.declare(entry("greet"))
    async with opened(workspace / "project", "code") as hf:
        assert (await failure(hf, "greet")).kind is FailureKind.TOOL_NOT_FOUND


async def test_what_a_requirement_set_leaves_out_is_refused_and_named(
    workspace: Path, manifest: Written
) -> None:
    manifest.program("peek", "cat /home/somebody/diary && echo '{}'")
    manifest.declare(entry("peek"))
    async with opened(workspace, "bare", manifests=[manifest.path]) as hf:
        refused = await failure(hf, "peek")
    assert refused.kind is FailureKind.REJECTED
    assert "requires.fs.read = ['/home/somebody/diary']" in refused.message


async def test_the_default_reads_the_workspace_and_an_operator_widens_it(
    workspace: Path, manifest: Written
) -> None:
    manifest.program("add", f"cat {workspace}/notes.txt && echo more > {workspace}/new.txt")
    manifest.declare(entry("add"))
    async with opened(workspace, "locked", settings=configured(manifest)) as hf:
        await failure(hf, "add")
    assert not (workspace / "new.txt").exists()
    wider = configured(manifest, requires=RequirementSettings(read=("**",), write=("**",)))
    async with opened(workspace, "locked", settings=wider) as hf:
        assert await result(hf, "add") == {"text": "of the workspace"}
    assert (workspace / "new.txt").read_text("utf-8") == "more\n"


@pytest.mark.req("CLI-NAM-04")
async def test_a_name_that_is_taken_is_refused(workspace: Path, manifest: Written) -> None:
    @tool
    def greet() -> str:
        """Greet."""
        return ""

    with pytest.raises(ToolDefinitionError, match="already registered"):
        Holdfast(tools=[greet], settings=UNRECORDED, manifests=[manifest.path])
    manifest.declare(entry("bash"))
    manifest.program("bash", "echo '{}'")
    with pytest.raises(ToolDefinitionError, match="locked"):
        Holdfast(settings=UNRECORDED, manifests=[manifest.path])


async def test_a_broken_file_and_a_missing_program_are_named_at_the_start(
    manifest: Written,
) -> None:
    manifest.declare(entry(""))
    with pytest.raises(ConfigurationError, match=r"tool\[0\]: name is required"):
        Holdfast(settings=UNRECORDED, manifests=[manifest.path])
    manifest.declare(entry("gone"))
    with pytest.raises(MissingProgramError, match='configured tool "gone" is unavailable'):
        Holdfast(settings=UNRECORDED, manifests=[manifest.path])


async def test_a_change_counts_from_the_next_turn_on(workspace: Path, manifest: Written) -> None:
    async with opened(workspace, "bare", manifests=[manifest.path]) as hf:
        manifest.program("part", "echo '\"other\"'")
        manifest.declare(entry("part", requires={}))
        assert await result(hf, "greet") == {"said": "hello"}
        assert (await failure(hf, "part")).kind is FailureKind.TOOL_NOT_FOUND
        hf.new_turn()
        assert (await failure(hf, "greet")).kind is FailureKind.TOOL_NOT_FOUND
        assert (await answer(hf, "part")).ok
        assert "part" in [one.name for one in hf.offered]
        assert hf.take_changes() is False


async def test_requirements_that_are_declared_anew_count(
    workspace: Path, manifest: Written
) -> None:
    manifest.program("look", f"cat {workspace}/notes.txt")
    manifest.declare(entry("look", requires={}))
    async with opened(workspace, "bare", manifests=[manifest.path]) as hf:
        assert "No such file" in (await failure(hf, "look")).message
        manifest.declare(entry("look", requires={"fs": {"read": ["**"]}}))
        assert hf.take_changes() is True
        assert await result(hf, "look") == {"text": "of the workspace"}


async def test_one_that_says_what_it_writes_begins_where_it_writes(
    workspace: Path, manifest: Written
) -> None:
    manifest.program("note", "echo x > out/there && echo '{}'")
    (workspace / "out").mkdir()
    manifest.declare(entry("note", requires={"fs": {"write": ["out/**"]}}))
    async with opened(workspace, "bare", manifests=[manifest.path]) as hf:
        assert await result(hf, "note") == {}
    assert (workspace / "out" / "there").read_text("utf-8") == "x\n"


@pytest.mark.parametrize("declared_anew", [True, False])
async def test_a_call_that_waits_runs_with_what_it_was_judged_by(
    workspace: Path, manifest: Written, *, declared_anew: bool
) -> None:
    manifest.program("note", "echo x > there 2>/dev/null && echo '{\"wrote\":1}' || echo '{}'")
    wider = entry("note", requires={"fs": {"write": ["**"]}})
    manifest.declare(entry("note"))
    taken: list[bool] = []

    async def approve(_ask: Ask) -> Answer:
        manifest.declare(*([wider] if declared_anew else []), entry("greet"))
        taken.append(hf.take_changes())
        return Answer(allowed=True, by="test")

    rules = [Rule(permission="note", pattern="*", action="ask", scope="project", source="test")]
    async with opened(
        workspace, "bare", manifests=[manifest.path], rules=rules, approver=approve
    ) as hf:
        assert await result(hf, "note") == {}
        assert taken == [True]
        assert not (workspace / "there").exists()
        if declared_anew:
            assert await result(hf, "note") == {"wrote": 1}


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("{", "parse manifest: "),
        (json.dumps({"tools": [entry("question")]}), "already registered"),
        (json.dumps({"tools": [entry("x", requires={"fs": {"read": ["a/{b"]}})]}), "tool[0]"),
    ],
    ids=["no JSON", "a name that is taken", "a pattern that is none"],
)
async def test_a_broken_change_keeps_the_tools_from_before_and_is_told(
    workspace: Path, manifest: Written, broken: str, said: str
) -> None:
    async with opened(workspace, "bare", manifests=[manifest.path]) as hf:
        manifest.path.write_text(broken, "utf-8")
        assert hf.take_changes() is False
        assert await result(hf, "greet") == {"said": "hello"}
        assert any(said in remark for remark in hf.remarks), hf.remarks
        manifest.declare(entry("greet", description="Better."))
        assert hf.take_changes() is True
        assert not any(said in remark for remark in hf.remarks)


async def test_a_profile_hides_them_and_limits_bind_them(
    workspace: Path, manifest: Written
) -> None:
    base = configured(manifest)
    hidden = json.loads('{"profile": {"locked": {"tools": {"deny": ["greet"]}}}}')
    settings = msgspec.structs.replace(base, profile=msgspec.convert(hidden, Settings).profile)
    async with opened(workspace, "locked", settings=settings) as hf:
        assert (await failure(hf, "greet")).kind is FailureKind.TOOL_NOT_FOUND
        assert not any("greet" in remark for remark in hf.remarks)


@pytest.mark.req("CLI-TMO-02")
async def test_the_time_is_the_entrys_then_the_tools_then_the_general_one(
    workspace: Path, manifest: Written
) -> None:
    manifest.program("slow", "sleep 30")
    manifest.declare(entry("slow", timeoutSec=1), entry("greet"))
    wanted = Timeouts(tool=50, general=0.2)
    async with opened(workspace, "bare", manifests=[manifest.path], timeouts=wanted) as hf:
        assert (await failure(hf, "slow")).kind is FailureKind.TIMEOUT  # its own second
    manifest.declare(entry("slow"))
    for timeouts in (Timeouts(tool=0.2, general=50), Timeouts(general=0.2)):
        async with opened(workspace, "bare", manifests=[manifest.path], timeouts=timeouts) as hf:
            late = await failure(hf, "slow")
        assert (late.kind, late.message) == (FailureKind.TIMEOUT, "tool timed out")


async def test_a_subagent_has_them_too(workspace: Path, manifest: Written) -> None:
    async def runs(child: Holdfast, _prompt: str) -> str:
        return (await child.settle("greet", {})).result_json.decode()

    agents = {"a": Subagent(run=runs, description="Runs it.")}
    session = opened(workspace, "code", manifests=[manifest.path], subagents=agents)
    async with session as hf:
        told = await result(hf, "task", subagent_type="a", prompt="x")
    assert told == {"output": '{"said":"hello"}'}


async def test_no_call_changes_what_tools_are_made_from(workspace: Path) -> None:
    """Or a model could give itself a program that requires more."""
    own = Written(workspace / "own")
    own.program("greet", "echo '{}'")
    own.declare(entry("greet"))
    before = own.path.read_text("utf-8")
    program = workspace / "own" / "tools" / "bin" / "greet"
    command = f"echo x > {own.path}; echo x > {program}; mv {own.path} {own.path}.old; exit 0"
    session = opened(workspace, "code", manifests=[own.path], approver=_yes)
    async with session as hf:
        refused = await failure(hf, "write", path="own/tools.json", content="{}")
        assert refused.kind is FailureKind.REJECTED
        refused = await failure(hf, "write", path="own/tools/bin/greet", content="")
        assert refused.kind is FailureKind.REJECTED
        assert (await answer(hf, "write", path="own/other.txt", content="")).ok
        await answer(hf, "bash", command=command)
    assert own.path.read_text("utf-8") == before
    assert "echo '{}'" in program.read_text("utf-8")


async def _yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="a person")


async def test_programs_of_two_manifests_see_nothing_of_each_other(
    workspace: Path, manifest: Written, tmp_path: Path
) -> None:
    other = Written(tmp_path / "another")
    other.program("look", "ls /tmp; echo; exit 0")
    other.declare(entry("look"))
    manifest.program("leave", "touch /tmp/left-here; ls /tmp; exit 0")
    manifest.program("again", "ls /tmp; exit 0")
    manifest.declare(entry("leave"), entry("again"))
    files = [manifest.path, other.path]
    async with opened(workspace, "bare", manifests=files) as hf:
        assert "left-here" in str(await result(hf, "leave"))
        assert "left-here" in str(await result(hf, "again"))  # one manifest is one owner
        assert "left-here" not in str(await result(hf, "look"))


async def test_what_was_found_out_about_a_tool_is_forgotten_when_it_changes(
    workspace: Path, manifest: Written
) -> None:
    deny = Rule(permission="fs.write", pattern="**", action="deny", scope="project", source="test")
    session = opened(workspace, "bare", manifests=[manifest.path], rules=[deny])
    async with session as hf:
        assert await result(hf, "greet") == {"said": "hello"}
        manifest.declare(entry("greet", requires={"fs": {"write": ["out/**"]}}))
        hf.new_turn()
        assert (await failure(hf, "greet")).kind is FailureKind.REJECTED


async def test_there_is_nothing_to_pin_without_a_server(workspace: Path, manifest: Written) -> None:
    async with opened(workspace, "bare", manifests=[manifest.path]) as hf:
        with pytest.raises(LookupError, match="none is configured"):
            await hf.pin("raw")
        assert hf.servers == ()
        assert not hf.waits_for_servers
        assert hf.has_changing_tools


async def test_without_a_source_nothing_changes(workspace: Path) -> None:
    async with opened(workspace, "bare") as hf:
        assert not hf.has_changing_tools
        assert hf.take_changes() is False
