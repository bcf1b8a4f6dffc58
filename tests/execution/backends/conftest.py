"""A directory, and a local sandbox that works in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from execution.backends.local_sandboxes import opened

from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalSettings


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "place"


@pytest.fixture
def sandbox(place: Path) -> Iterator[BackendSandbox]:
    with opened(LocalSettings(), place) as handle:
        yield handle
