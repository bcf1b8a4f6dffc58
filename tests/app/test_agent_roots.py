"""The further roots of an agent, with real files: tools and confined commands reach them, no more.

What `{workspace}` stands for is one thing for the judge, for files opened in this process and for
the kernel.
"""

from pathlib import Path

import msgspec
import pytest
from tool_kit import UNRECORDED, failure, opened, result

from holdfast import Agent, Answer, Ask, ManifestRule, Rule, tool
from holdfast.app.settings import SandboxSettings, Settings, Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import Confinement

pytestmark = pytest.mark.anyio


@pytest.fixture
def lib(tmp_path: Path) -> Path:
    made = tmp_path / "lib [1]"
    made.mkdir()
    (made / "notes.txt").write_text("of the root", "utf-8")
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What nobody may reach; its name begins like the root's."""
    made = tmp_path / "lib [1] too"
    made.mkdir()
    (made / "notes.txt").write_text("of nobody", "utf-8")
    return made


async def yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="test")


def with_root(root: Path, rules: tuple[ManifestRule, ...] = ()) -> Agent:
    return Agent(id="coder", profile="code", roots=(str(root),), rules=rules)


def confined(kind: Confinement | None) -> Settings:
    return msgspec.structs.replace(UNRECORDED, sandbox=SandboxSettings(confinement=kind))


@tool(requires={"fs": {"read": ["{workspace}/**"]}}, uses={"path": "fs.read"})
def text_of(rt: Runtime, path: str) -> str:
    """Read a text."""
    return rt.fs.read_text(path).text


@pytest.mark.req("SPEC-VAR-02")
async def test_one_pattern_stands_for_the_workspace_and_every_further_root(
    workspace: Path, lib: Path, outside: Path, tmp_path: Path
) -> None:
    third = tmp_path / "third"
    third.mkdir()
    (third / "notes.txt").write_text("of the third", "utf-8")
    agent = Agent(id="coder", roots=(str(lib), str(third)))
    async with opened(workspace, "bare", tools=[text_of], agent=agent) as hf:
        for place, said in ((lib, "of the root"), (third, "of the third")):
            assert await result(hf, "text_of", path=str(place / "notes.txt")) == {"text": said}
        assert await result(hf, "text_of", path="notes.txt") == {"text": "of the workspace"}
        for path in (outside / "notes.txt", f"{lib}/../lib [1] too/notes.txt", tmp_path):
            refused = await failure(hf, "text_of", path=str(path))
            assert refused.kind == FailureKind.REJECTED
            assert "is outside of what may be read" in refused.message
    async with opened(workspace, "bare", tools=[text_of]) as hf:
        refused = await failure(hf, "text_of", path=str(lib / "notes.txt"))
        assert refused.kind == FailureKind.REJECTED, "without the agent the root is none"


@pytest.mark.req("SPEC-VAR-02")
async def test_the_tools_that_ship_read_and_write_there_and_not_beside_it(
    workspace: Path, lib: Path, outside: Path
) -> None:
    async with opened(workspace, agent=with_root(lib)) as hf:
        read = await result(hf, "read", path=str(lib / "notes.txt"))
        assert read["text"] == "of the root"
        await result(hf, "write", path=str(lib / "sub" / "new.txt"), content="a")
        await result(hf, "edit", path=str(lib / "sub" / "new.txt"), old_string="a", new_string="b")
        assert (lib / "sub" / "new.txt").read_text("utf-8") == "b"
        found = await result(hf, "glob", pattern="**/*.txt", path=str(lib))
        assert sorted(one["path"] for one in found["entries"]) == sorted(
            [str(lib / "notes.txt"), str(lib / "sub" / "new.txt")]
        )
        hits = await result(hf, "grep", pattern="of the", path=str(lib))
        assert [one["path"] for one in hits["matches"]] == [str(lib / "notes.txt")]
        for name, more in (("read", {}), ("write", {"content": "x"})):
            refused = await failure(hf, name, path=str(outside / "notes.txt"), **more)
            assert refused.kind == FailureKind.REJECTED
    assert (outside / "notes.txt").read_text("utf-8") == "of nobody"


async def test_a_relative_path_begins_in_the_workspace_and_not_in_a_root(
    workspace: Path, lib: Path
) -> None:
    (lib / "only here.txt").write_text("x", "utf-8")
    async with opened(workspace, agent=with_root(lib)) as hf:
        assert (await result(hf, "read", path="notes.txt"))["text"] == "of the workspace"
        assert (await failure(hf, "read", path="only here.txt")).kind == FailureKind.NOT_FOUND


async def test_a_link_out_of_a_root_leads_nowhere(
    workspace: Path, lib: Path, outside: Path
) -> None:
    (lib / "away").symlink_to(outside)
    async with opened(workspace, agent=with_root(lib)) as hf:
        refused = await failure(hf, "read", path=str(lib / "away" / "notes.txt"))
        assert refused.kind == FailureKind.REJECTED
        assert "of nobody" not in refused.message


@pytest.mark.req("SPEC-VAR-02")
@pytest.mark.parametrize("kind", [None, "landlock"])
async def test_a_confined_command_reaches_the_root_and_nothing_beside_it(
    workspace: Path, lib: Path, outside: Path, kind: Confinement | None
) -> None:
    async with opened(workspace, agent=with_root(lib), settings=confined(kind), approver=yes) as hf:
        ran = await result(hf, "bash", command=f"cat '{lib}/notes.txt'; touch '{lib}/made'")
        assert (ran["stdout"], ran["exit_code"]) == ("of the root", 0)
        assert (lib / "made").exists()
        there = await result(hf, "bash", command="pwd; cat notes.txt", workdir=str(lib))
        assert there["stdout"] == f"{lib}\nof the root"
        for command in (f"cat '{outside}/notes.txt'", f"touch '{outside}/made'"):
            said = await hf.settle("bash", {"command": command})
            assert said.failure is not None or b'"exit_code":1' in said.result_json
            assert b"of nobody" not in said.result_json
        assert not (outside / "made").exists()
        refused = await failure(hf, "bash", command="pwd", workdir=str(outside))
        assert refused.kind == FailureKind.REJECTED
    async with opened(workspace, settings=confined(kind), approver=yes) as hf:
        said = await hf.settle("bash", {"command": f"cat '{lib}/notes.txt'"})
        assert b"of the root" not in said.result_json, "without the agent the root is none"


# --- rules ------------------------------------------------------------------------------------


def manifest_rule(permission: str, pattern: str, action: str) -> ManifestRule:
    return msgspec.convert(
        {"permission": permission, "pattern": pattern, "action": action}, ManifestRule
    )


async def test_a_deny_without_a_beginning_holds_in_every_root(workspace: Path, lib: Path) -> None:
    for place in (workspace, lib):
        (place / "secrets").mkdir()
        (place / "secrets" / "key").write_text("s3cret", "utf-8")
    agent = with_root(lib, rules=(manifest_rule("fs.read", "secrets/**", "deny"),))
    async with opened(workspace, agent=agent, approver=yes) as hf:
        for path in ("secrets/key", f"{lib}/secrets/key"):
            assert (await failure(hf, "read", path=path)).kind == FailureKind.REJECTED
            envelope = await hf.settle("bash", {"command": f"cat '{path}'"})
            assert b"s3cret" not in envelope.result_json
            assert "s3cret" not in str(envelope.failure)
        found = await result(hf, "grep", pattern="s3cret|of the", path=str(lib))
        assert [one["path"] for one in found["matches"]] == [str(lib / "notes.txt")]


async def test_the_more_specific_rule_decides_in_a_root_as_in_the_workspace(
    workspace: Path, lib: Path
) -> None:
    rules = (
        manifest_rule("fs.write", "out/**", "deny"),
        manifest_rule("fs.write", "out/free/**", "allow"),
    )
    async with opened(workspace, agent=with_root(lib, rules=rules)) as hf:
        for place in (workspace, lib):
            await result(hf, "write", path=str(place / "out/free/a"), content="")
            refused = await failure(hf, "write", path=str(place / "out/a"), content="")
            assert "out/**" in refused.message


async def test_a_person_sees_which_file_it_is_and_an_answer_is_for_that_one_alone(
    workspace: Path, lib: Path
) -> None:
    asked: list[tuple[str, ...]] = []

    async def always(ask: Ask) -> Answer:
        asked.append(tuple(use.target for use in ask.uses))
        return Answer(allowed=True, by="test", remember="session")

    agent = with_root(lib, rules=(manifest_rule("fs.write", "**", "ask"),))
    async with opened(workspace, agent=agent, approver=always) as hf:
        for path in ("a.txt", str(lib / "a.txt"), "a.txt", str(lib / "a.txt")):
            await result(hf, "write", path=path, content="x")
    assert asked == [("a.txt",), (str(lib / "a.txt"),)]


async def test_what_a_program_holds_commands_to_knows_the_root(
    workspace: Path, lib: Path, outside: Path
) -> None:
    agent = Agent(id="looker", profile="managed", roots=(str(lib),))
    async with opened(workspace, agent=agent, profile="bare") as hf:
        ran = await result(hf, "bash", command="cat notes.txt", workdir=str(lib))
        assert ran["stdout"] == "of the root"
        refused = await failure(hf, "bash", command=f"cat '{outside}/notes.txt'")
        assert refused.kind == FailureKind.REJECTED


async def test_a_root_around_the_workspace_is_one_place_with_it(tmp_path: Path) -> None:
    around = tmp_path / "all"
    workspace = around / "ws"
    workspace.mkdir(parents=True)
    (workspace / "key").write_text("hidden", "utf-8")
    rules = (manifest_rule("fs.read", "ws/key", "deny"),)
    agent = Agent(id="coder", profile="code", roots=(str(around),), rules=rules)
    surroundings = Surroundings(data_home=tmp_path / "data", state_home=tmp_path / "state")
    async with opened(workspace, agent=agent, surroundings=surroundings) as hf:
        for path in ("key", str(workspace / "key")):
            refused = await failure(hf, "read", path=path)
            assert refused.kind == FailureKind.REJECTED


async def test_a_rule_that_was_remembered_elsewhere_says_nothing_of_a_root(
    workspace: Path, lib: Path
) -> None:
    kept = Rule(
        permission="write",
        pattern="a.txt",
        action="allow",
        scope="session",
        source="a person",
        remembered=True,
    )
    agent = with_root(lib, rules=(manifest_rule("fs.write", "**", "ask"),))
    async with opened(workspace, agent=agent, rules=[kept]) as hf:
        await result(hf, "write", path="a.txt", content="x")
        refused = await failure(hf, "write", path=str(lib / "a.txt"), content="x")
        assert refused.kind == FailureKind.REJECTED
