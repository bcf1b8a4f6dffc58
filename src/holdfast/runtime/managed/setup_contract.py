"""A session's setup, put together in sections, each with a fingerprint, and compared.

Pure: what is known is handed in. Ids and absolute paths have no place in it, or no two sessions
would ever match; nor has MEMORY.md, which changes with everything that is learnt.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from holdfast.contract.json_value import encode_json
from holdfast.contract.managed.setup import (
    EnvironmentSetup,
    MountDefault,
    PermissionSetup,
    ResourceContract,
    ResourceFacts,
    RunFacts,
    SandboxFacts,
    SectionName,
    SetupContract,
    SkillCatalogue,
    SkillFacts,
    Text,
    Texts,
    ToolCatalogue,
    ToolFacts,
)
from holdfast.contract.mounts import Mount
from holdfast.contract.skills import Skill
from holdfast.contract.tool import Tool

ENVIRONMENT_ID = "local-default"
ENVIRONMENT_NAME = "This machine"
_LEFT_OUT = "MEMORY.md"
_SECTIONS: tuple[SectionName, ...] = (
    *("provider", "model", "resilience", "system_prompt", "bootstrap_files", "tools", "skills"),
    *("environment", "resource_contract", "vaults", "permissions"),
)


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a setup is made of."""

    agent_id: str
    run: RunFacts | None
    """None: no agent runs here."""
    tools: tuple[Tool, ...]
    skills: tuple[Skill, ...]
    mounts: tuple[Mount, ...]
    sandbox: SandboxFacts


def fingerprint(value: object) -> str:
    """What stands for a value that msgspec can encode: of its JSON, with its keys in order."""
    return hashlib.sha256(encode_json(msgspec.to_builtins(value))).hexdigest()


def contract_of(known: Known) -> SetupContract:
    """The setup."""
    run = known.run
    files = () if run is None else [one for one in run.bootstrap if not _is_memory(one[0])]
    ours = [one for one in known.mounts if one.kind != "vault"]
    vaults = [one for one in known.mounts if one.kind == "vault"]
    return SetupContract(
        agent_id=known.agent_id,
        provider=None if run is None else run.provider,
        model=None if run is None else run.model,
        resilience={} if run is None else run.resilience,
        system_prompt=_texts(() if run is None else run.sections),
        bootstrap_files=_texts(files),
        tools=_catalogue(known.tools),
        skills=_skills(known.skills),
        environment=environment_of(known.mounts, known.sandbox),
        resource_contract=_resources(ours),
        vaults=_resources(vaults),
        permissions=_permissions(known.tools),
    )


def changed_sections(one: SetupContract, other: SetupContract) -> tuple[SectionName, ...]:
    """Where two differ."""
    return tuple(name for name in _SECTIONS if getattr(one, name) != getattr(other, name))


def environment_of(mounts: Iterable[Mount], sandbox: SandboxFacts) -> EnvironmentSetup:
    """Where sessions work."""
    defaults = tuple(
        MountDefault(kind=one.kind, access=one.access, scope=one.scope)
        for one in mounts
        if one.kind != "vault"
    )
    said = (ENVIRONMENT_ID, ENVIRONMENT_NAME, "local", sandbox, defaults)
    return EnvironmentSetup(
        fingerprint=fingerprint(said),
        id=ENVIRONMENT_ID,
        name=ENVIRONMENT_NAME,
        kind="local",
        sandbox=sandbox,
        workspace_mount_defaults=defaults,
    )


def _is_memory(name: str) -> bool:
    return name.rpartition("/")[2] == _LEFT_OUT


def _texts(found: Iterable[tuple[str, str]]) -> Texts:
    texts = tuple(
        Text(name=name, chars=len(text), fingerprint=fingerprint(text)) for name, text in found
    )
    return Texts(fingerprint=fingerprint(texts), texts=texts)


def _catalogue(tools: Iterable[Tool]) -> ToolCatalogue:
    rows = tuple(tool_facts(one) for one in sorted(tools, key=lambda tool: tool.name))
    return ToolCatalogue(fingerprint=fingerprint(rows), count=len(rows), tools=rows)


def tool_facts(tool: Tool) -> ToolFacts:
    """A tool as the catalogue shows it."""
    return ToolFacts(
        name=tool.name,
        ownership=tool.ownership,
        permission_policy=tool.permission_policy,
        effects=tuple(tool.effects),
        read_only=tool.read_only,
        destructive=tool.destructive,
        interrupt_behavior=tool.interrupt_behavior,
    )


def _skills(skills: Iterable[Skill]) -> SkillCatalogue:
    ordered = sorted(skills, key=lambda skill: skill.name)
    rows = tuple(SkillFacts(name=one.name, description=one.description) for one in ordered)
    return SkillCatalogue(fingerprint=fingerprint(rows), skills=rows)


def _resources(mounts: Iterable[Mount]) -> ResourceContract:
    rows = tuple(
        ResourceFacts(
            kind=one.kind,
            access=one.access,
            scope=one.scope,
            prompt=one.prompt,
            vault_name=one.vault_name,
        )
        for one in mounts
    )
    return ResourceContract(fingerprint=fingerprint(rows), resources=rows)


def _permissions(tools: Iterable[Tool]) -> PermissionSetup:
    policies = sorted((tool.name, tool.permission_policy) for tool in tools)
    asks = tuple(name for name, policy in policies if policy == "always_ask")
    allowed = tuple(name for name, policy in policies if policy != "always_ask")
    return PermissionSetup(
        fingerprint=fingerprint((asks, allowed)), always_ask_tools=asks, always_allow_tools=allowed
    )
