"""A sandbox that nobody was asked about never becomes a weaker one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from execution.processes.ground import policy_of

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes import sandbox as sandboxes
from holdfast.execution.processes.sandbox import Sandbox, SandboxParts
from holdfast.execution.processes.scratch import make_scratch
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.processes.tiers import STRONGEST_FIRST, Tier
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.spool import Spool


def no_spool(_name: str) -> Spool:
    return Spool(lambda: None, 0)


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    root = tmp_path.resolve()
    (root / "workspace").mkdir()
    policy: SandboxPolicy = policy_of(root / "workspace")
    scratch = make_scratch(root / "scratch", None)
    return Sandbox(SandboxParts(policy, scratch, str(root / "workspace"), {}, no_spool))


async def test_only_what_protects_is_tried_once_nobody_was_asked(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    async def none(_parts: SandboxParts, tiers: Sequence[Tier]) -> tuple[Tier, Warden]:
        tried.extend(tier.name for tier in tiers)
        raise SandboxUnavailable("not now")

    monkeypatch.setattr(sandboxes, "open_strongest", none)
    with pytest.raises(SandboxUnavailable):
        await sandbox.warden()
    assert tried == [tier.name for tier in STRONGEST_FIRST]
    tried.clear()
    sandbox.accept_no_weaker()
    with pytest.raises(SandboxUnavailable):
        await sandbox.warden()
    assert tried == [tier.name for tier in STRONGEST_FIRST if tier.separate]


async def test_a_sandbox_is_opened_again_in_the_same_confinement(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await sandbox.warden()
    kind = sandbox.confinement
    offered: list[list[str]] = []
    open_strongest = sandboxes.open_strongest

    async def noted(parts: SandboxParts, tiers: Sequence[Tier]) -> tuple[Tier, Warden]:
        offered.append([tier.name for tier in tiers])
        return await open_strongest(parts, tiers)

    monkeypatch.setattr(sandboxes, "open_strongest", noted)
    first.abandon()
    assert await sandbox.warden() is not first
    assert offered == [[kind]]
    await sandbox.close()
    assert sandbox.confinement == kind
