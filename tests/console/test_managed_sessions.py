"""A session of the managed profile in the browser: its outcome, its context, each call once."""

from pathlib import Path

import pytest
from console_at_work import serving, window
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.timeout(60), pytest.mark.system("chromium")]

OUTCOME = """
[[turn]]
[[turn.calls]]
name = "outcome_define"
arguments = { title = "The till adds up", success_criteria = ["pytest tests/till.py passes"] }

[[turn]]
[[turn.calls]]
name = "read"
arguments = { path = "report.txt" }

[[turn]]
text = "I made the till add up."
"""
GIVES_AWAY = """
[[turn]]
[[turn.calls]]
name = "session_delegate"
arguments = { message = "Weigh the flour.", title = "The flour is weighed" }

[[turn]]
text = "Somebody weighs it."

[[turn]]
text = "It is 3 kg."

[[turn]]
text = "So it is 3 kg."
"""


def test_how_far_it_came_and_how_full_its_context_is_stand_in_its_head(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        serving(tmp_path, OUTCOME, "--profile", "managed") as served,
        window(browser, served) as one,
    ):
        (served.workspace / "report.txt").write_text("$ pytest tests/till.py\n3 passed\n", "utf-8")
        session = served.begun("Make it add up.")
        page = one.show(session)
        gauges = page.locator(".session-gauges")
        expect(gauges).to_contain_text("The till adds up")
        expect(gauges.get_by_text("pass", exact=True)).to_be_visible()
        measured = served.ask("GET", f"/sessions/{session}/events?type=context.measured")["events"]
        budget = measured[-1]["budget"]
        share = round(100 * budget["estimated_total_runtime_tokens"] / budget["window_tokens"])
        meter = gauges.get_by_role("meter", name="Context pressure: low")
        expect(meter).to_have_attribute("aria-valuenow", str(share))
        expect(gauges).to_contain_text(f"low, {share}% of 128k tokens")
        expect(page.locator(".card-tool")).to_have_text(["outcome_define", "read"])


def test_who_works_for_whom_is_a_tree_that_leads_there_and_back(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        serving(tmp_path, GIVES_AWAY, "--profile", "managed") as served,
        window(browser, served) as one,
    ):
        page = one.show(served.begun("Weigh it, please."))
        expect(page.locator(".agent", has_text="Somebody weighs it.")).to_be_visible()
        page.get_by_role("button", name="Tree").click()
        tree = page.get_by_role("dialog", name="Sessions of this work")
        expect(tree.locator("li li a")).to_have_count(1)
        expect(tree.locator("a[aria-current=page]")).to_contain_text("Weigh it, please.")
        tree.locator("li li a").click()
        expect(page.locator(".said", has_text="Weigh the flour.")).to_be_visible()
        page.get_by_role("link", name="Session above").click()
        expect(page.get_by_role("heading", name="Weigh it, please.")).to_be_visible()
