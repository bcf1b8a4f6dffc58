"""A session of ten thousand events: shown at once, scrolled, and still where a person reads.

How smooth that is, is measured in bench/console_scroll.py.
"""

import json
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from command import HOLDFAST
from console_at_work import Served, number_in, serving, window
from long_sessions import SESSION, long_session
from playwright.sync_api import Browser, Page, Route, expect

pytestmark = [pytest.mark.timeout(120), pytest.mark.system("chromium")]

EVENTS = 10_000
SCROLLED = """([by, frames]) => new Promise((done) => {
  const scroller = document.querySelector(".timeline-scroll");
  const times = [];
  let last = performance.now();
  let most = 0;
  const step = () => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    most = Math.max(most, document.querySelectorAll(".entry").length);
    if (times.length > frames) {
      times.sort((one, other) => one - other);
      const at = (share) => times[Math.floor(times.length * share)];
      done({ median: at(0.5), p95: at(0.95), p99: at(0.99), most, top: scroller.scrollTop });
      return;
    }
    scroller.scrollTop += by;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
FIRST_IN_VIEW = """() => {
  const top = document.querySelector(".timeline-scroll").getBoundingClientRect().top;
  const seen = [...document.querySelectorAll(".entry")];
  const one = seen.find((entry) => entry.getBoundingClientRect().bottom > top + 1);
  return [one.dataset.key, one.getBoundingClientRect().top - top];
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    place = tmp_path_factory.mktemp("long")
    home, exported = place / "home", place / "long.jsonl"
    home.mkdir(mode=0o700)
    exported.write_text(long_session(EVENTS), "utf-8")
    _imported(home, exported)
    with serving(place, '[[turn]]\ntext = "A new answer."\n') as one:
        yield one


def _imported(home: Path, exported: Path) -> None:
    environment = {**os.environ, "HOLDFAST_HOME": str(home)}
    words = [str(HOLDFAST), "sessions", "import", str(exported)]
    subprocess.run(words, env=environment, check=True, capture_output=True, timeout=60)


def _at_the_end(page: Page) -> None:
    expect(page.locator(".markdown", has_text="Answer 99").last).to_be_visible()
    page.wait_for_function(
        "() => { const one = document.querySelector('.timeline-scroll');"
        " return one.scrollHeight - one.scrollTop - one.clientHeight < 2; }"
    )


def test_it_scrolls_from_its_end_to_its_beginning_and_back(
    browser: Browser, served: Served
) -> None:
    with window(browser, served) as one:
        page = one.show(SESSION)
        _at_the_end(page)
        up = page.evaluate(SCROLLED, [-160, 300])
        page.keyboard.press("g")
        page.keyboard.press("g")
        expect(page.locator(".said-text", has_text="Message 1.")).to_be_visible(timeout=30_000)
        down = page.evaluate(SCROLLED, [160, 300])
        for told in (up, down):
            assert told["most"] < 80, "rows out of view are given up"
        assert down["top"] >= 160 * 300


def test_what_a_person_reads_stays_where_it_is_while_older_events_come(
    browser: Browser, served: Served
) -> None:
    with window(browser, served) as one:
        page = one.show(SESSION)
        _at_the_end(page)
        while page.evaluate(SCROLLED, [-300, 4])["top"] > 4000:
            pass
        total = "() => document.querySelector('.entry').getAttribute('aria-setsize')"
        before, rows = page.evaluate(FIRST_IN_VIEW), number_in(page.evaluate(total))
        assert rows < EVENTS / 4
        for _ in range(40):
            page.evaluate(SCROLLED, [-60, 4])
            before = page.evaluate(FIRST_IN_VIEW)
            page.wait_for_timeout(120)
            key, top = page.evaluate(FIRST_IN_VIEW)
            assert (key, round(top)) == (before[0], round(before[1]))
            if number_in(page.evaluate(total)) > rows:
                break
        assert number_in(page.evaluate(total)) > rows


def test_it_follows_what_is_new_only_while_a_person_is_at_its_end(
    browser: Browser, served: Served
) -> None:
    with window(browser, served) as one:
        page = one.show(SESSION)
        _at_the_end(page)
        page.evaluate(SCROLLED, [-500, 3])
        jump = page.locator(".jump")
        expect(jump).to_be_visible()
        before = page.evaluate(FIRST_IN_VIEW)
        served.ask("POST", f"/sessions/{SESSION}/messages", {"message": "And now?"})
        expect(jump).to_contain_text("new entr")
        assert page.evaluate(FIRST_IN_VIEW) == before
        jump.click()
        expect(page.locator(".said-text", has_text="And now?")).to_be_in_viewport()
        expect(page.locator(".agent", has_text="A new answer.")).to_be_in_viewport()
        expect(jump).to_be_hidden()


def test_a_reply_under_way_stays_whole_while_older_events_come(
    browser: Browser, served: Served
) -> None:
    number = served.ask("GET", f"/sessions/{SESSION}")["events"] + 1
    asked = {
        "type": "model.requested",
        "id": "evt_now",
        "sequence": number,
        "created_at": "2026-01-01T11:00:00Z",
        "request_id": "msg_now",
        "model": "played",
        "purpose": "turn",
    }
    stream = f"event: event\nid: {number}\ndata: {json.dumps(asked)}\n\n"
    for text in ("The first half ", "and the second"):
        stream += f"event: live\ndata: {json.dumps({'type': 'live.text', 'text': text})}\n\n"
    told: list[str] = []

    def once(route: Route) -> None:
        told.append(route.request.url)
        if len(told) == 1:
            route.fulfill(content_type="text/event-stream", body=stream)

    with window(browser, served) as one:
        one.page.route(f"**/sessions/{SESSION}/stream", once)
        page = one.show(SESSION)
        reply = page.locator(".agent", has_text="The first half and the second")
        expect(reply).to_be_visible()
        page.keyboard.press("g")
        page.keyboard.press("g")
        expect(page.locator(".said-text", has_text="Message 1.")).to_be_visible(timeout=30_000)
        page.keyboard.press("Shift+G")
        expect(reply).to_be_visible()
