"""What stands behind the tools of `tools/managed/setup`, put together for one session."""

from collections.abc import Callable
from typing import Literal

from holdfast.app.managed.basis import Basis, ManagedParts, skill_list
from holdfast.contract.managed.setup import RunFacts, SandboxFacts, Setups
from holdfast.contract.runtime import Ports
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.runtime.managed.setup_book import SetupBook
from holdfast.runtime.managed.setup_contract import Known

_STRONGEST = "strongest"


def setup_of(basis: Basis, run: Callable[[], RunFacts | None]) -> SetupBook:
    """Who knows what the agent's sessions are set up as."""
    ground, parts = basis.ground, basis.parts

    def known() -> Known:
        return Known(
            agent_id=ground.agent_id,
            run=run(),
            tools=tuple(ground.tools()),
            skills=skill_list(parts),
            mounts=ground.mounts,
            sandbox=_sandbox(parts),
        )

    return SetupBook(ground, known)


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    return {Setups: lambda _call: basis.setup}


def _sandbox(parts: ManagedParts) -> SandboxFacts:
    """What is really enforced, as the kernel is told it."""
    confinement = parts.settings.sandbox.confinement
    if confinement == "unconfined":
        return SandboxFacts(
            mode=confinement,
            workspace_access="read_write",
            network_access="open",
            package_policy="unconfined",
        )
    policy = parts.policy()
    return SandboxFacts(
        mode=confinement or _STRONGEST,
        workspace_access=_access(parts, policy),
        network_access=policy.network,
        package_policy="none" if policy.network == "none" else "allowed_hosts",
    )


def _access(
    parts: ManagedParts, policy: SandboxPolicy
) -> Literal["read_write", "read_only", "none"]:
    roots = [one.mount_path for one in parts.mounts if one.kind == "session_workspace"]
    if any(root in policy.writable for root in roots):
        return "read_write"
    return "read_only" if any(root in policy.readable for root in roots) else "none"
