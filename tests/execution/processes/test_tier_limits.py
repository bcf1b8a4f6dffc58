"""What single processes are limited to, and what a narrower policy is told; pure of the machine."""

import os
from pathlib import Path
from typing import cast

import msgspec
import pytest
from execution.processes.ground import TIERS, policy_of

from holdfast.contract.sandbox import SandboxLimits
from holdfast.execution.processes import tiers
from holdfast.execution.processes.confinement import Scratch

SCRATCH = Scratch("/s/root", "/s/tmp", "/s/home")


def test_a_narrower_policy_names_less_and_puts_no_filter_on_twice(tmp_path: Path) -> None:
    own = policy_of(tmp_path)
    less = msgspec.structs.replace(own, writable=())
    message = tiers.narrower(TIERS["landlock"], own, less, SCRATCH)
    assert message is not None
    assert message["families"] is None
    named = {path for path, _ in cast("list[tuple[str, int]]", message["paths"])}
    assert {str(tmp_path), "/usr", "/dev", "/s/tmp"} <= named
    assert tiers.narrower(TIERS["unconfined"], own, less, SCRATCH) is None


def test_an_ordinary_users_processes_are_limited_beside_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    limits = tiers._limits(SandboxLimits(processes=10), frozenset())  # pyright: ignore[reportPrivateUsage] - what is asked of the kernel
    assert limits["RLIMIT_NPROC"] > 10
