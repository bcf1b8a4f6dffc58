"""What the tests of stories share."""

from collections.abc import Generator

import pytest
from forked_workers import Workers, workers
from managed_story.rounds import WORKER


@pytest.fixture(scope="module")
def at_work() -> Generator[Workers]:
    with workers(WORKER) as started:
        yield started
