"""What a session is set up as: described, compared, and the same wherever it is the same."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tool_kit import failure, result
from tools.managed.shared_kit import events_of, home_of, managed, substrate_of, vault_settings

from holdfast import Agent, Holdfast, ScriptedModel, tool
from holdfast.app.settings import SandboxSettings, Settings, Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.managed_events import SetupDescribed

pytestmark = pytest.mark.anyio


async def described(hf: Holdfast) -> Any:
    managed_session = hf.parts.own.managed
    assert managed_session is not None
    return await managed_session.setup.describe_now()


@pytest.mark.req("BOA-SETUP-01", "BOA-SETUP-02", "BOA-SETUP-12", "BOA-FP-05")
async def test_the_environment_is_told_as_it_is_enforced(workspace: Path, tmp_path: Path) -> None:
    async with managed(workspace, settings=vault_settings(tmp_path / "vault")) as hf:
        declared = next(one for one in hf.tools if one.name == "environment_describe")
        assert declared.input_schema["properties"] == {}
        told = await result(hf, "environment_describe")
        shown = workspace.resolve() / ".holdfast-runtime" / hf.session_id
        assert told["artifact_path"] == str(shown / "environment.json")
        assert told["agent_setup_artifact_path"] == str(shown / "agent-setup.json")
        assert (told["id"], told["kind"]) == ("local-default", "local")
        assert told["created_at"] <= told["updated_at"]
        assert told["sandbox"] == {
            "mode": "strongest",
            "workspace_access": "read_write",
            "network_access": "none",
            "package_policy": "none",
        }
        kinds = [one["kind"] for one in told["workspace_mount_defaults"]]
        assert kinds == ["session_workspace", "agent_substrate", "learnings", "runtime_memory"]
        assert [one["kind"] for one in told["mounted_resources"]] == [*kinds, "vault"]
        for one in told["mounted_resources"]:
            assert set(one) == {"kind", "mount_path", "access", "scope", "prompt"}
        setup = (await result(hf, "agent_describe_setup"))["agent_setup"]
        assert told["agent_setup_fingerprint"] == setup["fingerprint"]
        contract = setup["contract"]
        assert told["fingerprint"] == contract["environment"]["fingerprint"]
        held = contract["resource_contract"]
        assert told["resource_contract_fingerprint"] == held["fingerprint"]
        assert hf.session_id not in json.dumps(held)
    unconfined = Settings(sandbox=SandboxSettings(confinement="unconfined"))
    async with managed(workspace, settings=unconfined) as hf:
        other = await result(hf, "environment_describe")
        assert other["sandbox"]["mode"] == "unconfined"
        assert other["fingerprint"] != told["fingerprint"]
        assert other["resource_contract_fingerprint"] == told["resource_contract_fingerprint"]


@pytest.mark.req("BOA-SETUP-03", "BOA-SETUP-04", "BOA-SETUP-05")
async def test_a_setup_holds_all_that_a_session_stands_on(workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Write plainly.\n")
    async with managed(workspace) as hf:
        session = await hf.new_session(agent="writer", session=None)
        inner = session._parts  # pyright: ignore[reportPrivateUsage] - nobody else shows it
        other = inner.own.managed
        assert other is not None
        now = await other.setup.describe_now()
        assert (now.before, now.has_changed) == (None, False)
        told = await result(hf, "agent_describe_setup", session_id=session.id)
        assert (told["session_id"], told["available"]) == (session.id, True)
        assert told["artifact_path"].endswith(f"{session.id}/agent-setup.json")
        assert told["artifact_markdown_path"].endswith(f"{session.id}/agent-setup.md")
        assert told.get("reason") is None
        contract = told["agent_setup"]["contract"]
        assert (contract["agent_id"], contract["provider"]) == ("writer", session.model.provider)
        assert contract["model"] == session.model.name
        names = [one["name"] for one in contract["system_prompt"]["texts"]]
        assert names == ["bootstrap", "runtime_environment", "harness_appendix"]
        (file,) = contract["bootstrap_files"]["texts"]
        assert (file["name"], file["chars"] > 10) == ("AGENTS.md", True)
        rows = {one["name"]: one for one in contract["tools"]["tools"]}
        assert set(rows) == {one.name for one in hf.tools}
        assert rows["resources_restore_version"]["permission_policy"] == "always_ask"
        assert "resources_restore_version" in contract["permissions"]["always_ask_tools"]
        assert "read" in contract["permissions"]["always_allow_tools"]
        assert contract["vaults"]["resources"] == []
        assert contract["skills"]["skills"] == []
        assert contract["resource_contract"]["resources"][1]["kind"] == "agent_substrate"
        assert contract["environment"]["id"] == "local-default"


@pytest.mark.req("BOA-SETUP-03", "BOA-SETUP-05", "BOA-ARG-06")
async def test_what_nobody_said_is_not_known_and_of_strangers_nothing_is_told(
    workspace: Path,
) -> None:
    stranger = Agent(id="other", description="Another.", instructions="Be another.")
    async with managed(workspace, agent=stranger) as theirs, managed(workspace) as silent:
        await described(theirs)
        await result(silent, "read", path=".")  # it is written down
        async with managed(workspace) as hf:
            told = await result(hf, "agent_describe_setup", session_id=silent.session_id)
            assert (told["available"], told["agent_setup"]) == (False, None)
            assert silent.session_id in told["reason"]
            for name in ("agent_describe_setup", "agent_compare_setup"):
                for unknown in (theirs.session_id, "ses_none"):
                    refused = await failure(hf, name, session_id=unknown)
                    assert refused.kind is FailureKind.REJECTED
                    said = f"Session {unknown} is not available to agent writer"
                    assert (refused.message, refused.extras) == (said, {})


@pytest.mark.req("BOA-SETUP-06", "BOA-SETUP-07", "BOA-SETUP-08", "BOA-FP-03")
async def test_equal_setups_match_in_other_sessions_and_other_places(
    workspace: Path, tmp_path: Path
) -> None:
    @tool
    async def further() -> str:
        """One more."""
        return ""

    elsewhere = tmp_path / "quite" / "another" / "place"
    elsewhere.mkdir(parents=True)
    home = home_of(workspace)
    same = Surroundings(data_home=home / "data", state_home=home / "state")
    async with managed(elsewhere, surroundings=same) as there:
        twin = await described(there)
        async with managed(workspace, tools=[further]) as more:
            different = await described(more)
            async with managed(workspace) as hf:
                told = await result(hf, "agent_compare_setup", session_id=there.session_id)
                assert (told["current_session_id"], told["target_session_id"]) == (
                    hf.session_id,
                    there.session_id,
                )
                assert (told["same_setup"], told["changed_sections"]) == (True, [])
                assert told["current_fingerprint"] == told["target_fingerprint"]
                assert told["target_fingerprint"] == twin.setup.fingerprint
                assert told["current_artifact_path"] != told["target_artifact_path"]
                other = await result(hf, "agent_compare_setup", session_id=more.session_id)
                assert other["same_setup"] is False
                assert other["target_fingerprint"] == different.setup.fingerprint
                assert other["changed_sections"] == ["tools", "permissions"]
                step = other["next_step"]
                assert (await result(hf, step["tool"], **step["args"]))["available"] is True
                itself = await result(hf, "agent_compare_setup")
                assert (itself["same_setup"], itself["target_session_id"]) == (True, hf.session_id)


async def test_a_setup_is_written_down_when_it_changes(workspace: Path) -> None:
    async with managed(workspace) as hf:
        first, again = await described(hf), await described(hf)
        assert (first.has_changed, again.has_changed) == (False, False)
        assert again.before == first.setup.fingerprint
        managed_session = hf.parts.own.managed
        assert managed_session is not None
        before = managed_session.setup._known  # pyright: ignore[reportPrivateUsage] - nobody else shows it
        changed = msgspec.structs.replace(before(), tools=())
        managed_session.setup._known = lambda: changed  # pyright: ignore[reportPrivateUsage] - nobody else shows it
        later = await described(hf)
        assert (later.has_changed, later.before) == (True, first.setup.fingerprint)
        told = [one for one in await events_of(hf) if isinstance(one, SetupDescribed)]
        prints = [first.setup.fingerprint, later.setup.fingerprint]
        assert [one.fingerprint for one in told] == prints


@pytest.mark.req("BOA-SETUP-09", "BOA-SETUP-10", "BOA-SETUP-11")
async def test_vaults_are_listed_and_never_their_contents(workspace: Path, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "token").write_text("sesame")
    async with managed(workspace, settings=vault_settings(vault)) as hf:
        told = await result(hf, "vault_list")
        assert told == {
            "artifact_path": told["artifact_path"],
            "count": 1,
            "vaults": [
                {
                    "mount_path": str(vault.resolve()),
                    "access": "read_only",
                    "vault_name": "keys",
                    "scope": "host",
                    "prompt": "Keys.",
                }
            ],
        }
    async with managed(workspace) as hf:
        told = await result(hf, "vault_list")
        assert (told["count"], told["vaults"]) == (0, [])


async def test_a_bare_managed_session_is_described_as_far_as_it_is_known(workspace: Path) -> None:
    async with managed(workspace, agent=None, model=ScriptedModel([])) as hf:
        told = await result(hf, "agent_describe_setup")
        contract = told["agent_setup"]["contract"]
        assert (told["available"], contract["agent_id"]) == (True, "default")
        assert (contract["provider"], contract["system_prompt"]["texts"]) == (None, [])
        assert substrate_of(workspace, "default").is_dir()
