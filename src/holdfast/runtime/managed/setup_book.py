"""What sessions of an agent are set up as: of this one as it is now, of others as they said.

It is written down when it changes, as an event; what is shown of it in the workspace is never read.
What a setup is made of is found out by whoever put the session together.
"""

from collections.abc import Callable

import msgspec

from holdfast.contract.errors import Unavailable
from holdfast.contract.journal import EventQuery, JournalError, Session
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.contract.managed.setup import (
    AgentSetup,
    DescribedSetup,
    Environment,
    MountedResource,
    SetupComparison,
    SetupContract,
    Vault,
    Vaults,
)
from holdfast.contract.managed_events import SetupDescribed
from holdfast.contract.steps import Step
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.setup_contract import (
    Known,
    changed_sections,
    contract_of,
    fingerprint,
)

_NEWEST = EventQuery(types=("setup.described",), limit=1)
_NOT_SAID = "No run of session {} has said what it is set up as yet."


class SetupNow(msgspec.Struct, frozen=True, kw_only=True):
    """What this session is set up as, and whether that is news."""

    setup: AgentSetup
    before: str | None
    """The fingerprint that was written down before; None: none was."""

    @property
    def has_changed(self) -> bool:
        """Whether it is another one than before."""
        return self.before is not None and self.before != self.setup.fingerprint


class SetupBook:
    """As one session sees it."""

    def __init__(self, ground: Ground, known: Callable[[], Known]) -> None:
        self._ground = ground
        self._known = known

    def now(self) -> AgentSetup:
        """What this session is set up as."""
        contract = contract_of(self._known())
        return AgentSetup(fingerprint=fingerprint(contract), contract=contract)

    async def describe_now(self) -> SetupNow:
        """Write it down where it has changed; JournalError."""
        setup = self.now()
        managed = (await self._ground.session()).state.managed
        before = None if managed is None else managed.setup_fingerprint
        if before != setup.fingerprint and self._ground.log is not None:
            contract = setup.contract
            said = SetupDescribed(
                fingerprint=setup.fingerprint,
                resource_contract_fingerprint=contract.resource_contract.fingerprint,
                environment_fingerprint=contract.environment.fingerprint,
                setup=msgspec.to_builtins(contract),
            )
            await self._ground.log.append([said], in_run=False)
        return SetupNow(setup=setup, before=before)

    async def environment(self) -> Environment:
        """Where this session works."""
        setup = self.now()
        contract = setup.contract
        begun = await self._begun()
        where = contract.environment
        return Environment(
            id=where.id,
            name=where.name,
            kind=where.kind,
            fingerprint=where.fingerprint,
            resource_contract_fingerprint=contract.resource_contract.fingerprint,
            agent_setup_fingerprint=setup.fingerprint,
            artifact_path=self._shown("environment", self._ground.session_id),
            agent_setup_artifact_path=self._shown("agent_setup", self._ground.session_id),
            sandbox=where.sandbox,
            workspace_mount_defaults=where.workspace_mount_defaults,
            mounted_resources=tuple(
                MountedResource(
                    kind=one.kind,
                    mount_path=one.mount_path,
                    access=one.access,
                    scope=one.scope,
                    prompt=one.prompt,
                )
                for one in self._ground.mounts
            ),
            created_at=None if begun is None else begun.created_at.isoformat(),
            updated_at=None if begun is None else begun.updated_at.isoformat(),
        )

    async def described(self, session_id: str | None, /) -> DescribedSetup:
        """The setup of a session; without an id, of this one."""
        wanted, setup = await self._of(session_id)
        return DescribedSetup(
            session_id=wanted,
            available=setup is not None,
            artifact_path=self._shown("agent_setup", wanted),
            artifact_markdown_path=self._shown("agent_setup", wanted, 1),
            agent_setup=setup,
            reason=None if setup is not None else _NOT_SAID.format(wanted),
        )

    async def compared(self, session_id: str | None, /) -> SetupComparison:
        """This session's beside that of another one."""
        wanted, other = await self._of(session_id)
        ours = self.now()
        same = other is not None and other.fingerprint == ours.fingerprint
        changed = () if other is None else changed_sections(ours.contract, other.contract)
        look = Step(
            tool="agent_describe_setup",
            args={"session_id": wanted},
            rationale="See what it is set up as.",
        )
        return SetupComparison(
            current_session_id=self._ground.session_id,
            target_session_id=wanted,
            same_setup=same,
            current_fingerprint=ours.fingerprint,
            target_fingerprint=None if other is None else other.fingerprint,
            changed_sections=changed,
            current_artifact_path=self._shown("agent_setup", self._ground.session_id),
            target_artifact_path=self._shown("agent_setup", wanted),
            reason=None if other is not None else _NOT_SAID.format(wanted),
            next_step=None if same or other is None else look,
        )

    def vaults(self) -> Vaults:
        """What is mounted for people alone."""
        found = tuple(
            Vault(
                mount_path=one.mount_path,
                access=one.access,
                vault_name=one.vault_name or "",
                scope=one.scope,
                prompt=one.prompt,
            )
            for one in self._ground.mounts
            if one.kind == "vault"
        )
        return Vaults(
            count=len(found),
            vaults=found,
            artifact_path=self._shown("vaults", self._ground.session_id),
        )

    async def _of(self, session_id: str | None) -> tuple[str, AgentSetup | None]:
        own = self._ground.session_id
        if session_id is None or session_id == own:
            return own, self.now()
        session = await self._ground.session(session_id)
        try:
            journal = (await self._ground.stores()).journal
            found = await journal.find(session.id, _NEWEST)
        except JournalError as problem:
            raise Unavailable(f"The session cannot be read: {problem}") from None
        said = found[-1].payload if found else None
        return session.id, _said(said) if isinstance(said, SetupDescribed) else None

    async def _begun(self) -> Session | None:
        return None if self._ground.log is None else await self._ground.session()

    def _shown(self, what: str, session_id: str, place: int = 0) -> str | None:
        """Where a session's hand is shown it; every session of a workspace has a folder there."""
        if self._ground.artifacts is None:
            return None
        return str(self._ground.artifacts.with_name(session_id) / ARTIFACTS[what][place])


def _said(said: SetupDescribed) -> AgentSetup | None:
    """What another session wrote; None where it is nothing that is known here."""
    try:
        contract = msgspec.convert(said.setup, SetupContract)
    except msgspec.ValidationError:
        return None
    return AgentSetup(fingerprint=said.fingerprint, contract=contract)
