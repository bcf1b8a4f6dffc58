"""A sandbox is opened once, in the strongest confinement there is, and says why there is none."""

import asyncio
import os
from pathlib import Path

import pytest
from execution.processes.session import session

from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.processes.spawners import SandboxUnavailable


async def test_whoever_asks_first_the_same_one_is_had(tmp_path: Path) -> None:
    async with session(tmp_path, None) as here:
        first, second = await asyncio.gather(here.sandbox.warden(), here.sandbox.warden())
        assert first is second
        assert here.sandbox.confinement != "unconfined", "which is never chosen"
        if os.geteuid() == 0:
            assert here.sandbox.confinement == "namespaces"


async def test_all_reasons_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> str:
        return "not here"

    async with session(tmp_path, None) as here:
        monkeypatch.setattr("holdfast.execution.processes.tiers._missing", missing)
        told = "namespaces: not here; bubblewrap: not here; landlock: not here"
        with pytest.raises(SandboxUnavailable, match=told):
            await Sandbox(here.sandbox.parts).warden()
