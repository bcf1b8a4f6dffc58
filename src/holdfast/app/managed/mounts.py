"""What a managed session stands on: which directories, and what may be done with each.

They are real ones under their real paths (design/0027). Vaults are everybody's: their contents are
kept from every session, managed or not. What tools make of mounts is not known here.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from holdfast.app.agent_places import substrate_of
from holdfast.app.agent_settings import DEFAULT_AGENT, agent_of
from holdfast.app.judging import JudgeParts, Mounted
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Surroundings, VaultSettings
from holdfast.app.vault_places import vault_path
from holdfast.contract.mounts import Mount as Mount
from holdfast.policy import source_grants

_OWNER_ALONE = 0o700
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_INSTEAD = {
    "agent_substrate": "Copy the file with resources_stage_from_substrate, change the copy, and"
    " share it with resources_promote_to_substrate.",
    "runtime_memory": "Notes are written with memory_write.",
}


def mounts_of(parts: JudgeParts, *, is_managed: bool) -> tuple[Mount, ...]:
    """Every mount of the session; ConfigurationError. One that is not managed has vaults alone."""
    vaults = [_vault(name, one, parts) for name, one in parts.settings.vault.items()]
    if not is_managed:
        return tuple(vaults)
    return (*_workplaces(parts), *_of_the_agent(parts), *vaults)


def mounted(parts: JudgeParts, mounts: tuple[Mount, ...]) -> JudgeParts:
    """The same with what the mounts come to: what is reached, granted, and kept from everybody."""
    vaults = [one.mount_path for one in mounts if one.kind == "vault"]
    ours = [one for one in mounts if one.kind != "vault"]
    shared = {
        one.mount_path: _INSTEAD.get(one.kind, "") for one in ours if one.access == "read_only"
    }
    grants = [
        source_grants.Mount(one.mount_path, writable=one.access == "read_write") for one in ours
    ]
    granted = (
        source_grants.vaults(vaults),
        *((source_grants.managed_mounts(grants),) if ours else ()),
    )
    return msgspec.structs.replace(
        parts,
        granted=(*parts.granted, *granted),
        # Where one lies inside of what processes write, the kernel keeps it from them.
        kept=(*parts.kept, *shared),
        mounted=Mounted(readable=tuple(shared), read_only=shared, vaults=tuple(vaults)),
    )


def make_folders(mounts: Iterable[Mount], surroundings: Surroundings) -> None:
    """Make those that holdfast keeps, for their owner alone; OSError."""
    home = _real(surroundings.data_home)
    for one in mounts:
        path = Path(one.mount_path)
        if one.kind != "vault" and path.is_relative_to(home) and not path.is_dir():
            for folder in reversed((path, *path.parents)):
                if folder.is_relative_to(home):
                    folder.mkdir(mode=_OWNER_ALONE, parents=True, exist_ok=True)


def _workplaces(parts: JudgeParts) -> Iterator[Mount]:
    if parts.workspace is None:
        return
    yield Mount(
        kind="session_workspace",
        mount_path=str(_real(parts.workspace)),
        access="read_write",
        scope="session",
        prompt="Where this session works: read, write and run here.",
    )
    for root in () if parts.agent is None else parts.agent.roots:
        yield Mount(
            kind="repo_mount",
            mount_path=root,
            access="read_write",
            scope="agent",
            prompt="A further directory that the agent works in.",
        )


def _of_the_agent(parts: JudgeParts) -> Iterator[Mount]:
    data = _real(parts.surroundings.data_home)
    agent = DEFAULT_AGENT if parts.agent is None else parts.agent.id
    kept = data / "agents" / agent
    yield Mount(
        kind="agent_substrate",
        mount_path=_substrate(parts) or str(kept / "substrate"),
        access="read_only",
        scope="agent",
        prompt="Files that all sessions of the agent share: stage a copy, change it, promote it.",
    )
    yield Mount(
        kind="learnings",
        mount_path=str(kept / "learnings"),
        access="read_only",
        scope="agent",
        prompt="What sessions of the agent learnt.",
    )
    yield Mount(
        kind="runtime_memory",
        mount_path=str(data / "sessions" / parts.session_id / "memory"),
        access="read_only",
        scope="session",
        prompt="What is remembered of this session.",
    )


def _substrate(parts: JudgeParts) -> str | None:
    """As the agent says, or the table of the agent whose a session without one is."""
    if parts.agent is not None:
        return parts.agent.substrate
    table = parts.settings.agent.get(DEFAULT_AGENT)
    if table is None:
        return None
    return substrate_of(agent_of(DEFAULT_AGENT, table), parts.surroundings, parts.workspace)


def _vault(name: str, table: VaultSettings, parts: JudgeParts) -> Mount:
    if not _SLUG.fullmatch(name):
        raise ConfigurationError(
            f"vault.{name}: it cannot be called that; use letters, digits, - and _, at most 64"
        )
    real = _real(vault_path(name, table, parts.surroundings.environment))
    if parts.workspace is not None and _real(parts.workspace).is_relative_to(real):
        raise ConfigurationError(
            f"vault.{name}.path: {real} is or contains the workspace; name another directory"
        )
    return Mount(
        kind="vault",
        mount_path=str(real),
        access="read_only",
        scope="host",
        prompt=table.prompt
        or "Secrets of the people here: it is known that they are there, and no call reads them.",
        vault_name=name,
    )


def _real(path: Path) -> Path:
    """Without links, as far as it is there."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as problem:
        raise ConfigurationError(f"{path}: {problem}; name another directory") from None
