"""What a managed session may do where: with files, and with real processes."""

from pathlib import Path
from typing import Any

import pytest
from tool_kit import failure, opened, result
from tools.managed.shared_kit import WRITER, home_of, managed, substrate_of, vault_settings

from holdfast import Agent
from holdfast.app.agent_settings import AgentSettings
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import ProfileSettings, Settings, VaultSettings
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Rule, RuleScope

pytestmark = pytest.mark.anyio

ANY_COMMAND = {"managed": ProfileSettings(commands="any")}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "token").write_text("sesame\n")
    return folder


@pytest.mark.req("BOA-POL-11", "BOA-SBX-23")
async def test_work_is_free_in_the_mounts_where_nobody_is_asked(workspace: Path) -> None:
    async with managed(workspace, approver=None) as hf:
        await result(hf, "write", path="a.md", content="one\n")
        assert (await result(hf, "bash", command="cat a.md"))["stdout"] == "one\n"
        shared = substrate_of(workspace) / "s.md"
        shared.write_text("shared\n")
        assert (await result(hf, "read", path=str(shared)))["text"] == "shared\n"
        for told, grounds in (
            (await hf.explain("write", {"path": "a.md", "content": ""}), "fs.write"),
            (await hf.explain("read", {"path": str(shared)}), "fs.read"),
            (await hf.explain("bash", {"command": "cat a.md"}), "bash"),
        ):
            said: Any = told
            assert (said.verdict, said.unattended) == ("allow", "allow")
            decided = said.uses[0].decided_by
            assert (decided.permission, decided.scope) == (grounds, "manifest")
        for path in ("/etc/hostname", str(home_of(workspace) / "x"), "../x"):
            refused = await failure(hf, "write", path=path, content="x")
            assert refused.kind is FailureKind.REJECTED
        refused = await failure(hf, "write", path=str(shared), content="x")
        assert (refused.kind, "resources_promote" in refused.message) == (
            FailureKind.REJECTED,
            True,
        )
        refused = await failure(hf, "resources_restore_version", version_id="x")
        assert "approval" in refused.message


@pytest.mark.req("BOA-POL-11")
@pytest.mark.parametrize("action", ["ask", "deny"])
async def test_rules_and_hooks_narrow_what_mounts_give(workspace: Path, action: Any) -> None:
    said: list[tuple[str, str, RuleScope]] = [
        ("fs.write", "**", "session"),
        ("fs.read", "**/*.key", "project"),
        ("bash", "*", "project"),
    ]
    rules = [
        Rule(permission=one, pattern=pattern, action=action, scope=scope, source="test")
        for one, pattern, scope in said
    ]
    async with managed(workspace, approver=None, rules=rules) as hf:
        (substrate_of(workspace) / "a.key").write_text("k")
        for tool, arguments in (
            ("write", {"path": "a.md", "content": "x"}),
            ("read", {"path": str(substrate_of(workspace) / "a.key")}),
            ("bash", {"command": "pwd"}),
            ("resources_stage_from_substrate", {"source_path": "a.key"}),
        ):
            assert (await failure(hf, tool, **arguments)).kind is FailureKind.REJECTED
        assert not (workspace / "a.key").exists()

    def no(_inspection: object, /) -> Any:
        raise RuntimeError("no")

    async with managed(workspace, hooks=[no]) as hf:
        assert (await failure(hf, "read", path=".")).kind is FailureKind.REJECTED


@pytest.mark.req("BOA-RES-01", "BOA-SBOX-07", "BOA-SBOX-05")
async def test_the_kernel_keeps_commands_from_writing_what_is_read_alone(workspace: Path) -> None:
    async with managed(workspace, settings=Settings(profile=ANY_COMMAND)) as hf:
        mounts = (await result(hf, "resources_list"))["resources"]
        places = {one["kind"]: Path(one["mount_path"]) for one in mounts}
        for kind in ("agent_substrate", "learnings", "runtime_memory"):
            folder = places[kind]
            (folder / "a.md").write_text("one\n")
            (workspace / kind).symlink_to(folder)
            for path in (folder / "a.md", Path(kind) / "a.md", folder / "new.md"):
                read = await result(hf, "bash", command=f"cat {folder}/a.md")
                assert read["stdout"] == "one\n"
                for command in (f"echo x > {path}", f"sh -c 'f={path}; echo x > $f; rm $f'"):
                    done: Any = await hf.settle("bash", {"command": command})
                    assert done.failure is not None or done.result["exit_code"] != 0
                refused = await failure(hf, "write", path=str(path), content="x")
                assert refused.kind is FailureKind.REJECTED
            for tool in ("edit", "multi_edit"):
                if any(one.name == tool for one in hf.tools):
                    given = {"path": f"{kind}/a.md", "old_string": "one", "new_string": "two"}
                    assert (await failure(hf, "edit", **given)).kind is FailureKind.REJECTED
            assert [one.name for one in folder.iterdir()] == ["a.md"]
            assert (folder / "a.md").read_text() == "one\n"
        done = await result(hf, "bash", command="sh -c 'echo x > mine.md && cat mine.md'")
        assert done["stdout"] == "x\n"


async def test_a_substrate_that_a_person_chose_is_read_alone_too(workspace: Path) -> None:
    inside = workspace / "notes"
    inside.mkdir()
    (inside / "a.md").write_text("one\n")
    agent = Agent(id="writer", description="Writes.", instructions="W.", substrate="notes")
    async with managed(workspace, agent=agent, settings=Settings(profile=ANY_COMMAND)) as hf:
        refused = await failure(hf, "write", path="notes/a.md", content="x")
        assert (refused.kind, "read alone" in refused.message) == (FailureKind.REJECTED, True)
        for command in ("echo x > notes/a.md", "sh -c 'f=notes/a.md; echo x > $f'"):
            done: Any = await hf.settle("bash", {"command": command})
            assert done.failure is not None or done.result["exit_code"] != 0
        assert (inside / "a.md").read_text() == "one\n"
        (workspace / "b.md").write_text("two\n")
        await result(hf, "resources_promote_to_substrate", source_path="b.md")
        assert (inside / "b.md").read_text() == "two\n"
    for bad in (".", "none", "/", str(home_of(workspace) / "data")):
        agent = Agent(id="writer", description="Writes.", instructions="W.", substrate=bad)
        with pytest.raises(ConfigurationError, match=r"agent\.writer\.substrate"):
            async with managed(workspace, agent=agent):
                pass


@pytest.mark.req("BOA-HAND-05", "BOA-SBOX-08")
async def test_nobody_reads_what_is_in_a_vault(workspace: Path, vault: Path) -> None:
    (workspace / "link").symlink_to(vault)
    (workspace / "token").symlink_to(vault / "token")
    reads_all = Agent(
        id="writer",
        description="Reads.",
        instructions="R.",
        requires={"fs": {"read": ["/**"], "write": [f"{vault}/**"]}},
    )
    for agent in (WRITER, reads_all):
        settings = vault_settings(vault, profile=ANY_COMMAND)
        async with managed(workspace, agent=agent, settings=settings) as hf:
            for path in (str(vault / "token"), "link/token", "token"):
                for tool, arguments in (
                    ("read", {"path": path}),
                    ("grep", {"path": path, "pattern": "sesame"}),
                    ("write", {"path": path, "content": "x"}),
                    ("resources_promote_to_substrate", {"source_path": path}),
                ):
                    refused = await failure(hf, tool, **arguments)
                    assert refused.kind in (FailureKind.REJECTED, FailureKind.INVALID_ARGS)
                for command in (f"cat {path}", f"sh -c 'cat {path}'"):
                    envelope = await hf.settle("bash", {"command": command})
                    assert b"sesame" not in (envelope.result_json or b"")
            found = await hf.settle("grep", {"path": ".", "pattern": "sesame"})
            assert b"sesame\n" not in (found.result_json or b"")
    assert (vault / "token").read_text() == "sesame\n"
    async with opened(workspace, "code", settings=vault_settings(vault), agent=reads_all) as hf:
        refused = await failure(hf, "read", path=str(vault / "token"))
        assert "in a vault" in refused.message  # not of a managed session's alone


async def test_a_vault_that_cannot_be_one_is_said(workspace: Path) -> None:
    for path in ("relative", str(workspace), "/"):
        with pytest.raises(ConfigurationError, match=r"vault\.keys\.path"):
            async with managed(workspace, settings=vault_settings(Path(path))):
                pass


@pytest.mark.req("BOA-SBOX-06")
async def test_the_ten_programs_stay_in_the_mount_they_work_in(
    workspace: Path, vault: Path
) -> None:
    async with managed(workspace, settings=vault_settings(vault)) as hf:
        shared = substrate_of(workspace)
        (shared / "a.md").write_text("one\n")
        there = await result(hf, "bash", command="cat a.md", workdir=str(shared))
        assert there["stdout"] == "one\n"
        for arguments in (
            {"command": f"cat {shared}/a.md"},
            {"command": f"cat {workspace}/x", "workdir": str(shared)},
            {"command": "ls", "workdir": str(vault)},
            {"command": "ls", "workdir": "/"},
        ):
            assert (await failure(hf, "bash", **arguments)).kind is FailureKind.REJECTED


@pytest.mark.parametrize(
    ("name", "path", "said"),
    [
        ("a b", "/tmp", "it cannot be called that"),
        ("keys", "keys", "no absolute path"),
        ("keys", "{workspace}", "is or contains the workspace"),
    ],
)
async def test_a_vault_that_cannot_be_one_is_told_before_anything_is_opened(
    workspace: Path, name: str, path: str, said: str
) -> None:
    vaults = {name: VaultSettings(path=path.format(workspace=workspace.resolve()))}
    with pytest.raises(ConfigurationError, match=said):
        async with opened(workspace, "managed", settings=Settings(vault=vaults)):
            pass


async def test_a_session_without_an_agent_stands_on_what_the_usual_agents_table_says(
    workspace: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    table = AgentSettings(substrate=str(shared))
    async with opened(workspace, "managed", settings=Settings(agent={"default": table})) as hf:
        mounted = (await result(hf, "environment_describe"))["mounted_resources"]
        assert str(shared.resolve()) in [one["mount_path"] for one in mounted]


async def test_a_vault_may_be_named_from_a_persons_home(workspace: Path) -> None:
    vaults = {"keys": VaultSettings(path="~/no-such-keys-of-holdfast")}
    async with opened(workspace, "managed", settings=Settings(vault=vaults)) as hf:
        (vault,) = (await result(hf, "vault_list"))["vaults"]
        assert vault["mount_path"].endswith("/no-such-keys-of-holdfast")
        assert not vault["mount_path"].startswith("~")
