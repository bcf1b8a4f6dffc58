"""Whom the pages where people decide and look are for: everybody. Checked with axe."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, Literal

import pytest
from agent_scripts import asks, says
from console_browser import PHONE, at_the_console
from playwright.sync_api import Browser, Page, expect
from served_agents import Served, served

pytestmark = [pytest.mark.timeout(60), pytest.mark.system("chromium")]

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
POLICY = """
[[rule]]
permission = "fs.write"
pattern = "*"
action = "ask"
"""
AGENTS = {
    "ada": (asks("write", path="a\u202e.txt", content="one\ntwo\n"), says("Done.")),
    "bea": (
        asks(
            "question",
            questions=[
                {"question": "Which?", "options": [{"label": "This", "description": "Or not."}]}
            ],
        ),
        says("Thank you."),
    ),
    "cleo": (asks("bash", command="echo heard; exit 3"), says("It was heard.")),
}
PAGES = {
    "/console/approvals": "article.approval",
    "/console/questions": "article.inquiry-card",
    "/console/tools?tool=question": ".explainer p",
    "/console/tools?tool=read": ".explainer p",
    "/console/policy": ".explainer p",
    "/console/policy?show=rules": "tbody tr",
    "/console/policy?show=grants": ".nothing",
    "/console/audit": "tbody tr",
    "/console/search?q=heard": ".found-event",
    "/console/memory?agent=ada": ".nothing",
    "/console/sessions/CLEO": ".card .terminal",
    "/console/sessions/ADA": ".card .approval",
    "/console/sessions/BEA": ".card form.inquiry",
    "/console/sessions/CLEO/replay": ".replay-stands .then",
    "/console/sessions/nowhere": ".nothing",
    "/console/nowhere": ".nothing",
}
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("reach"), AGENTS, policy=POLICY) as one:
        yield one


@pytest.fixture(scope="module")
def sessions(home: Served) -> dict[str, str]:
    """One that waits, one that asks, and one that is done."""
    begun = {name: home.begin(name) for name in AGENTS}
    home.rests(begun["cleo"])
    home.until("/approvals", lambda told: told["approvals"])
    home.until("/questions", lambda told: told["questions"])
    return begun


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
@pytest.mark.parametrize("path", PAGES)
def test_everybody_can_decide_and_look(
    browser: Browser, home: Served, sessions: dict[str, str], path: str, scheme: Scheme
) -> None:
    place = path
    for name, begun in sessions.items():
        place = place.replace(name.upper(), begun)
    with at_the_console(browser, home, place, color_scheme=scheme, reduced_motion="reduce") as page:
        expect(page.locator(PAGES[path]).first).to_be_visible()
        assert _violations(page) == []
        page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
        assert _violations(page) == []
        wide: int = page.evaluate("() => document.querySelector('main').scrollWidth")
        assert wide <= PHONE["width"], "a phone has to be scrolled sideways"


def test_what_is_left_to_say_when_refusing_is_reached_by_keys_alone(
    browser: Browser, home: Served, sessions: dict[str, str]
) -> None:
    place = f"/console/approvals?session={sessions['ada']}"
    with at_the_console(browser, home, place) as page:
        expect(page.locator("article.approval")).to_be_visible()
        page.keyboard.press("x")
        words = page.get_by_label("Words for the agent")
        expect(words).to_be_focused()
        assert _violations(page) == []
        page.keyboard.press("Escape")
        expect(words).to_be_hidden()
        expect(page.get_by_role("button", name="Reject …")).to_be_focused()
