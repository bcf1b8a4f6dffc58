"""Approvals in a browser, on the real server: the first answer counts, and what it was is told."""

from pathlib import Path

import pytest
from agent_scripts import asks, says
from console_browser import PHONE, at_the_console
from playwright.sync_api import Browser, expect
from served_agents import served

pytestmark = [pytest.mark.timeout(60), pytest.mark.system("chromium")]

ASK_ABOUT_FILES = """
[[rule]]
permission = "fs.write"
pattern = "*"
action = "ask"
"""
OLD = "def total(values):\n    result = 0\n    return result\n"
EDITS = (
    asks("edit", path="app.py", old_string="    result = 0\n", new_string="    result = 1\n"),
    says("Done."),
)


def work(folder: Path) -> Path:
    place = folder / "work"
    place.mkdir()
    (place / "app.py").write_text(OLD, "utf-8")
    return place


def test_an_edit_is_looked_at_as_a_change_and_allowed_once_by_a_key(
    browser: Browser, tmp_path: Path
) -> None:
    place = work(tmp_path)
    with served(tmp_path, {"ada": EDITS}, policy=ASK_ABOUT_FILES) as home:
        with at_the_console(browser, home, "/console/approvals") as page:
            expect(page.get_by_text("Nobody waits for you.")).to_be_visible()
            session = home.begin("ada", "Begin with one.")
            card = page.locator("article.approval")
            expect(card.get_by_role("link", name="Begin with one.")).to_be_visible()
            expect(card.locator(".approval-reason")).to_contain_text("fs.write '*'")
            expect(card.locator(".change-wide .changed .left")).to_contain_text("result = 0")
            expect(card.locator(".change-wide .changed .right mark")).to_have_text("1")
            card.get_by_role("button", name="Show exactly as sent").click()
            expect(card.locator("pre.block")).to_contain_text('"old_string":"    result = 0\\n"')
            card.get_by_text("Which rules speak of it").click()
            expect(card.locator(".explanation")).to_contain_text("A person is asked by the rules")
            page.keyboard.press("1")
            expect(card).to_contain_text("Allowed once")
            expect(page.get_by_text("Nobody waits for you.")).to_be_visible()
        home.rests(session)
        assert (place / "app.py").read_text("utf-8") == OLD.replace("= 0", "= 1")


def test_an_answer_for_the_session_is_not_asked_for_again(browser: Browser, tmp_path: Path) -> None:
    place = work(tmp_path)
    turns = (
        asks("write", path="a.txt", content="one"),
        asks("write", path="a.txt", content="two"),
        says("Done."),
    )
    with served(tmp_path, {"ada": turns}, policy=ASK_ABOUT_FILES) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, "/console/approvals") as page:
            page.get_by_role("button", name="Allow for this session").click()
            expect(page.get_by_text("Nobody waits for you.")).to_be_visible()
        home.rests(session)
        (answered,) = home.get(f"/sessions/{session}/events?type=approval.answered")["events"]
    assert (answered["remember"], answered["allowed"]) == ("session", True)
    assert (place / "a.txt").read_text("utf-8") == "two"


def test_what_is_like_it_is_allowed_too_where_somebody_says_so(
    browser: Browser, tmp_path: Path
) -> None:
    work(tmp_path)
    turns = (
        asks("write", path="a.txt", content="one"),
        asks("write", path="b.txt", content="two"),
        says("Done."),
    )
    with served(tmp_path, {"ada": turns}, policy=ASK_ABOUT_FILES) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, "/console/approvals") as page:
            expect(page.locator(".wider code")).to_have_text("?*/**")
            page.keyboard.press("w")
            page.keyboard.press("2")
            expect(page.locator("article.approval")).to_contain_text("and what is like it")
        home.rests(session)
        (answered,) = home.get(f"/sessions/{session}/events?type=approval.answered")["events"]
    assert answered["wider"] is True


def test_a_refusal_with_words_lets_the_agent_go_on_from_them(
    browser: Browser, tmp_path: Path
) -> None:
    place = work(tmp_path)
    turns = (EDITS[0], says("Then I leave it."))
    with served(tmp_path, {"ada": turns}, policy=ASK_ABOUT_FILES) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, "/console/approvals", viewport=PHONE) as page:
            expect(page.locator("article.approval")).to_be_visible()
            expect(page.locator(".change-tall .gone")).to_contain_text("result = 0")
            page.keyboard.press("x")
            page.get_by_label("Words for the agent").fill("write a test first")
            page.keyboard.press("Enter")
            expect(page.locator("article.approval")).to_contain_text("Rejected, with words")
        home.rests(session)
        (settled,) = home.get(f"/sessions/{session}/events?type=call.settled")["events"]
    assert settled["envelope"]["kind"] == "user_denied"
    assert settled["envelope"]["note"] == "write a test first"
    assert (place / "app.py").read_text("utf-8") == OLD


def test_who_answers_too_late_is_told_that_somebody_was_first(
    browser: Browser, tmp_path: Path
) -> None:
    work(tmp_path)
    with served(tmp_path, {"ada": EDITS}, policy=ASK_ABOUT_FILES) as home:
        session = home.begin("ada")
        with at_the_console(browser, home, "/console/approvals") as page:
            card = page.locator("article.approval")
            expect(card).to_be_visible()
            (asked,) = home.get("/approvals")["approvals"]
            page.route("**/api/v1/approvals", lambda route: route.abort())
            said = {"session_id": session, "allow": False, "note": "no", "by": "Grace"}
            home.post(f"/approvals/{asked['approval_id']}", said)
            page.get_by_role("button", name="Allow once").click()
            expect(card).to_contain_text("Grace rejected it first with the words “no”")
            expect(card).to_have_attribute("data-stage", "late")


def test_characters_that_nobody_sees_are_shown_by_their_numbers(
    browser: Browser, tmp_path: Path
) -> None:
    turns = (asks("write", path="a\u202etxt.sh", content="x"), says("Done."))
    with served(tmp_path, {"ada": turns}, policy=ASK_ABOUT_FILES) as home:
        home.begin("ada")
        with at_the_console(browser, home, "/console/approvals") as page:
            expect(page.locator(".arguments .unseen").first).to_have_text("U+202E")


def test_markup_in_arguments_is_shown_and_never_becomes_part_of_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    content = "<img src=x onerror=document.title='no'><script>1</script>"
    turns = (asks("write", path="a.html", content=content), says("Done."))
    with served(tmp_path, {"ada": turns}, policy=ASK_ABOUT_FILES) as home:
        home.begin("ada", f"Write {content}")
        with at_the_console(browser, home, "/console/approvals") as page:
            expect(page.locator(".change-wide .right")).to_contain_text(content)
            assert page.locator("main :is(img, script)").count() == 0
            assert "Approvals" in page.title()
