"""What calls came to, as a person reads it in the browser: every kind of answer in its own form."""

import json
from collections.abc import Generator

import pytest
from console_at_work import Served, Window, serving, window
from playwright.sync_api import Browser, Locator, expect

pytestmark = [pytest.mark.timeout(90), pytest.mark.system("chromium")]

CALLS: list[tuple[str, dict[str, object]]] = [
    ("read", {"path": "."}),
    ("read", {"path": "src/till.py"}),
    ("grep", {"pattern": "return"}),
    ("todo", {"todos": [
        {"content": "Repair it", "active_form": "Repairing it", "status": "in_progress"},
        {"content": "Run it", "active_form": "Running it", "status": "pending"},
        {"content": "Read it", "active_form": "Reading it", "status": "completed"},
    ]}),
    ("edit", {"path": "src/till.py", "old_string": "a - b", "new_string": "a + b"}),
    ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: README.md\n@@\n-Till\n+A till\n"
                              "*** Add File: more.md\n+More\n*** End Patch\n"}),
    ("bash", {"command": "echo '{\"ok\": false, \"error\": \"failed\"}'; exit 3"}),
    ("bash", {"command": "seq 1 60000"}),
    ("read", {"path": "nowhere.txt"}),
    ("read", {"path": "nowhere.txt"}),
    ("read", {"path": "/etc/shadow"}),
    ("read", {"path": "binary.dat"}),
    ("render_chart", {"chartType": "bar", "title": "Sales", "data": "m,n\nJan,3\nFeb,5\n",
                      "series": ["n"]}),
    ("share_artifact", {"content": "# Report\n\nAll is **well**.", "filename": "report.md"}),
    ("complete", {"summary": "## The till adds\n\nIt was *one* sign, and `a + b` it is now.\n\n"
                             "<img src=x onerror=alert(1)>"}),
]  # fmt: skip


def _turns() -> str:
    made = [{"name": name, "arguments": given} for name, given in CALLS]
    return json.dumps({"turn": [{"text": "I look.", "calls": made}, {"text": "Done."}]})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    place = tmp_path_factory.mktemp("cards")
    script = place / "turns.json"
    script.write_text(_turns(), "utf-8")
    words = ("--set", f"model.played.file={json.dumps(str(script))}")
    with serving(place, "", *words) as one:
        (one.workspace / "src").mkdir()
        (one.workspace / "src" / "till.py").write_text("def add(a, b):\n    return a - b\n")
        (one.workspace / "README.md").write_text("Till\n")
        (one.workspace / "binary.dat").write_bytes(b"\0\1\2\3")
        yield one


@pytest.fixture(scope="module")
def session(served: Served) -> str:
    return served.begun("Repair the till.")


@pytest.fixture
def shown(browser: Browser, served: Served, session: str) -> Generator[Window]:
    with window(browser, served) as one:
        _whole(one, session)
        yield one


def _whole(one: Window, session: str) -> None:
    """The session from its beginning, once its agent has done what it was asked."""
    page = one.show(session)
    expect(page.locator(".card-tool", has_text="complete")).to_be_visible(timeout=30_000)
    expect(page.locator(".session-status")).to_have_text("idle", timeout=30_000)
    page.keyboard.press("g")
    page.keyboard.press("g")


def _card(one: Window, tool: str, words: str) -> Locator:
    """The card of a call, looked for from the top to the end, and opened."""
    card = one.page.locator(".card", has=one.page.get_by_text(tool, exact=True)).filter(
        has=one.page.locator(".card-main", has_text=words)
    )
    scroller = one.page.locator(".timeline-scroll")
    for _ in range(60):
        if card.count():
            break
        scroller.evaluate("one => { one.scrollTop += 400 }")
        one.page.wait_for_timeout(50)
    head = card.first.locator(".card-head")
    if head.get_attribute("aria-expanded") == "false":
        head.click()
    expect(card.first.locator(".card-body")).to_be_visible()
    return card.first


@pytest.mark.req("OSA-TXT-03")
def test_a_result_in_text_form_is_markdown_and_no_json(shown: Window) -> None:
    card = _card(shown, "complete", "The till adds")
    body = card.locator(".card-body")
    expect(body.locator(".md-h2")).to_have_text("The till adds")
    expect(body.locator("em")).to_have_text("one")
    expect(body.locator("code").first).to_have_text("a + b")
    expect(body).to_contain_text("<img src=x onerror=alert(1)>")
    assert body.locator("img").count() == 0
    assert body.locator(".code").count() == 0
    assert '"text"' not in body.inner_text()


@pytest.mark.req("OSA-LST-07")
def test_a_directory_is_a_tree_of_its_entries(shown: Window) -> None:
    tree = _card(shown, "read", ".").locator(".tree")
    expect(tree.locator("li > .tree-leaf")).to_have_text(["src/", "binary.dat", "README.md"])


def test_a_file_has_its_lines_and_a_search_its_places(shown: Window) -> None:
    file = _card(shown, "read", "src/till.py")
    expect(file.locator(".file-numbers")).to_have_text("1\n2")
    expect(file.locator(".file-text")).to_contain_text("return a - b")
    expect(_card(shown, "grep", "return").locator(".matches")).to_contain_text("src/till.py")


def test_a_list_of_things_to_do_has_marks(shown: Window) -> None:
    items = _card(shown, "todo", "Repairing it").locator(".todos li")
    expect(items).to_have_text(["Repairing it", "Run it", "Read it"])
    expect(items.nth(2).get_by_role("img", name="done")).to_be_visible()
    summary = shown.page.locator(".session-todos summary")
    expect(summary).to_contain_text("1/3")
    popped = shown.page.locator(".todos-pop")
    summary.click()
    expect(popped).to_be_visible()
    shown.page.keyboard.press("Escape")
    expect(popped).to_be_hidden()
    summary.click()
    expect(popped).to_be_visible()
    shown.page.locator(".session-title").click()
    expect(popped).to_be_hidden()


def test_changes_stand_side_by_side(shown: Window) -> None:
    edit = _card(shown, "edit", "src/till.py")
    expect(edit.locator(".diff-left .diff-text")).to_have_text("a - b")
    expect(edit.locator(".diff-right .diff-text")).to_have_text("a + b")
    left, right = (edit.locator(f".diff-{side}").bounding_box() for side in ("left", "right"))
    assert left
    assert right
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]
    patch = _card(shown, "apply_patch", "README.md")
    expect(patch.locator(".diff-head .mono")).to_have_text(["README.md", "more.md"])


@pytest.mark.req("OSA-RES-10")
def test_failures_are_told_by_ok_alone(shown: Window) -> None:
    odd = _card(shown, "bash", "exit 3")
    expect(odd).to_have_attribute("data-state", "done")
    expect(odd.locator(".badge", has_text="exit 3")).to_be_visible()
    first = _card(shown, "read", "nowhere.txt")
    expect(first).to_have_attribute("data-state", "failed")
    expect(first.locator(".failure")).to_contain_text("Not found")
    binary = _card(shown, "read", "binary.dat").locator(".failure-text")
    expect(binary).to_contain_text("view_image")
    expect(binary).not_to_contain_text('"hint"')
    again = shown.page.locator(".card", has=shown.page.locator(".badge", has_text="retry"))
    expect(again).to_have_attribute("data-state", "failed")
    refused = _card(shown, "read", "/etc/shadow")
    expect(refused.locator(".failure")).to_contain_text("Refused by policy")
    expect(refused.locator(".failure-next")).to_contain_text("would admit it")


def test_long_output_is_folded_and_the_whole_of_it_is_one_link_away(shown: Window) -> None:
    card = _card(shown, "bash", "seq 1 60000")
    expect(card.get_by_role("button", name="more lines").first).to_be_visible()
    link = card.get_by_role("link", name="Whole output").get_attribute("href")
    assert link is not None
    whole = shown.page.request.get(shown.served.address + link)
    assert whole.ok
    assert whole.text().endswith("59999\n60000\n")


def test_a_chart_is_a_picture_and_an_artifact_can_be_read(shown: Window) -> None:
    picture = _card(shown, "render_chart", "Sales").get_by_role("img", name="Chart: Sales")
    picture.scroll_into_view_if_needed()
    shown.page.wait_for_function("() => document.querySelector('.picture img')?.naturalWidth > 0")
    artifact = _card(shown, "share_artifact", "report.md")
    expect(artifact.locator(".artifact-text strong")).to_have_text("well")
    expect(artifact.get_by_role("link", name="report.md")).to_be_visible()


def test_a_card_says_why_it_ran_and_shows_the_bare_words(shown: Window) -> None:
    card = _card(shown, "grep", "return")
    card.get_by_text("Details").click()
    expect(card.locator(".card-details")).to_contain_text("no rule speaks against it")
    card.get_by_text("Call and answer as JSON").click()
    expect(card.locator(".card-details .code").first).to_contain_text('"pattern": "return"')


def test_on_a_phone_nothing_is_wider_than_the_screen(
    browser: Browser, served: Served, session: str
) -> None:
    with window(browser, served, width=360) as one:
        page = one.page
        wide = "() => document.scrollingElement.scrollWidth"
        assert page.evaluate(wide) <= 360
        _whole(one, session)
        edit = _card(one, "edit", "src/till.py")
        left, right = (edit.locator(f".diff-{side}").bounding_box() for side in ("left", "right"))
        assert left
        assert right
        assert left["y"] < right["y"]
        scroller = page.locator(".timeline-scroll")
        assert scroller.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("navigation").get_by_role("link", name="Sessions").click()
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
