"""What the variables of patterns stand for in the session of an agent, and which there are."""

from collections.abc import Sequence
from pathlib import Path
from string import ascii_letters

import msgspec
import pytest
from app.agent_kit import around, ground_in, problem_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_kit import failure, opened, result

from holdfast import Agent, Runtime, tool
from holdfast.app.agents import compiled
from holdfast.contract.failure import FailureKind
from holdfast.contract.variables import STANDARD_VARIABLES
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.paths import Refused
from holdfast.policy.places import places_of
from holdfast.policy.scope import EffectiveScope, compile_scope

pytestmark = pytest.mark.anyio


def reading(*patterns: str) -> object:
    @tool(requires={"fs": {"read": list(patterns)}}, uses={"path": "fs.read"})
    def text_of(rt: Runtime, path: str) -> str:
        """Read a text."""
        return rt.fs.read_text(path).text

    return text_of


@pytest.mark.req("SPEC-VAR-03")
async def test_ad_hoc_stands_for_the_directories_of_the_files_that_are_open(
    workspace: Path, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("one/open.txt", "two/open.txt", "closed/shut.txt")]
    for path in files:
        path.parent.mkdir()
        path.write_text(f"in {path.parent.name}", "utf-8")
    (tmp_path / "one" / "beside.txt").write_text("beside it", "utf-8")
    agent = Agent(id="helper", ad_hoc=tuple(map(str, files[:2])))
    tools = [reading("{ad-hoc}/**")]
    async with opened(workspace, "bare", tools=tools, agent=agent) as hf:
        assert await result(hf, "text_of", path=str(files[0])) == {"text": "in one"}
        assert await result(hf, "text_of", path=str(files[1])) == {"text": "in two"}
        beside = await result(hf, "text_of", path=str(tmp_path / "one" / "beside.txt"))
        assert beside == {"text": "beside it"}
        for path in (files[2], workspace / "notes.txt"):
            refused = await failure(hf, "text_of", path=str(path))
            assert refused.kind == FailureKind.REJECTED
    async with opened(workspace, "bare", tools=tools) as hf:
        refused = await failure(hf, "text_of", path=str(files[0]))
        assert refused.kind == FailureKind.REJECTED, "with no such file it stands for nothing"


@pytest.mark.req("SPEC-VAR-04")
async def test_user_data_stands_for_the_hosts_data_directory(
    workspace: Path, tmp_path: Path
) -> None:
    surroundings = around(tmp_path)
    kept = surroundings.data_home / "shared" / "word.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("kept", "utf-8")
    beside = surroundings.data_home.parent / "beside.txt"
    beside.write_text("x", "utf-8")
    agent = Agent(id="helper")
    async with opened(
        workspace,
        "bare",
        tools=[reading("{user-data}/shared/*")],
        agent=agent,
        surroundings=surroundings,
    ) as hf:
        assert await result(hf, "text_of", path=str(kept)) == {"text": "kept"}
        for path in (beside, workspace / "notes.txt"):
            refused = await failure(hf, "text_of", path=str(path))
            assert refused.kind == FailureKind.REJECTED


@pytest.mark.req("SPEC-VAR-03", "SPEC-VAR-04")
async def test_an_agent_itself_may_require_them(workspace: Path, tmp_path: Path) -> None:
    surroundings = around(tmp_path)
    kept = surroundings.data_home / "word.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("kept", "utf-8")
    (tmp_path / "adhoc").mkdir()
    (tmp_path / "adhoc" / "a.txt").write_text("open", "utf-8")
    wanted = {"fs": {"read": ["{user-data}/*", "{ad-hoc}/*"]}}
    for agent, works in ((Agent(id="a"), False), (Agent(id="b", requires=wanted), True)):
        declared = msgspec.structs.replace(agent, ad_hoc=(str(tmp_path / "adhoc" / "a.txt"),))
        async with opened(
            workspace,
            "bare",
            tools=[reading("{workspace}/*")],
            agent=declared,
            surroundings=surroundings,
        ) as hf:
            for path in (kept, tmp_path / "adhoc" / "a.txt"):
                assert (await hf.settle("text_of", {"path": str(path)})).ok is works


@pytest.mark.req("SPEC-VAR-07")
@pytest.mark.parametrize("where", ["read", "write", "hosts"])
@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{worksapce}/**", "unknown variable {worksapce}; did you mean {workspace}?"),
        ("{Workspace}/**", "unknown variable {Workspace}; did you mean {workspace}?"),
        ("{zzz}", "unknown variable {zzz}; known: {workspace}, {ad-hoc}, {user-data}"),
        ("{}/a", "unknown variable {}; known: "),
        ("{workspace/a", "a brace is not closed"),
        ("a}", "a brace is not closed"),
        ("{a,{b}}/x", "unknown variable {b}; known: "),
    ],
)
def test_an_unknown_variable_raises_when_the_agent_is_compiled(
    tmp_path: Path, where: str, pattern: str, said: str
) -> None:
    fine = {"hosts": "a.org"}.get(where, "{workspace}/**")
    patterns = [fine, pattern, fine]
    requires = {"net": {"hosts": patterns}} if where == "hosts" else {"fs": {where: patterns}}
    told = problem_of(Agent(id="coder", requires=requires), ground_in(tmp_path))
    assert told.startswith(f"agent.coder.requires.{where}[1]: ")
    assert said in told
    patterns[1] = fine
    assert compiled(Agent(id="coder", requires=requires), ground_in(tmp_path))


@pytest.mark.req("SPEC-VAR-07")
async def test_no_session_starts_under_an_agent_with_an_unknown_variable(workspace: Path) -> None:
    agent = Agent(id="coder", requires={"net": {"hosts": ["{here}.example.org"]}})
    with pytest.raises(ValueError, match=r"agent\.coder\.requires\.hosts\[0\]: unknown variable"):
        async with opened(workspace, agent=agent):
            pass


names = st.text(ascii_letters + "-{}*, ", min_size=1, max_size=8)


@given(name=names)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_only_the_standard_variables_are_ever_taken(tmp_path: Path, name: str) -> None:
    agent = Agent(id="coder", requires={"fs": {"read": ["docs/**", f"{{{name}}}/x"]}})
    if name in STANDARD_VARIABLES:
        compiled(agent, ground_in(tmp_path))
    elif not any(sign in name for sign in "{},"):
        assert "agent.coder.requires.read[1]: unknown variable" in problem_of(
            agent, ground_in(tmp_path)
        )


folders = st.lists(
    st.text("ab[]{}*?,\\ é", min_size=1, max_size=6).filter(lambda name: name.strip() == name),
    min_size=1,
    max_size=4,
    unique=True,
)


@pytest.mark.req("SPEC-VAR-02")
@given(folders=folders, chosen=st.sets(st.integers(0, 3)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_the_variable_stands_for_exactly_the_roots_whatever_they_are_called(
    tmp_path_factory: pytest.TempPathFactory, folders: Sequence[str], chosen: set[int]
) -> None:
    tmp_path = tmp_path_factory.mktemp("roots")
    all_of_them = [tmp_path / name for name in folders]
    for path in all_of_them:
        path.mkdir()
    roots = [path for place, path in enumerate(all_of_them) if place in chosen]
    one = compiled(
        Agent(
            id="coder",
            roots=tuple(map(str, roots)),
            requires={"fs": {"read": ["{workspace}/docs/*"]}},
        ),
        ground_in(tmp_path),
    )
    facts = DiskPaths()
    places = places_of({"workspace": [str(one.workspace), *one.roots]}, facts)
    scope = EffectiveScope(compile_scope(one.requires, places), facts)
    for path in (tmp_path / "ws", *all_of_them):
        verdict = scope.admits_path("read", f"{path}/docs/a")
        inside = path in (tmp_path / "ws", *roots)
        assert isinstance(verdict, Refused) is not inside
        assert isinstance(scope.admits_path("read", f"{path}/a"), Refused)
