"""What a session is set up as: values that can be compared, and the port of the tools about it.

Two sessions of one agent with the same setup have the same fingerprint, whatever their ids and
their paths are: neither has a place here.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.json_value import JsonObject
from holdfast.contract.mounts import Access, MountKind, Scope
from holdfast.contract.steps import Step

SectionName = Literal[
    "provider",
    "model",
    "resilience",
    "system_prompt",
    "bootstrap_files",
    "tools",
    "skills",
    "environment",
    "resource_contract",
    "vaults",
    "permissions",
]
"""What can differ between two setups of an agent."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text that is told to the model, without the text."""

    name: str
    chars: int
    fingerprint: str


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """Several, in their order."""

    fingerprint: str
    texts: tuple[Text, ...]


class ToolFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A tool, as the catalogue has it."""

    name: str
    ownership: str
    permission_policy: str
    effects: tuple[str, ...]
    read_only: bool
    destructive: bool
    interrupt_behavior: str


class ToolCatalogue(msgspec.Struct, frozen=True, kw_only=True):
    """All that can be called, by name."""

    fingerprint: str
    count: int
    tools: tuple[ToolFacts, ...]


class SkillFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A skill, without where it lies."""

    name: str
    description: str


class SkillCatalogue(msgspec.Struct, frozen=True, kw_only=True):
    """All that can be loaded, by name."""

    fingerprint: str
    skills: tuple[SkillFacts, ...]


class SandboxFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What processes are held to."""

    mode: str
    """Which confinement: one by name, or `strongest`, which is whatever the machine gives."""
    workspace_access: Literal["read_write", "read_only", "none"]
    network_access: Literal["none", "hosts", "open"]
    package_policy: Literal["none", "allowed_hosts", "unconfined"]
    """From where packages can be installed."""


class MountDefault(msgspec.Struct, frozen=True, kw_only=True):
    """A mount as every session of the agent has one."""

    kind: MountKind
    access: Access
    scope: Scope


class EnvironmentSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session works."""

    fingerprint: str
    id: str
    name: str
    kind: Literal["local"]
    sandbox: SandboxFacts
    workspace_mount_defaults: tuple[MountDefault, ...]


class ResourceFacts(MountDefault, frozen=True, kw_only=True):
    """A mount, without where it lies."""

    prompt: str
    vault_name: str | None = None


class ResourceContract(msgspec.Struct, frozen=True, kw_only=True):
    """What is mounted."""

    fingerprint: str
    resources: tuple[ResourceFacts, ...]


class PermissionSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Which tools ask before they run."""

    fingerprint: str
    always_ask_tools: tuple[str, ...]
    always_allow_tools: tuple[str, ...]


class SetupContract(msgspec.Struct, frozen=True, kw_only=True):
    """All of it, in its sections."""

    agent_id: str
    provider: str | None
    """None: no agent has run here."""
    model: str | None
    resilience: JsonObject
    """How often it is tried again, and what a run may use."""
    system_prompt: Texts
    bootstrap_files: Texts
    tools: ToolCatalogue
    skills: SkillCatalogue
    environment: EnvironmentSetup
    resource_contract: ResourceContract
    vaults: ResourceContract
    permissions: PermissionSetup


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a setup where an agent runs."""

    provider: str
    model: str
    resilience: JsonObject
    sections: tuple[tuple[str, str], ...]
    """Of the system prompt: names and texts, without the session's own paths."""
    bootstrap: tuple[tuple[str, str], ...]
    """Files that are told with it."""


class MountedResource(msgspec.Struct, frozen=True, kw_only=True):
    """A mount of this session."""

    kind: MountKind
    mount_path: str
    access: Access
    scope: Scope
    prompt: str


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Where this session works."""

    id: str
    name: str
    kind: Literal["local"]
    fingerprint: str
    resource_contract_fingerprint: str
    agent_setup_fingerprint: str
    artifact_path: str | None
    agent_setup_artifact_path: str | None
    sandbox: SandboxFacts
    workspace_mount_defaults: tuple[MountDefault, ...]
    mounted_resources: tuple[MountedResource, ...]
    created_at: str | None = None
    updated_at: str | None = None


class AgentSetup(msgspec.Struct, frozen=True, kw_only=True):
    """A contract with its fingerprint."""

    fingerprint: str
    contract: SetupContract


class DescribedSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is set up as, as far as it is known."""

    session_id: str
    available: bool
    artifact_path: str | None
    artifact_markdown_path: str | None
    agent_setup: AgentSetup | None
    reason: str | None = None
    """Why it is not known."""


class SetupComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two sessions' setups."""

    current_session_id: str
    target_session_id: str
    same_setup: bool
    current_fingerprint: str
    target_fingerprint: str | None
    changed_sections: tuple[SectionName, ...]
    current_artifact_path: str | None
    target_artifact_path: str | None
    reason: str | None = None
    next_step: Step | None = None


class Vault(msgspec.Struct, frozen=True, kw_only=True):
    """It is known that it is there; nobody reads what is in it."""

    mount_path: str
    access: Access
    vault_name: str
    scope: Scope
    prompt: str


class Vaults(msgspec.Struct, frozen=True, kw_only=True):
    """All of them."""

    count: int
    vaults: tuple[Vault, ...]
    artifact_path: str | None


class Setups(CallPort, Protocol):
    """Whoever knows what sessions of the agent are set up as."""

    async def environment(self) -> Environment:
        """Where this session works."""
        ...

    async def described(self, session_id: str | None, /) -> DescribedSetup:
        """The setup of a session; without an id, of this one."""
        ...

    async def compared(self, session_id: str | None, /) -> SetupComparison:
        """This session's beside that of another one."""
        ...

    def vaults(self) -> Vaults:
        """What is mounted for people alone."""
        ...
