"""Who the console is for: everybody. Checked with axe, in light and dark, and on a phone."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, Literal

import pytest
from console_at_work import Served, serving, window
from playwright.sync_api import Browser, Page, expect

pytestmark = [pytest.mark.timeout(90), pytest.mark.system("chromium")]

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
TURNS = """
[[turn]]
reasoning = "First I look."
text = "I look.\\n\\n```py\\nx = 1  # one\\n```\\n\\n| a | b |\\n|---|---|\\n| 1 | [x](https://x.y)"
calls = [
  { name = "read", arguments = { path = "." } },
  { name = "bash", arguments = { command = "echo hello; ls nowhere" } },
  { name = "read", arguments = { path = "nowhere" } },
  { name = "write", arguments = { path = "a.py", content = "x = 1\\n" } },
  { name = "edit", arguments = { path = "a.py", old_string = "x = 1", new_string = "y = 1" } },
  { name = "question", arguments = { questions = [{ question = "Which one?" }] } },
]
"""
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with serving(tmp_path_factory.mktemp("reach"), TURNS) as one:
        yield one


@pytest.fixture(scope="module")
def session(served: Served) -> str:
    return served.begun("Look at it.")


def _violations(page: Page) -> list[str]:
    """What axe finds that is serious, and where."""
    assert AXE.is_file(), "axe is not installed; run: make suite"
    page.evaluate(AXE.read_text("utf-8"))
    found: dict[str, Any] = page.evaluate(
        "() => axe.run({preload: false, resultTypes: ['violations']})"
    )
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380])
def test_nobody_is_shut_out(
    browser: Browser, served: Served, session: str, *, scheme: Scheme, width: int
) -> None:
    with window(browser, served, width=width) as one:
        page = one.page
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        expect(page.get_by_role("link", name="Look at it.")).to_be_visible()
        assert _violations(page) == []
        one.show(session)
        expect(page.get_by_role("button", name="Send answer")).to_be_visible()
        assert _violations(page) == []
        page.keyboard.press("g")
        page.keyboard.press("g")
        expect(page.locator(".said-text")).to_be_in_viewport()
        page.get_by_role("button", name="Thought").click()
        assert _violations(page) == []
        page.goto(served.address)
        page.get_by_role("button", name="New session").first.click()
        expect(page.get_by_label("Message")).to_be_focused()
        assert _violations(page) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 380)])
def test_nobody_is_shut_out_of_the_other_pages(
    browser: Browser, served: Served, *, scheme: Scheme, width: int
) -> None:
    with window(browser, served, width=width) as one:
        page = one.page
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for place in ("approvals", "questions", "tools", "policy", "audit", "search", "memory"):
            page.goto(f"{served.address}/console/{place}")
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            expect(page.locator(".skeleton")).to_have_count(0)
            assert _violations(page) == [], place
            assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


def test_the_chosen_look_is_kept(browser: Browser, served: Served) -> None:
    with window(browser, served) as one:
        page = one.page
        page.emulate_media(color_scheme="light")
        ground = "() => getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.get_by_role("button", name="Light or dark").click()
        dark = page.evaluate(ground)
        assert dark != light
        page.reload()
        assert page.evaluate(ground) == dark


def test_every_step_of_the_keyboard_is_seen(browser: Browser, served: Served, session: str) -> None:
    with window(browser, served) as one:
        page = one.show(session)
        expect(page.get_by_role("button", name="Send answer")).to_be_visible()
        seen = 0
        for _ in range(25):
            page.keyboard.press("Tab")
            told = page.evaluate(
                "() => { const one = document.activeElement; const style = getComputedStyle(one);"
                " const around = getComputedStyle(one.parentElement);"
                " return [one.tagName, style.outlineStyle, around.boxShadow]; }"
            )
            if told[0] != "BODY":
                seen += 1
                assert told[1] != "none" or told[2] != "none", told
        assert seen > 15
