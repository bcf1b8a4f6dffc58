"""The page that asks for the token, before a real browser."""

from contextlib import closing
from pathlib import Path

import pytest
from console_at_work import serving
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.timeout(90), pytest.mark.system("chromium")]

TOKEN = "a-token-of-twenty-four-x"


def test_a_person_types_the_token_and_is_in(browser: Browser, tmp_path: Path) -> None:
    turns = '[[turn]]\ntext = "One."\n'
    with (
        serving(tmp_path, turns, token=TOKEN) as served,
        closing(browser.new_context()) as context,
    ):
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(served.address)
        assert page.locator("main").evaluate("one => getComputedStyle(one).maxWidth") == "480px"
        page.get_by_label("Token").fill("not-the-token-at-all")
        page.get_by_role("button", name="Open the console").click()
        expect(page.get_by_role("alert")).to_contain_text("That is not the token")
        page.get_by_label("Token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        assert page.url.startswith(f"{served.address}/")
        assert TOKEN not in page.url
