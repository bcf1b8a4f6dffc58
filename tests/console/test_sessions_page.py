"""A session in the browser: begun there, seen at work, spoken with, stopped."""

from pathlib import Path

import pytest
from console_at_work import serving, window
from playwright.sync_api import Browser, expect

pytestmark = [pytest.mark.timeout(90), pytest.mark.system("chromium")]

WORK = """
[[turn]]
seconds = 1
reasoning = "I should look first."
text = "I run it, and look on."
[[turn.calls]]
name = "bash"
arguments = { command = "for n in 1 2 3 4 5 6 7 8 9; do echo line $n; sleep 0.4; done; sleep 60" }

[[turn]]
text = "That was **stopped**."
"""
JOBS = """
[[turn]]
[[turn.calls]]
name = "sandbox_exec"
arguments = { command = "seq 99; while true; do echo served; sleep 0.2; done", background = true }
[[turn.calls]]
name = "bash"
arguments = { command = "sleep 60" }

[[turn]]
text = "Both are over."
"""
ASKED = """
[[turn]]
[[turn.calls]]
name = "bash"
arguments = { command = "git push" }

[[turn]]
text = "It was not pushed."
"""


def test_a_session_is_begun_in_the_browser_and_seen_at_work(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path, WORK) as served, window(browser, served) as one:
        page = one.page
        page.get_by_role("button", name="New session").first.click()
        page.get_by_label("Message").fill("Run the tests, please.")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/console/sessions/ses_*")
        expect(page.get_by_text("The model is being asked")).to_be_visible()
        expect(page.get_by_text("I run it, and look on.")).to_be_visible()
        expect(page.get_by_role("button", name="Thought")).to_be_visible()
        expect(page.locator(".session-status")).to_have_text("works")


@pytest.mark.req("OSA-SHL-09")
def test_a_running_command_shows_what_it_prints_and_is_ended_by_a_person(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path, WORK) as served, window(browser, served) as one:
        page = one.show(served.begun("Run it."))
        output = page.get_by_role("log", name="What it printed last")
        expect(output).to_contain_text("line 1")
        expect(output).to_contain_text("line 3")
        page.get_by_role("button", name="Terminate").click()
        expect(page.get_by_text("A person ended the command.")).to_be_visible()
        expect(page.locator(".agent strong", has_text="stopped")).to_be_visible()
        expect(page.locator(".session-status")).to_have_text("idle")


@pytest.mark.req("OSA-SHL-08")
def test_the_log_of_a_background_job_is_followed_while_it_runs(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path, JOBS) as served, window(browser, served) as one:
        page = one.show(served.begun("Serve it."))
        jobs = page.get_by_role("region", name="Running commands")
        log = jobs.get_by_role("log")
        expect(log).to_contain_text("served")
        before = log.inner_text().count("served")
        page.wait_for_function(
            "before => document.querySelector('.jobs [role=log]').textContent"
            ".split('served').length > before + 3",
            arg=before,
        )
        terminate = jobs.get_by_role("button", name="Terminate")
        expect(terminate).to_be_in_viewport(ratio=1)
        terminate.click()
        expect(jobs).to_be_hidden()


def test_a_person_speaks_while_it_works_and_interrupts(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, WORK) as served, window(browser, served) as one:
        page = one.show(served.begun("Run it."))
        expect(page.get_by_role("log").first).to_contain_text("line 1")
        page.get_by_label("Say something to the agent").fill("Not that one.\nThe other.")
        page.keyboard.press("Enter")
        expect(page.locator(".said", has_text="The other.")).to_contain_text("not read yet")
        page.get_by_role("button", name="Interrupt").click()
        expect(page.get_by_text("Stopped by a person")).to_be_visible()


def test_an_approval_is_given_where_the_call_stands(browser: Browser, tmp_path: Path) -> None:
    asks = 'profile.all.rules=[{permission="bash", pattern="git push*", action="ask"}]'
    with serving(tmp_path, ASKED, "--set", asks) as served, window(browser, served) as one:
        page = one.page
        session = served.begun("Push it.")
        expect(page.get_by_role("link", name="Push it.")).to_contain_text("1 approval")
        page.get_by_role("link", name="Push it.").click()
        card = page.locator(".card .approval")
        expect(card.locator(".members")).to_contain_text("git push")
        expect(card.locator(".approval-reason")).to_contain_text("'git push*'")
        for way in ("Allow once", "Allow for this session", "Allow for this project"):
            expect(card.get_by_role("button", name=way)).to_be_visible()
        card.get_by_role("button", name="Reject …").click()
        page.get_by_label("Words for the agent").press("Enter")
        expect(page.get_by_text("Denied by a person").first).to_be_visible()
        assert served.ask("GET", f"/sessions/{session}")["waiting"]["approvals"] == 0


def test_the_list_is_used_with_the_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    turns = '[[turn]]\ntext = "One."\n'
    with serving(tmp_path, turns) as served, window(browser, served) as one:
        page = one.page
        for words in ("count the apples", "weigh the pears"):
            served.begun(words)
            expect(page.locator(".session-row", has_text=words)).to_be_visible()
        page.keyboard.press("/")
        page.keyboard.type("apples")
        expect(page.locator(".session-row")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.locator("a.session-link")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="count the apples")).to_be_visible()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()


def test_a_session_is_begun_with_a_model_that_nobody_configured(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "another.toml").write_text('[[turn]]\ntext = "From the other script."\n', "utf-8")
    with serving(tmp_path, WORK) as served, window(browser, served) as one:
        page = one.page
        page.get_by_role("button", name="New session").first.click()
        page.get_by_label("Message").fill("Say it.")
        model = page.get_by_label("Model")
        offered = model.evaluate("one => [...one.list.options].map((each) => each.value)")
        assert offered == ["played"]
        model.fill(f"scripted:{tmp_path / 'another.toml'}")
        page.get_by_role("button", name="Begin").click()
        page.wait_for_url("**/console/sessions/ses_*")
        expect(page.get_by_text("From the other script.")).to_be_visible()
