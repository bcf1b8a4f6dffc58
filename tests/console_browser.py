"""A person at the console: a real browser at a server that a test has started."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from console_at_work import Served
from playwright.sync_api import ConsoleMessage, Page, sync_playwright

PATIENCE_MS = 8_000
PHONE = {"width": 390, "height": 844}


@contextmanager
def at_the_console(home: Served, path: str, **context: Any) -> Generator[Page]:
    """A page of the console; that nothing was wrong with it is seen to at the end."""
    troubles: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # That an answer was a refusal is for the page to tell.
        if message.type in {"error", "warning"} and "Failed to load" not in message.text:
            troubles.append(message.text)

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"),
            chromium_sandbox=os.geteuid() != 0,
        )
        try:
            page = browser.new_context(**context).new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.on("console", heard)
            page.on("pageerror", lambda problem: troubles.append(str(problem)))
            page.goto(f"{home.address}/?token={home.token}")
            page.goto(home.address + path)
            yield page
            assert troubles == []
        finally:
            browser.close()
