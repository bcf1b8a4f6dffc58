"""What single processes are limited to; pure of the machine."""

import os

import pytest

from holdfast.contract.sandbox import SandboxLimits
from holdfast.execution.processes import tiers


def test_an_ordinary_users_processes_are_limited_beside_what_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    limits = tiers._limits(SandboxLimits(processes=10), frozenset())  # pyright: ignore[reportPrivateUsage] - what is asked of the kernel
    assert limits["RLIMIT_NPROC"][0] > 10


def test_who_uses_up_the_time_is_told_before_being_killed() -> None:
    limits = tiers._limits(SandboxLimits(cpu_seconds=0.5), frozenset())  # pyright: ignore[reportPrivateUsage] - what is asked of the kernel
    assert limits == {"RLIMIT_CPU": (1, 2)}
