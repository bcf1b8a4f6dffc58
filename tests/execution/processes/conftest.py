"""Wardens are measured, too, when coverage runs."""

import pytest
from execution.processes import measured

from holdfast.execution.processes import wardens


@pytest.fixture(autouse=True)
def measured_wardens(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is killed leaves half a file behind.
    if measured.RUNS and "unmeasured" not in request.fixturenames:
        monkeypatch.setattr(wardens, "BOOT", measured.boot(wardens.BOOT))


@pytest.fixture
def unmeasured() -> None:
    """Asked for by tests that kill a warden."""
