"""`bash` in narrower profiles: what they run, how, and what they say instead."""

from pathlib import Path

import msgspec
import pytest
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast import tool
from holdfast.app.configuration import load_configuration
from holdfast.app.profiles import profile_settings
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import PolicySettings, ProfileSettings, Settings, WatchdogSettings
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import ToolDefinitionError
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy.explain import Explanation

pytestmark = pytest.mark.anyio


def profiles(**tables: ProfileSettings) -> Settings:
    return msgspec.structs.replace(UNRECORDED, profile=tables)


@pytest.mark.req("BOA-HAND-16", "BOA-HAND-17", "SPEC-BASH-09")
async def test_the_managed_one_runs_a_program_without_a_shell(workspace: Path) -> None:
    (workspace / "a b").write_text("text\n")
    (workspace / "sub").mkdir()
    async with opened(workspace, "managed") as hf:
        offered = next(one for one in hf.tools if one.name == "bash")
        assert (offered.read_only, offered.destructive) == (True, False)
        assert offered.requires.fs.write == ()
        ran = await result(hf, "bash", command="cat 'a b'", timeout_ms=5_000)
        assert ran == {
            "stdout": "text\n",
            "stderr": "",
            "exit_code": 0,
            "timed_out": False,
            "truncated": False,
        }
        there = await result(hf, "bash", command="pwd", workdir="sub")
        assert there["stdout"] == f"{workspace}/sub\n"
        shown = await result(hf, "bash", command="env")
        assert "BASH" not in shown["stdout"]
        assert "SHLVL" not in shown["stdout"]  # every shell sets it
    async with opened(workspace, "locked") as hf:
        assert "SHLVL" in (await result(hf, "bash", command="env"))["stdout"]
        assert (await result(hf, "bash", command="false | true"))["exit_code"] == 1


@pytest.mark.req("BOA-HAND-18", "BOA-HAND-19")
@pytest.mark.parametrize(
    "command",
    [
        *(
            "touch x",
            "cat a | wc",
            "cat $HOME",
            "cat *",
            "ls; ls",
            "echo hi",
            "pwd -P",
            "env -i ls",
        ),
        *("cat /etc/passwd", "cat ../outside", "ls /", "cat link", "head -n 2 sub/../../outside"),
        *("tail -f a", "wc --files0-from=a", "find .", "git status", "/bin/cat a"),
    ],
)
async def test_the_managed_one_refuses_the_rest(workspace: Path, command: str) -> None:
    (workspace / "a").write_text("a\n")
    (workspace / "sub").mkdir()
    (workspace.parent / "outside").write_text("outside\n")
    (workspace / "link").symlink_to(workspace.parent / "outside")
    async with opened(workspace, "managed") as hf:
        refused = await failure(hf, "bash", command=command)
        assert refused.kind == FailureKind.REJECTED, refused
        assert not (workspace / "x").exists()


@pytest.mark.req("BOA-HAND-18")
async def test_the_managed_one_runs_ten_programs(workspace: Path) -> None:
    (workspace / "a").write_text("1\n2\n")
    async with opened(workspace, "managed") as hf:
        for command in ("pwd", "env", "ls", "cat a", "head -n 1 a", "tail -n 1 a", "wc -l a"):
            assert (await result(hf, "bash", command=command))["exit_code"] == 0, command
        for command in ("basename sub/a", "dirname a", "realpath a"):
            assert (await result(hf, "bash", command=command))["exit_code"] == 0, command


@pytest.mark.req("SPEC-BASH-03")
async def test_what_it_may_run_is_worked_out_for_each_call_and_only_narrowed(
    workspace: Path,
) -> None:
    async def generous(_inspection: Inspection) -> Opinion:
        return Opinion("allow", "of course")

    async def stern(inspection: Inspection) -> Opinion:
        wanted = str(inspection.arguments["command"])
        return Opinion("deny", "no") if "-l" in wanted else NOTHING_AGAINST_IT

    only_ls = PolicySettings(
        ceiling=msgspec.convert(
            {"read": ["**"], "write": ["**"], "shell": [{"cmd": "ls"}]}, RequirementSettings
        )
    )
    settings = msgspec.structs.replace(UNRECORDED, policy=only_ls)
    async with opened(workspace, "locked", settings=settings, hooks=[generous, stern]) as hf:
        assert (await result(hf, "bash", command="ls"))["exit_code"] == 0
        for command in ("touch x", "ls; touch x", "ls $(touch x)", "ls -l"):
            refused = await failure(hf, "bash", command=command)
            assert refused.kind == FailureKind.REJECTED, command
        assert not list(workspace.iterdir())


async def test_each_operand_lies_in_the_mount_of_the_working_directory(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "a").write_text("1\n2\n3\n")
    async with opened(workspace, "managed") as hf:
        ran = await result(hf, "bash", command="head -n 2 ../a", workdir="sub")
        assert ran["stdout"] == "1\n2\n"
        refused = await failure(hf, "bash", command="ls", workdir="/usr")
        assert refused.kind == FailureKind.REJECTED


async def test_a_refusal_names_the_call_that_asks_the_same(workspace: Path) -> None:
    async with opened(workspace, "managed") as hf:
        refused = await failure(hf, "bash", command="sed -n 2,3p a")
        assert f'Call read with {{"line_count":2,"path":"{workspace}/a"' in refused.message
        refused = await failure(hf, "bash", command="find . -name '*.py'")
        assert "Call glob with" in refused.message
        refused = await failure(hf, "bash", command="cat /etc/passwd")
        assert "Call" not in refused.message


async def test_a_profile_that_only_reads_runs_reading_commands(workspace: Path) -> None:
    (workspace / "a").write_text("a\n")
    async with opened(workspace, "readonly") as hf:
        for command in ("cat a", "ls", "grep -n a a", "find . -type f", "echo hi"):
            ran = await result(hf, "bash", command=command)
            assert ran["exit_code"] == 0, command
        for command in ("touch b", "rm a", "cat a > b", "find . -delete", "sh -c ls", "ls && ls"):
            refused = await failure(hf, "bash", command=command)
            assert refused.kind == FailureKind.REJECTED, command
        assert [path.name for path in workspace.iterdir()] == ["a"]


async def test_it_holds_for_every_tool_that_is_given_a_command(workspace: Path) -> None:
    @tool(requires={"shell": [{"cmd": "*"}]}, uses={"words": "shell.run"})
    async def run_words(rt: Runtime, words: list[str]) -> int | None:
        """Run words."""
        return (await rt.shell.run(words)).exit_code

    own = ProfileSettings(toolsets=("locked",), commands="read_only")
    async with opened(workspace, "own", settings=profiles(own=own), tools=[run_words]) as hf:
        refused = await failure(hf, "run_words", words=["touch", "x"])
        assert refused.kind == FailureKind.REJECTED
        assert (await answer(hf, "run_words", words=["ls", "a b"])).failure is None
        assert not list(workspace.iterdir())


async def test_no_setting_of_the_watchdog_takes_it_away(workspace: Path) -> None:
    off = WatchdogSettings(
        off=("destructive_commands", "exfiltration_shapes", "secrets_in_arguments")
    )
    settings = msgspec.structs.replace(UNRECORDED, watchdog=off)
    async with opened(workspace, "managed", settings=settings) as hf:
        assert (await failure(hf, "bash", command="touch x")).kind == FailureKind.REJECTED


def test_a_table_chooses_and_what_ships_stays_as_it_is() -> None:
    assert profile_settings({}, "managed").commands == "managed"
    assert profile_settings({}, "readonly").commands == "read_only"
    assert profile_settings({}, "code").commands == "any"
    assert profile_settings({}, "host").commands_per_turn == 10
    own = {"managed": ProfileSettings(commands="any"), "code": ProfileSettings(commands="managed")}
    assert profile_settings(own, "managed").commands == "any"
    assert profile_settings(own, "code").commands == "managed"


def test_only_a_trusted_file_may_choose(workspace: Path, tmp_path: Path) -> None:
    (workspace / ".holdfast").mkdir()
    (workspace / ".holdfast" / "config.toml").write_text('[profile.managed]\ncommands = "any"\n')
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    found = load_configuration(workspace, environment={"HOME": str(home)})
    assert profile_settings(found.settings.profile, "managed").commands == "managed"
    assert any("profile.managed.commands" in one for one in found.notices)


async def test_a_tool_of_the_hosts_own_cannot_be_called_bash() -> None:
    @tool
    def bash() -> None:
        """Not this one."""

    with pytest.raises(ToolDefinitionError):
        async with opened(Path("/"), "locked", tools=[bash]):
            pass


async def test_a_rule_for_a_command_is_enough_to_run_it(workspace: Path) -> None:
    rules = [
        Rule(permission="*", pattern="*", action="ask", scope="session", source="test"),
        Rule(permission="bash", pattern="ls*", action="allow", scope="session", source="test"),
    ]
    async with opened(workspace, "locked", rules=rules) as hf:
        assert (await result(hf, "bash", command="ls -a"))["exit_code"] == 0
        for command in ("ls > listed", "touch x"):
            refused = await failure(hf, "bash", command=command)
            assert refused.kind == FailureKind.REJECTED
        told = await hf.explain("bash", {"command": "ls > listed"})
        assert isinstance(told, Explanation)
        assert [(use.capability, use.target) for use in told.uses] == [
            ("shell.run", "ls"),
            ("fs.write", "listed"),
        ]
        assert not list(workspace.iterdir())


async def test_in_strict_mode_it_still_works_in_the_workspace(workspace: Path) -> None:
    strict = msgspec.structs.replace(UNRECORDED, policy=PolicySettings(strict=True))
    async with opened(workspace, "locked", settings=strict) as hf:
        assert (await result(hf, "bash", command="echo x > made && cat made"))["stdout"] == "x\n"
        assert (workspace / "made").read_text() == "x\n"
