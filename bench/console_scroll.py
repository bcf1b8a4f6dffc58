"""How smoothly the console scrolls through a session of ten thousand events, in a real browser.

A home with such a session, `holdfast serve` on it, and Chromium, which scrolls from its end towards
its beginning and back, a step a picture. Prints JSON: milliseconds between two pictures, how many
rows were in the page at the most, and how long it took until the end of the session was seen.

    python bench/console_scroll.py [--quick]      run with the environment of the tests
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from console_at_work import opened, serving, window
from long_sessions import SESSION, long_session
from playwright.sync_api import Page, sync_playwright

EVENTS = 10_000
FRAMES, QUICK_FRAMES = 600, 60
STEP = 160
HOLDFAST = Path(sys.executable).with_name("holdfast")
SCROLLED = """([by, frames]) => new Promise((done) => {
  const scroller = document.querySelector(".timeline-scroll");
  const times = [];
  let [last, most] = [performance.now(), 0];
  const step = () => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    most = Math.max(most, document.querySelectorAll(".entry").length);
    if (times.length > frames) return done({ times, most });
    scroller.scrollTop += by;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    frames = QUICK_FRAMES if "--quick" in sys.argv else FRAMES
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _imported(place)
        with (
            serving(place, '[[turn]]\ntext = "Yes."\n') as served,
            sync_playwright() as playwright,
        ):
            browser = opened(playwright)
            with window(browser, served) as one:
                began = time.perf_counter()
                page = one.show(SESSION)
                page.locator(".markdown", has_text="Answer 99").last.wait_for()
                shown = time.perf_counter() - began
                told = {"up": _scrolled(page, -STEP, frames), "down": _scrolled(page, STEP, frames)}
            browser.close()
    print(json.dumps({"load": os.getloadavg()[0], "shown_ms": shown * 1e3, **told}))


def _imported(place: Path) -> None:
    home, exported = place / "home", place / "long.jsonl"
    home.mkdir(mode=0o700)
    exported.write_text(long_session(EVENTS), "utf-8")
    words = [str(HOLDFAST), "sessions", "import", str(exported)]
    environment = {**os.environ, "HOLDFAST_HOME": str(home)}
    subprocess.run(words, env=environment, check=True, capture_output=True, timeout=60)


def _scrolled(page: Page, by: int, frames: int) -> dict[str, float]:
    told = page.evaluate(SCROLLED, [by, frames])
    times = sorted(told["times"])
    share = {name: times[int(len(times) * at)] for name, at in (("median", 0.5), ("p99", 0.99))}
    return {**share, "slowest": times[-1], "rows": told["most"]}


if __name__ == "__main__":
    main()
