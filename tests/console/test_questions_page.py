"""Questions of agents as forms in a browser, and calls that the application fulfils."""

from pathlib import Path

import pytest
from agent_scripts import asks, says
from console_browser import at_the_console
from playwright.sync_api import Browser, expect
from served_agents import served

pytestmark = [pytest.mark.timeout(60), pytest.mark.system("chromium")]

QUESTIONS = [
    {"question": "Which store?", "options": [{"label": "SQLite"}, {"label": "PostgreSQL"}]},
    {
        "question": "Where?",
        "multi_select": True,
        "options": [{"label": "here", "description": "On this machine."}, {"label": "there"}],
    },
    {"question": "What is it called?"},
]
ASKS = (asks("question", questions=QUESTIONS), says("Thank you."))
ORDERING = '''
from holdfast import tool

@tool(ownership="custom")
def order(item: str, pieces: int = 1) -> str:
    """Order something."""
    return item
'''


def test_questions_are_answered_by_choosing_and_in_own_words(
    browser: Browser, tmp_path: Path
) -> None:
    with served(tmp_path, {"ada": ASKS}) as home:
        session = home.begin("ada", "Set it up.")
        with at_the_console(browser, home, "/console/questions") as page:
            expect(page.get_by_role("link", name="Set it up.")).to_be_visible()
            page.get_by_role("button", name="Send answers").click()
            expect(page.get_by_role("alert").first).to_contain_text("Choose one")
            page.get_by_label("PostgreSQL").check()
            page.get_by_label("here On this machine.").check()
            page.get_by_label("there").check()
            page.get_by_placeholder("In your own words").nth(1).fill("anywhere")
            page.get_by_label("What is it called?").fill("Holdfast")
            page.get_by_role("button", name="Send answers").click()
            expect(page.get_by_text("Answered", exact=True)).to_be_visible()
            expect(page.get_by_text("Nobody asks anything.")).to_be_visible()
        home.rests(session)
        (answered,) = home.get(f"/sessions/{session}/events?type=inquiry.answered")["events"]
    assert answered["answers"] == [["PostgreSQL"], ["here", "there", "anywhere"], ["Holdfast"]]


def test_own_words_take_the_place_of_an_option(browser: Browser, tmp_path: Path) -> None:
    turns = (asks("question", questions=QUESTIONS[:1]), says("Thank you."))
    with served(tmp_path, {"ada": turns}) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, "/console/questions") as page:
            page.get_by_label("SQLite").check()
            page.get_by_placeholder("In your own words").fill("DuckDB")
            expect(page.get_by_label("SQLite")).not_to_be_checked()
            page.get_by_role("button", name="Send answer").click()
            expect(page.get_by_text("Answered", exact=True)).to_be_visible()
        home.rests(session)
        (answered,) = home.get(f"/sessions/{session}/events?type=inquiry.answered")["events"]
    assert answered["answers"] == [["DuckDB"]]


def test_who_would_not_answer_skips_the_questions(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path, {"ada": ASKS}) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, "/console/questions") as page:
            page.get_by_role("button", name="Skip").click()
            expect(page.get_by_text("Skipped", exact=True)).to_be_visible()
        home.rests(session)
        (answered,) = home.get(f"/sessions/{session}/events?type=inquiry.answered")["events"]
    assert answered["skipped"] is True


def test_questions_are_answered_where_they_stand_in_their_session(
    browser: Browser, tmp_path: Path
) -> None:
    with served(tmp_path, {"ada": ASKS}) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, f"/console/sessions/{session}") as page:
            form = page.locator(".card form.inquiry")
            form.get_by_label("PostgreSQL").check()
            form.get_by_label("What is it called?").fill("Hold")
            page.keyboard.press("Escape")
            home.post(f"/sessions/{session}/messages", {"message": "Take your time."})
            expect(page.locator(".said", has_text="Take your time.")).to_be_visible()
            expect(form.get_by_label("What is it called?")).to_have_value("Hold")
            expect(form.get_by_label("What is it called?")).to_be_focused()
            page.keyboard.type("fast")
            form.get_by_role("button", name="Send answers").click()
            expect(page.locator(".agent", has_text="Thank you.")).to_be_visible()
        (answered,) = home.get(f"/sessions/{session}/events?type=inquiry.answered")["events"]
    assert answered["answers"] == [["PostgreSQL"], [], ["Holdfast"]]


def test_what_an_application_is_asked_for_is_given_by_hand(
    browser: Browser, tmp_path: Path
) -> None:
    turns = (asks("order", item="paper", pieces=3), says("Ordered."))
    with served(tmp_path, {"ada": turns}, tools=ORDERING) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, "/console/questions") as page:
            request = page.locator("[data-request]")
            expect(request.locator(".members")).to_contain_text("paper")
            request.get_by_label("Its output").fill("order 17")
            request.get_by_role("button", name="Give the output").click()
            expect(request.get_by_text("Given", exact=True)).to_be_visible()
            expect(page.get_by_text("Nobody asks anything.")).to_be_visible()
        home.rests(session)
        (settled,) = home.get(f"/sessions/{session}/events?type=call.settled")["events"]
    assert "order 17" in str(settled["envelope"])
