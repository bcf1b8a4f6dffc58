"""A browser for the tests of one file. It is given up before another file's event loops run."""

from collections.abc import Generator

import pytest
from console_at_work import opened
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        one = opened(playwright)
        yield one
        one.close()
