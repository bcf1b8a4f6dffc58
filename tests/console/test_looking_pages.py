"""Replay, audit, search and memory in a browser, on the real server."""

import json
import sqlite3
from pathlib import Path

import pytest
from agent_scripts import asks, says
from console_browser import at_the_console
from playwright.sync_api import Browser, expect
from served_agents import served

pytestmark = [pytest.mark.timeout(60), pytest.mark.system("chromium")]

LOOKS = (
    asks("read", path="app.py"),
    asks("bash", command="echo heard; exit 3"),
    says("It adds numbers."),
)
DENIED = """
[[rule]]
permission = "fs.read"
pattern = "app.py"
action = "deny"
reason = "Nobody reads it any more."
"""
LEARNED = {
    "summary": "done",
    "learnings": [{"title": "Tests come first", "detail": "Because they say what is meant."}],
}


def work(folder: Path) -> None:
    (folder / "work").mkdir()
    (folder / "work" / "app.py").write_text("print(1 + 1)\n", "utf-8")


def test_a_recording_is_stepped_through_as_the_session_stood(
    browser: Browser, tmp_path: Path
) -> None:
    work(tmp_path)
    with served(tmp_path, {"ada": LOOKS}) as home:
        session = home.begin("ada", "What does it do?")
        last = home.rests(session)["events"]
        with at_the_console(browser, home, f"/console/sessions/{session}/replay") as page:
            stands = page.locator(".replay-stands")
            place = page.get_by_label("Place in the recording")
            expect(stands).to_contain_text("It adds numbers.")
            expect(place).to_have_attribute("aria-valuetext", f"event {last}, span.completed")
            (asked,) = [
                one
                for one in home.get(f"/sessions/{session}/events?type=call.asked")["events"]
                if one["tool"] == "read"
            ]
            place.fill(str(asked["sequence"]))
            expect(stands).to_contain_text("app.py")
            expect(stands).not_to_contain_text("heard")
            expect(page.locator(".replay-event")).to_contain_text("call.asked")
            page.locator("h1").click()
            page.keyboard.press("ArrowLeft")
            expect(place).to_have_value(str(asked["sequence"] - 1))
            page.get_by_role("button", name="To the beginning").click()
            expect(stands).to_contain_text("Nothing is told yet.")
            page.get_by_label("Speed").select_option("20")
            page.get_by_role("button", name="Play").click()
            expect(stands).to_contain_text("It adds numbers.")
            expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_replay_names_the_first_event_that_would_be_another_one(
    browser: Browser, tmp_path: Path
) -> None:
    work(tmp_path)
    with served(tmp_path, {"ada": LOOKS}) as home:
        session = home.begin("ada")
        home.rests(session)
        with at_the_console(browser, home, f"/console/sessions/{session}/replay") as page:
            page.get_by_role("button", name="Run it again").click()
            expect(page.locator("[data-same=true]")).to_contain_text("byte for byte")
            page.get_by_role("button", name="Settle its calls again").click()
            expect(page.locator("[data-same=true]")).to_contain_text("2 calls compared")
    with served(tmp_path, {"ada": LOOKS}, policy=DENIED) as home:
        (intended, _) = home.get(f"/sessions/{session}/events?type=call.intended")["events"]
        with at_the_console(browser, home, f"/console/sessions/{session}/replay") as page:
            page.get_by_role("button", name="Settle its calls again").click()
            parted = page.locator("[data-same=false]")
            number = intended["sequence"]
            expect(parted).to_contain_text(f"Event {number} would be another one")
            expect(parted.locator(".first-place")).to_have_text("$.type")
            expect(parted.locator(".change-row .left")).to_have_text("call.intended")
            expect(parted.locator(".change-row .right")).to_have_text("call.refused")
            expect(parted).to_contain_text("Nobody reads it any more.")
            parted.get_by_role("button", name=f"Go to event {number}").click()
            expect(page.locator(".replay-event")).to_contain_text(f"event {number},")


def test_programs_are_found_in_the_log_and_the_journal_is_verified(
    browser: Browser, tmp_path: Path
) -> None:
    work(tmp_path)
    with served(tmp_path, {"ada": LOOKS}) as home:
        session = home.begin("ada", "Look at it.")
        home.rests(session)
        with at_the_console(browser, home, "/console/audit") as page:
            row = page.locator("table.programs tbody tr")
            expect(row).to_contain_text("bash -o pipefail -c")
            expect(row.get_by_role("link", name="Look at it.")).to_be_visible()
            page.get_by_label("How it ended").select_option("well")
            expect(row).to_have_count(0)
            page.get_by_label("How it ended").select_option("failed")
            expect(row).to_contain_text("3")
            page.get_by_role("button", name="Verify").click()
            expect(page.locator("[data-whole=true]")).to_contain_text("All as written")
            _forge(home.home, home.get(f"/sessions/{session}/events")["events"][1]["id"])
            page.get_by_role("button", name="Verify").click()
            bad = page.locator("[data-whole=false]")
            expect(bad).to_contain_text("1 place not as written")
            link = bad.get_by_role("link")
            expect(link).to_contain_text("event 2")
            assert link.get_attribute("href") == f"/console/sessions/{session}?event=2"


def _forge(home: Path, event: str) -> None:
    connection = sqlite3.connect(home / "data" / "holdfast.db")
    with connection:
        connection.execute("UPDATE events SET micros = micros + 7 WHERE id = ?", (event,))
    connection.close()


def test_words_are_found_and_lead_to_the_event(browser: Browser, tmp_path: Path) -> None:
    work(tmp_path)
    with served(tmp_path, {"ada": LOOKS}) as home:
        session = home.begin("ada", "What about the elephants?")
        home.rests(session)
        with at_the_console(browser, home, "/console/search") as page:
            page.get_by_label("Words to search for").fill("elephants")
            found = page.locator(".found-event").first
            expect(found.locator("mark")).to_have_text("elephants")
            found.click()
            page.wait_for_url(f"**/console/sessions/{session}?event=2")
            page.go_back()
            expect(page.get_by_label("Words to search for")).to_have_value("elephants")


def test_what_an_agent_knows_is_shown(browser: Browser, tmp_path: Path) -> None:
    said = f"Done.\n<holdfast-session-loop>\n{json.dumps(LEARNED)}\n</holdfast-session-loop>"
    with served(tmp_path, {"ada": (says(said),)}, of_agents="directives = true") as home:
        session = home.begin("ada", "Learn.")
        home.rests(session)
        notes = home.home / "data" / "agents" / "ada" / "substrate" / "MEMORY.md"
        notes.parent.mkdir(parents=True, exist_ok=True)
        notes.write_text("# What we know\n<b>be kind</b>\n", "utf-8")
        with at_the_console(browser, home, "/console/memory?agent=ada") as page:
            expect(page.locator(".panel pre")).to_contain_text("<b>be kind</b>")
            learning = page.locator(".learning")
            expect(learning).to_contain_text("Tests come first")
            expect(learning.get_by_role("link")).to_have_text("Learn.")
