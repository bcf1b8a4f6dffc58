"""The workbench and policy in a browser: forms from schemas, what would happen, and what did."""

from pathlib import Path

import pytest
from console_browser import at_the_console
from playwright.sync_api import Browser, expect
from served_agents import served

pytestmark = [pytest.mark.timeout(60), pytest.mark.system("chromium")]

POLICY = """
[[rule]]
permission = "shell.run"
pattern = "git push{, *}"
action = "deny"
reason = "Publishing is for people."

[[rule]]
permission = "fs.write"
pattern = "*"
action = "ask"
"""
PACKING = '''
from typing import Literal

from holdfast import tool

@tool
def pack(
    size: Literal["small", "large"], things: list[str], weight: float = 1.5, gift: bool = False
) -> dict[str, object]:
    """Pack things."""
    return {"size": size, "things": things, "weight": weight, "gift": gift}
'''


def test_a_tool_is_called_by_a_form_made_from_its_schema(browser: Browser, tmp_path: Path) -> None:
    with (
        served(tmp_path, {}, tools=PACKING) as home,
        at_the_console(browser, home, "/console/tools?tool=pack") as page,
    ):
        expect(page.locator(".bench-why")).to_contain_text("Fill in what is required")
        page.get_by_role("button", name="Call", exact=True).click()
        expect(page.locator("[data-member=size] .caution")).to_have_text("Choose one.")
        page.get_by_label("size", exact=True).select_option("large")
        page.get_by_role("button", name="Add one").click()
        page.locator("[data-member=things] textarea").fill('a "book"\n<b>')
        page.locator("[data-member=weight] button").click()
        page.get_by_label("weight", exact=True).fill("2.50")
        page.locator("[data-member=gift] button").click()
        page.get_by_label("gift", exact=True).check()
        expect(page.locator(".bench-why")).to_contain_text("It runs")
        page.get_by_role("button", name="JSON", exact=True).click()
        expect(page.get_by_label("Arguments as JSON")).to_have_value(
            '{\n  "size": "large",\n  "things": [\n    "a \\"book\\"\\n<b>"\n  ],\n'
            '  "weight": 2.50,\n  "gift": true\n}'
        )
        page.get_by_role("button", name="Form", exact=True).click()
        expect(page.get_by_label("weight", exact=True)).to_have_value("2.50")
        page.get_by_role("button", name="Call", exact=True).click()
        answer = page.locator(".envelope")
        expect(answer).to_contain_text("ok")
        expect(answer).to_contain_text('"gift": true')
        expect(answer).to_contain_text('"a \\"book\\"\\n<b>"')


def test_what_is_sent_crooked_is_repaired_and_the_repair_is_told(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        served(tmp_path, {}, tools=PACKING) as home,
        at_the_console(browser, home, "/console/tools?tool=pack") as page,
    ):
        page.get_by_role("button", name="JSON", exact=True).click()
        page.get_by_label("Arguments as JSON").fill(
            '{"size": "small", "things": ["x"], "gift": "true"}'
        )
        page.keyboard.press("Control+Enter")
        expect(page.locator(".envelope .measured")).to_contain_text("1 repair")
        page.get_by_label("Arguments as JSON").fill("{")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".envelope.failed").first).to_contain_text("invalid_args")


def test_a_call_that_is_asked_about_is_answered_beside_it(browser: Browser, tmp_path: Path) -> None:
    with (
        served(tmp_path, {}, policy=POLICY) as home,
        at_the_console(browser, home, "/console/tools") as page,
    ):
        page.get_by_label("Find a tool").fill("write file")
        page.get_by_role("link", name="write").first.click()
        page.get_by_label("path", exact=True).fill("made.txt")
        page.get_by_label("content", exact=True).fill("by hand")
        expect(page.locator(".bench-why")).to_contain_text("A person is asked")
        page.get_by_role("button", name="Call", exact=True).click()
        expect(page.get_by_text("It waits for your leave.")).to_be_visible()
        page.get_by_role("button", name="Allow once").click()
        expect(page.locator(".envelope.well")).to_be_visible()
        assert (home.workspace / "made.txt").read_text("utf-8") == "by hand"


def test_what_a_called_tool_asks_is_answered_beside_the_call(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        served(tmp_path, {}) as home,
        at_the_console(browser, home, "/console/tools?tool=question") as page,
    ):
        page.get_by_label("question", exact=True).fill("Which one?")
        page.get_by_role("button", name="Call", exact=True).click()
        expect(page.get_by_text("It asks you something.")).to_be_visible()
        page.get_by_label("Which one?").fill("This one.")
        page.get_by_role("button", name="Send answer").click()
        expect(page.locator(".envelope.well")).to_contain_text('"This one."')


def test_every_tool_can_be_chosen_and_has_a_form(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, {}) as home, at_the_console(browser, home, "/console/tools") as page:
        names = [one["name"] for one in home.get("/tools")["tools"]]
        expect(page.locator(".bench-row")).to_have_count(len(names))
        for name in names:
            page.locator(f'.bench-row[href$="tool={name}"]').click()
            expect(page.locator(".bench-head code")).to_have_text(name)
            expect(page.locator(".schema-form > *").first).to_be_visible()


def test_why_a_call_would_be_refused_is_explained_part_by_part(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        served(tmp_path, {}, policy=POLICY) as home,
        at_the_console(browser, home, "/console/policy") as page,
    ):
        page.get_by_label("command", exact=True).fill("git status; git push")
        told = page.locator(".explanation")
        expect(told).to_contain_text("It is refused by the rules")
        expect(told).to_contain_text("Publishing is for people.")
        uses = told.locator(".explained-use")
        expect(uses.nth(0)).to_contain_text("allow")
        expect(uses.nth(1)).to_contain_text("git push{, *}")
        page.get_by_role("tab", name="Explain a call").press("ArrowRight")
        rows = page.locator("tbody tr")
        expect(rows.filter(has_text="git push{, *}")).to_contain_text("Publishing is for people.")
        page.get_by_label("Find a rule").fill("fs.write")
        expect(page.get_by_role("status").filter(has_text="of")).to_contain_text("1 of")


def test_an_answer_for_the_project_stands_among_the_grants_until_it_is_revoked(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    with (
        served(tmp_path, {}, policy=POLICY) as home,
        at_the_console(browser, home, "/console/tools?tool=write") as page,
    ):
        page.get_by_label("path", exact=True).fill("kept.txt")
        page.get_by_label("content", exact=True).fill("x")
        page.get_by_role("button", name="Call", exact=True).click()
        page.get_by_role("button", name="Allow for this project").click()
        expect(page.locator(".envelope.well")).to_be_visible()
        page.goto(f"{home.address}/console/policy?show=grants")
        row = page.locator("tbody tr")
        expect(row).to_contain_text("kept.txt")
        row.get_by_role("button", name="Revoke").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(page.get_by_text("Nothing is remembered.")).to_be_visible()
        assert home.get("/policy/grants")["grants"] == []
