"""What single processes are limited to; pure of the machine."""

import os
from pathlib import Path

import pytest

from holdfast.contract.sandbox import SandboxLimits
from holdfast.execution.processes import tiers
from holdfast.execution.processes.confinement import Scratch

SCRATCH = Scratch("/s/root", "/s/tmp", "/s/home")


def test_an_ordinary_users_processes_are_limited_beside_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    limits = tiers._limits(SandboxLimits(processes=10), frozenset())  # pyright: ignore[reportPrivateUsage] - what is asked of the kernel
    assert limits["RLIMIT_NPROC"] > 10
