"""A person at one page of the console, in a browser of their own."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from served_agents import Served

PATIENCE_MS = 10_000
PHONE = {"width": 390, "height": 844}


@contextmanager
def at_the_console(browser: Browser, home: Served, path: str, **context: Any) -> Generator[Page]:
    """The page; that nothing was wrong with it is seen to when it is left."""
    troubles: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # That an answer was a refusal is for the page to tell.
        if message.type in {"error", "warning"} and "Failed to load" not in message.text:
            troubles.append(message.text)

    expect.set_options(timeout=PATIENCE_MS)
    place = browser.new_context(**context)
    try:
        page = place.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", heard)
        page.on("pageerror", lambda problem: troubles.append(str(problem)))
        page.goto(f"{home.address}/?token={home.token}")
        page.goto(home.address + path)
        yield page
        assert troubles == []
    finally:
        place.close()
