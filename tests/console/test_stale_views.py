"""Pages that were looked at for long: servers go and come, tokens end, others are faster."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from console_at_work import Window, serving, window
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.timeout(90), pytest.mark.system("chromium")]

TURNS = """
[[turn]]
text = "The first answer."

[[turn]]
text = "The second answer."
"""
WAITS = """
[[turn]]
[[turn.calls]]
name = "bash"
arguments = { command = "echo hello > asked.txt" }

[[turn]]
text = "It is written."
"""
TOKEN = "a-token-that-stays-the-same-after-a-start"
ASKS = 'profile.all.rules=[{permission="bash", pattern="*", action="ask"}]'


def _lost(one: Window) -> None:
    """That the server was not there is what the browser may tell of, and nothing else."""
    told = [text for text in one.problems if "Failed to load resource" not in text]
    assert told == []
    one.problems.clear()


def _on(port: int) -> tuple[str, ...]:
    return ("--port", str(port))


def test_a_server_that_comes_back_is_found_by_every_page(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, TURNS, token=TOKEN) as served:
        session = served.begun("Begin.")
        one = Window(browser, served)
        page = one.show(session)
        expect(page.locator(".agent", has_text="The first answer.")).to_be_visible()
        port = urlsplit(served.address).port
        assert port is not None
    lost = page.locator(".session-head").get_by_text("Reconnecting")
    expect(lost).to_be_visible()
    expect(page.locator(".link-state")).to_have_text("Reconnecting")
    with serving(tmp_path, TURNS, *_on(port), token=TOKEN) as again:
        expect(page.locator(".link-state")).to_have_text("Connected", timeout=30_000)
        expect(lost).to_be_hidden(timeout=30_000)
        again.ask("POST", f"/sessions/{session}/messages", {"message": "Go on."})
        expect(page.locator(".said", has_text="Go on.")).to_be_visible()
        expect(page.locator(".agent")).to_have_count(2)
        _lost(one)
        one.close()


def test_who_is_not_let_in_any_more_is_told_so(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, TURNS) as served:
        session = served.begun("Begin.")
        one = Window(browser, served)
        page = one.show(session)
        expect(page.locator(".agent", has_text="The first answer.")).to_be_visible()
        port = urlsplit(served.address).port
        assert port is not None
    with serving(tmp_path, TURNS, *_on(port)) as other:
        assert other.token != served.token
        expect(page.locator(".link-state")).to_have_text("Not signed in", timeout=30_000)
        expect(page.locator(".session-head").get_by_text("Not live any more")).to_be_visible()
        expect(page.get_by_role("alert").first).to_contain_text("holdfast serve")
        page.goto(other.link)
        expect(page.locator(".link-state")).to_have_text("Connected")
        _lost(one)
        one.close()


def test_a_session_that_somebody_deletes_is_not_waited_for(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path, TURNS) as served:
        session = served.begun("Begin.")
        one = Window(browser, served)
        page = one.show(session)
        expect(page.locator(".session-status")).to_have_text("idle")
        served.ask("DELETE", f"/sessions/{session}")
        expect(page.get_by_text("This session was deleted.")).to_be_visible()
        page.reload()
        expect(page.get_by_text("There is no such session.")).to_be_visible()
        page.get_by_role("main").get_by_role("link", name="All sessions").click()
        expect(page.get_by_text("No sessions yet")).to_be_visible()
        _lost(one)
        one.close()


def test_a_hasty_person_sends_and_begins_once(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, TURNS) as served, window(browser, served) as one:
        page = one.page
        page.get_by_role("button", name="New session").first.click()
        page.get_by_label("Message").fill("Begin.")
        page.get_by_label("Message").evaluate(
            "one => { for (let n = 0; n < 3; n += 1) one.form.requestSubmit(); }"
        )
        page.wait_for_url("**/console/sessions/ses_*")
        expect(page.locator(".agent", has_text="The first answer.")).to_be_visible()
        assert len(served.ask("GET", "/sessions")["sessions"]) == 1
        session = page.url.rsplit("/", 1)[1]
        page.get_by_label("Say something to the agent").fill("Go on.")
        page.get_by_label("Say something to the agent").evaluate(
            "one => { const press = () => one.dispatchEvent(new KeyboardEvent('keydown',"
            " { key: 'Enter', bubbles: true, cancelable: true }));"
            " press(); one.value += ' And then'; press(); }"
        )
        expect(page.locator(".agent", has_text="The second answer.")).to_be_visible()
        said = served.ask("GET", f"/sessions/{session}/events?type=user.message")["events"]
        assert [event["message"] for event in said] == ["Begin.", "Go on."]
        expect(page.get_by_label("Say something to the agent")).to_have_value("And then")


def test_two_windows_answer_one_question_once(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, WAITS, "--set", ASKS) as served:
        session = served.begun("Write it.")
        with window(browser, served) as one, window(browser, served) as other:
            pages = [each.show(session) for each in (one, other)]
            for page in pages:
                expect(page.get_by_role("button", name="Allow once")).to_be_visible()
            pages[0].get_by_role("button", name="Allow once").evaluate(
                "one => { one.click(); one.click(); }"
            )
            for page in pages:
                expect(page.locator(".agent", has_text="It is written.")).to_be_visible()
                expect(page.get_by_role("button", name="Allow once")).to_have_count(0)
                expect(page.get_by_role("alert")).to_have_count(0)
        answered = served.ask("GET", f"/sessions/{session}/events?type=approval.answered")
        assert len(answered["events"]) == 1, json.dumps(answered)


def test_a_recording_is_one_link_away_from_its_session(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, TURNS) as served, window(browser, served) as one:
        page = one.show(served.begun("Begin."))
        page.get_by_role("link", name="Replay").click()
        expect(page.get_by_label("Place in the recording")).to_be_visible()
        expect(page.locator(".replay-stands")).to_contain_text("The first answer.")
