"""What models, tools and files may hold against who looks at it: it is shown, and does nothing."""

import json
from collections.abc import Generator

import pytest
from console_at_work import Served, serving, window
from playwright.sync_api import Browser, Locator, Page, expect

pytestmark = [pytest.mark.timeout(90), pytest.mark.system("chromium")]

MARKUP = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
SVG = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='40'"
    " onload=\"document.title='taken'\"><script>document.title='taken'</script>"
    "<rect width='90' height='40' fill='green'/></svg>"
)
NAME = "<b onclick=a>\u202egnp.exe"
TEXT = f"""{MARKUP}

[script](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>)
[file](file:///etc/passwd) [page](https://example.org/?a=1&b=2) ![far](https://example.org/x.png)

```html
{MARKUP}
```

{"W" * 3000}

{"> " * 900}deep

{"- " * 300}deep
"""
WIDE = f"{'a|' * 3000}\n{'-|' * 3000}\n" + "|\n" * 3000
PRINTS = "printf '\\033]0;taken\\007\\033[2J\\033[31mred\\033[0m\\n'; printf 'Z%.0s' $(seq 20000)"
CALLS: list[tuple[str, dict[str, object]]] = [
    ("bash", {"command": PRINTS}),
    ("write", {"path": f"{NAME}.md", "content": MARKUP}),
    ("read", {"path": "."}),
    ("share_artifact", {"content": SVG, "filename": "taken.svg"}),
    ("complete", {"summary": f"{TEXT}\n{WIDE}"}),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    place = tmp_path_factory.mktemp("hostile")
    made = [{"name": name, "arguments": given} for name, given in CALLS]
    script = place / "turns.json"
    script.write_text(json.dumps({"turn": [{"text": TEXT, "calls": made}]}), "utf-8")
    words = ("--set", f"model.played.file={json.dumps(str(script))}")
    with serving(place, "", *words) as one:
        yield one


@pytest.fixture(scope="module")
def session(served: Served) -> str:
    return served.begun(f"{MARKUP} {'endless' * 60}")


def _unharmed(page: Page, width: int) -> None:
    assert page.title() != "taken"
    assert page.locator("main script, main img[src=x], main b, main iframe").count() == 0
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


_A_LITTLE_FURTHER = """async one => {
    one.scrollTop += 200;
    for (let picture = 0; picture < 3; picture += 1) await new Promise(requestAnimationFrame);
}"""
"""And what stands there is drawn."""


def _found(page: Page, wanted: Locator) -> Locator:
    """What stands somewhere in a session that is long, looked for from its beginning."""
    expect(page.locator(".session-status")).to_have_text("idle", timeout=30_000)
    page.keyboard.press("g")
    page.keyboard.press("g")
    scroller = page.locator(".timeline-scroll")
    scroller.evaluate("one => { one.scrollTop = 0 }")
    for _ in range(200):
        if wanted.count():
            break
        scroller.evaluate(_A_LITTLE_FURTHER)
    expect(wanted).to_have_count(1)
    return wanted


@pytest.mark.parametrize("width", [1280, 390])
def test_a_hostile_session_is_shown_as_what_it_is(
    browser: Browser, served: Served, session: str, width: int
) -> None:
    with window(browser, served, width=width) as one:
        page = one.page
        expect(page.locator(".session-name")).to_contain_text("<img src=x")
        _unharmed(page, width)
        one.show(session)
        expect(page.locator(".session-status")).to_have_text("idle", timeout=30_000)
        _unharmed(page, width)
        assert page.evaluate("() => new Promise((done) => { const began = performance.now();"
                             " requestAnimationFrame(() => setTimeout("
                             "() => done(performance.now() - began))); })") < 2_000  # fmt: skip
        page.keyboard.press("g")
        page.keyboard.press("g")
        said = page.locator(".agent .markdown").first
        expect(said).to_contain_text("<script>document.title='taken'</script>")
        hrefs = said.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        assert hrefs == ["https://example.org/?a=1&b=2", "https://example.org/x.png"]
        _unharmed(page, width)
        scroller = page.locator(".timeline-scroll")
        assert scroller.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
        for place in ("approvals", "audit", "search?q=taken", f"sessions/{session}/replay"):
            page.goto(f"{served.address}/console/{place}")
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            expect(page.locator(".skeleton")).to_have_count(0)
            _unharmed(page, width)


def test_what_a_terminal_would_obey_is_not_shown(
    browser: Browser, served: Served, session: str
) -> None:
    with window(browser, served) as one:
        page = one.show(session)
        card = _found(page, page.locator(".card", has=page.get_by_text("bash", exact=True)))
        head = card.locator(".card-head")
        if head.get_attribute("aria-expanded") == "false":
            head.click()
        printed = card.locator(".printed").first
        expect(printed).to_contain_text("red")
        assert "\u001b" not in printed.inner_text()
        assert "0;taken" not in printed.inner_text()


def test_a_picture_that_is_opened_alone_runs_nothing(
    browser: Browser, served: Served, session: str
) -> None:
    with window(browser, served) as one:
        page = one.show(session)
        expect(page.locator(".session-status")).to_have_text("idle", timeout=30_000)
        answer = page.goto(f"{served.address}/api/v1/sessions/{session}/files/artifacts/taken.svg")
        assert answer is not None
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        page.wait_for_load_state("load")
        assert page.title() != "taken"
        one.problems.clear()  # That the script was blocked is told by the browser.


def test_names_that_turn_their_letters_round_are_told(
    browser: Browser, served: Served, session: str
) -> None:
    with window(browser, served) as one:
        page = one.show(session)
        head = _found(page, page.locator(".card-main", has_text="gnp.exe"))
        expect(head.locator(".unseen")).to_have_text("U+202E")
