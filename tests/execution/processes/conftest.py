"""Wardens of tests that are marked as measured are measured, too, when coverage runs."""

import pytest
from execution.processes import measured

from holdfast.execution.processes import wardens


@pytest.fixture(autouse=True)
def measured_wardens(monkeypatch: pytest.MonkeyPatch) -> None:
    if measured.runs():
        monkeypatch.setattr(wardens, "BOOT", measured.boot(wardens.BOOT))
