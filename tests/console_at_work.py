"""The console as a person has it: `holdfast serve` as a process, and a real browser before it."""

import json
import os
import re
import shutil
import subprocess
import urllib.parse
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

from command import HOLDFAST
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Playwright

CHROMIUM = shutil.which("chromium")
_SETTINGS = (
    'profile.all.toolsets=["locked","code","host"]',
    'model.played.kind="scripted"',
    "commands.background=true",
    'policy.doubts="confined"',
)


class Served(NamedTuple):
    """A server that runs."""

    address: str
    link: str
    """Its console, with the token."""
    token: str
    home: Path
    workspace: Path

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Ask its API as a program does."""
        host = urllib.parse.urlsplit(self.address).netloc
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body)
        with closing(HTTPConnection(host, timeout=10)) as connection:
            connection.request(method, f"/api/v1{path}", sent, headers)
            answer = connection.getresponse()
            said = answer.read()
        assert answer.status < 300, said
        return json.loads(said) if said else None

    def begun(self, message: str) -> str:
        """A session that works on it."""
        return self.ask("POST", "/sessions", {"message": message})["id"]

    def page_of(self, session: str) -> str:
        """Where the console shows it."""
        return f"{self.address}/console/sessions/{session}"


@contextmanager
def serving(place: Path, turns: str, *words: str, token: str | None = None) -> Generator[Served]:
    """A home and a workspace of their own; the server is ended in order afterwards.

    ``token``: which one clients send; None: one that the server makes.
    """
    home, workspace, script = place / "home", place / "work", place / "turns.toml"
    home.mkdir(mode=0o700, exist_ok=True)
    workspace.mkdir(exist_ok=True)
    script.write_text(turns, "utf-8")
    settings = (*_SETTINGS, f"model.played.file={json.dumps(str(script))}")
    command = [str(HOLDFAST), "serve", "--port", "0", "--json", "--profile", "all"]
    command += ["--workspace", str(workspace)]
    command += [part for one in settings for part in ("--set", one)]
    if token is not None:
        kept = place / "token"
        kept.write_text(token, "utf-8")
        kept.chmod(0o600)
        command += ["--token-file", str(kept)]
    process = subprocess.Popen(
        [*command, *words],
        cwd=workspace,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        told = json.loads(process.stdout.readline())
        sent = token or told["token"]
        link = f"{told['address']}/?token={sent}"
        yield Served(told["address"], link, sent, home, workspace)
    finally:
        process.terminate()
        try:
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
            process.terminate()  # a run that is still under way is not waited for
            process.wait(20)
        finally:
            process.stdout.close()


def opened(playwright: Playwright) -> Browser:
    """The browser that apt brings."""
    assert CHROMIUM is not None
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


class Window:
    """A page of the console, and whatever went wrong in it."""

    def __init__(self, browser: Browser, served: Served, *, width: int = 1280) -> None:
        self.served = served
        self.problems: list[str] = []
        context = browser.new_context(viewport={"width": width, "height": 900})
        self.page: Page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.page.on("console", self._said)
        self.page.on("pageerror", self._broke)
        self.page.goto(served.link)

    def show(self, session: str) -> Page:
        """The page of a session."""
        self.page.goto(self.served.page_of(session))
        return self.page

    def close(self) -> None:
        """Close it. Nothing may have gone wrong: no error, and nothing the policy refused."""
        self.page.context.close()
        assert not self.problems, self.problems

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"{message.type}: {message.text}")

    def _broke(self, problem: Error) -> None:
        self.problems.append(f"error: {problem.message} {problem.stack}")


@contextmanager
def window(browser: Browser, served: Served, *, width: int = 1280) -> Generator[Window]:
    """A window that is looked at, and closed when nothing failed."""
    one = Window(browser, served, width=width)
    yield one
    one.close()


def number_in(text: str | None) -> int:
    """The first number in a text."""
    found = re.search(r"\d+", text or "")
    assert found is not None, text
    return int(found[0])
