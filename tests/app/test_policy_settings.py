"""`[policy.reach]` and `policy.doubts`: what a person adds to what tools require, and lets run."""

from pathlib import Path

import pytest
from places import Places
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast import Holdfast, Rule
from holdfast.app.problems import ConfigurationError
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import PolicySettings, SandboxSettings, Settings, StoreSettings
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Action
from holdfast.policy.explain import Explanation

pytestmark = pytest.mark.anyio

IN_DOUBT = (
    'for f in *.txt; do wc -l "$f"; done',
    "echo $HOME",
    'X=$(cat a.txt); echo "$X"',
    "find . -name '*.txt' | xargs wc -l",
    "python3 -c 'print(1)'",
    "FOO=1 ls",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    (made / "a.txt").write_text("a\n")
    return made


def with_policy(policy: PolicySettings, sandbox: SandboxSettings | None = None) -> Settings:
    return Settings(
        store=StoreSettings(kind="none"), policy=policy, sandbox=sandbox or SandboxSettings()
    )


def shell_rule(pattern: str, action: Action) -> Rule:
    return Rule(
        permission="shell.run", pattern=pattern, action=action, scope="project", source="test"
    )


async def test_a_person_adds_to_what_tools_reach(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("needle\n")
    path = str(outside / "b.txt")
    async with opened(workspace, "code") as hf:
        told = await failure(hf, "read", path=path)
        assert f"requires.fs.read = ['{path}'], or by [policy.reach]" in told.message
    reach = RequirementSettings(read=(f"{outside}/**",))
    for strict in (False, True):
        settings = with_policy(PolicySettings(reach=reach, strict=strict))
        async with opened(workspace, "code", settings=settings) as hf:
            assert "needle" in str(await result(hf, "read", path=path))
            assert (await answer(hf, "grep", pattern="needle", path=str(outside))).ok
            shown = await result(hf, "bash", command=f"cat {path}")
            assert shown["stdout"] == "needle\n"
            refused = await failure(hf, "write", path=path, content="x")
            assert refused.kind is FailureKind.REJECTED


async def test_a_ceiling_stands_above_what_is_added(workspace: Path) -> None:
    reach, ceiling = RequirementSettings(read=("/usr/**",)), RequirementSettings(read=("**",))
    settings = with_policy(PolicySettings(reach=reach, ceiling=ceiling))
    async with opened(workspace, "locked", settings=settings) as hf:
        assert (await failure(hf, "read", path="/usr")).kind is FailureKind.REJECTED


def test_only_a_person_adds(places: Places) -> None:
    project = '[policy]\ndoubts = "confined"\n[policy.reach]\nread = ["/etc/**"]\n'
    loaded = places.load(project=project)
    assert loaded.settings.policy == PolicySettings()
    assert len([one for one in loaded.notices if "policy." in one]) == 2


def test_a_pattern_that_is_none_names_its_table(places: Places) -> None:
    with pytest.raises(ConfigurationError, match=r"policy\.reach\.read: .*; correct or remove"):
        places.load(user='[policy.reach]\nread = ["{nonsense}/x"]\n')
    reach = RequirementSettings(read=("{nonsense}/x",))
    with pytest.raises(ConfigurationError, match=r"policy\.reach: .*; correct or remove"):
        Holdfast(settings=with_policy(PolicySettings(reach=reach)))


async def test_a_link_out_is_told_without_advice_that_does_not_help(workspace: Path) -> None:
    (workspace / "link").symlink_to("/etc/hostname")
    async with opened(workspace, "locked") as hf:
        told = await failure(hf, "read", path="link")
    assert "Name the place it leads to instead." in told.message
    assert "would be admitted" not in told.message


async def test_commands_in_doubt_run_where_a_person_says_so(workspace: Path) -> None:
    async with opened(workspace, "code") as hf:
        for command in IN_DOUBT:
            assert (await failure(hf, "bash", command=command)).kind is FailureKind.REJECTED
    settings = with_policy(PolicySettings(doubts="confined"))
    async with opened(workspace, "code", settings=settings) as hf:
        for command in IN_DOUBT:
            assert (await result(hf, "bash", command=command))["exit_code"] == 0, command
        told = await hf.explain("bash", {"command": "echo $HOME"})
        assert "policy.doubts = 'confined'" in str(told)


async def _explained(hf: Holdfast, command: str) -> Explanation:
    found = await hf.explain("bash", {"command": command})
    assert isinstance(found, Explanation)
    return found


DOUBTS = '[policy] doubts = "confined"'


@pytest.mark.parametrize("command", ["echo $HOME", "for i in 1 2; do wc $i; done"])
async def test_who_is_asked_about_a_doubt_is_told_what_would_let_it_run(
    workspace: Path, command: str
) -> None:
    async with opened(workspace, "code") as hf:
        assert DOUBTS in (await _explained(hf, command)).reason
    unconfined = with_policy(PolicySettings(), SandboxSettings(confinement="unconfined"))
    async with opened(workspace, "code", settings=unconfined) as hf:
        assert DOUBTS not in (await _explained(hf, command)).reason


@pytest.mark.parametrize("speaking", ["wc *", "*"])
async def test_where_it_would_not_run_all_the_same_it_is_not_told(
    workspace: Path, speaking: str
) -> None:
    async with opened(workspace, "code", rules=[shell_rule(speaking, "ask")]) as hf:
        told = await _explained(hf, "wc $HOME")
    assert told.verdict == "ask"
    assert DOUBTS not in told.reason


async def test_a_model_that_is_alone_reads_what_is_in_doubt_and_what_to_do(
    workspace: Path,
) -> None:
    async with opened(workspace, "code") as hf:
        told = await failure(hf, "bash", command="for i in 1 2; do wc $i; done")
        assert "`$i` is only known when it runs" in str(told.extras["why"])
        assert "write the call without it" in str(told.extras["why"])
    async with opened(workspace, "code", rules=[shell_rule("wc *", "ask")]) as hf:
        for command in ("wc $HOME", "wc a"):
            told = await failure(hf, "bash", command=command)
            assert "write the call without it" not in str(told.extras["why"])


@pytest.mark.parametrize("action", ["ask", "deny"])
async def test_a_rule_that_speaks_of_it_still_counts(workspace: Path, action: Action) -> None:
    settings = with_policy(PolicySettings(doubts="confined"))
    rules = [shell_rule("wc *", action)]
    async with opened(workspace, "code", settings=settings, rules=rules) as hf:
        told = await failure(hf, "bash", command=IN_DOUBT[0])
        assert told.kind is FailureKind.REJECTED
        assert (await result(hf, "bash", command="echo $HOME"))["exit_code"] == 0


async def test_where_nothing_holds_processes_a_doubt_is_asked_about(workspace: Path) -> None:
    unconfined = SandboxSettings(confinement="unconfined")
    settings = with_policy(PolicySettings(doubts="confined"), unconfined)
    async with opened(workspace, "code", settings=settings) as hf:
        assert (await failure(hf, "bash", command="echo $HOME")).kind is FailureKind.REJECTED


async def test_a_doubt_about_anything_but_a_command_is_asked_about(workspace: Path) -> None:
    settings = with_policy(PolicySettings(doubts="confined"))
    assert UNRECORDED.policy.doubts == "ask"
    (workspace / "loop").symlink_to("loop")
    async with opened(workspace, "locked", settings=settings) as hf:
        assert (await failure(hf, "read", path="loop/x")).kind is FailureKind.REJECTED
