"""acpx, a client of others without an editor, has our agent work: over a prompt, a question, a
cancelled turn, and a session of before. What both say is kept beside this, word for word."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from acp_editor import ASKS_ABOUT_BASH, Place, Said, gone, processes_with, turn
from command import HOLDFAST
from mcp_process import NODE_BIN

from holdfast._version import __version__

pytestmark = pytest.mark.timeout(120)

HERE = Path(__file__).parent
ACPX = HERE / "node_modules" / "acpx" / "dist" / "cli.js"
TRANSCRIPT = HERE / "transcript.jsonl"
NEW = "NEW_TRANSCRIPT"
"""Set, the transcript is written anew; look at what changed before it is kept."""


class Acpx:
    """The client, with our agent behind it."""

    def __init__(self, place: Place, *before: str) -> None:
        """``before``: a program that stands between the two."""
        assert ACPX.is_file(), "acpx is not installed; run: make suite"
        self._place = place
        model = f"scripted:{place.home.parent / 'script.json'}"
        self._agent = shlex.join([*before, str(HOLDFAST), "acp", "--model", model])

    def plays(self, *turns: Said) -> None:
        """What the model does the next time that the agent is started."""
        self._place.script(*turns)

    def command(self, *words: str) -> list[str]:
        """How it is called."""
        where = ["--cwd", str(self._place.work), "--agent", self._agent, "--ttl", "1"]
        return [str(NODE_BIN / "node"), str(ACPX), "--format", "json", *where, *words]

    @property
    def environment(self) -> dict[str, str]:
        """Its home is the test's."""
        own = {"HOME": str(self._place.home.parent), "HOLDFAST_HOME": str(self._place.home)}
        return {**os.environ, **own}

    async def run(self, *words: str, status: int = 0) -> list[Said]:
        """What both said."""
        while True:
            done = await anyio.run_process(
                self.command(*words), env=self.environment, check=False, stdin=subprocess.DEVNULL
            )
            if b"QUEUE_OWNER_CLOSED" not in done.stdout + done.stderr:
                break  # else a process of its own is just leaving, and it says to try again
            await anyio.sleep(0.1)
        assert done.returncode == status, (done.stdout + done.stderr).decode()
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(mode=0o700)
    work.mkdir()
    found = Place(home, work)
    found.rules(ASKS_ABOUT_BASH)
    return found


def _sent(messages: list[Said], method: str) -> list[Any]:
    return [one["params"] for one in messages if one.get("method") == method]


def _updates(messages: list[Said]) -> list[Any]:
    return [one["update"] for one in _sent(messages, "session/update")]


def _stop(messages: list[Said]) -> str:
    (found,) = [one["result"] for one in messages if "stopReason" in str(one.get("result"))]
    return found["stopReason"]


def _is_live(message: Said) -> bool:
    update = message.get("params", {}).get("update", {})
    return update.get("sessionUpdate") == "tool_call_update" and "status" not in update


def _without_what_differs(messages: list[Said], place: Place) -> list[Said]:
    """The same for every run: ids, places and the version have names, and what a command prints
    while it runs is left out."""
    text = "\n".join(json.dumps(one, sort_keys=True) for one in messages if not _is_live(one))
    for path, name in ((place.home, "<home>"), (place.work, "<work>")):
        text = text.replace(str(path), name)
    text = text.replace(f'"version": "{__version__}"', '"version": "<version>"')
    for name in dict.fromkeys(re.findall(r"\b(?:ses|msg|cal)_[0-9A-Za-z]{26}", text)):
        text = text.replace(name, f"<{name[:3]}>")
    return [json.loads(line) for line in text.splitlines()]


async def test_what_both_say_is_what_was_kept(place: Place) -> None:
    acpx = Acpx(place)
    acpx.plays(
        turn(("write", {"path": "a.txt", "content": "a\n"}), text="I write."),
        turn(("bash", {"command": "cat a.txt"}), reasoning="Is it there?"),
        {"text": "It is."},
    )
    said = await acpx.run("--approve-all", "exec", "Write a.txt.")
    found = _without_what_differs(said, place)
    if NEW in os.environ:
        lines = [json.dumps(one, sort_keys=True) + "\n" for one in found]
        TRANSCRIPT.write_text("".join(lines), "utf-8")
    kept = [json.loads(line) for line in TRANSCRIPT.read_text("utf-8").splitlines()]
    assert found == kept


@pytest.mark.parametrize(
    ("policy", "chosen", "status", "made"),
    [("--approve-all", "allow_once", 0, True), ("--deny-all", "reject_once", 5, False)],
)
async def test_it_answers_questions(
    place: Place, policy: str, chosen: str, status: int, made: bool
) -> None:
    acpx = Acpx(place)
    acpx.plays(turn(("bash", {"command": "touch made"})), {"text": "Done."})
    said = await acpx.run(policy, "exec", "Touch it.", status=status)
    (asked,) = _sent(said, "session/request_permission")
    answers = [one["result"]["outcome"] for one in said if "outcome" in str(one.get("result"))]
    assert answers == [{"outcome": "selected", "optionId": chosen}]
    assert asked["toolCall"]["title"] == "bash touch made"
    assert _stop(said) == "end_turn"
    assert (place.work / "made").exists() == made


@pytest.mark.parametrize("method", ["session/resume", "session/load"])
async def test_it_cancels_a_turn_and_goes_on_with_the_session(place: Place, method: str) -> None:
    hides = [] if method == "session/resume" else [sys.executable, str(HERE / "load_alone.py")]
    acpx = Acpx(place, *hides)
    marker = f"4714.{os.getpid()}"
    acpx.plays(turn(("bash", {"command": f"sleep {marker}"}), text="I wait."))
    (begun,) = await acpx.run("sessions", "new")
    session = begun["acpxSessionId"]
    said: list[Said] = []

    async def prompt() -> None:
        said.extend(await acpx.run("--approve-all", "prompt", "Wait."))

    async with anyio.create_task_group() as group:
        group.start_soon(prompt)
        with anyio.fail_after(30):
            while not processes_with(f"sleep\0{marker}"):  # noqa: ASYNC110 - it tells nobody
                await anyio.sleep(0.05)
        cancelled = await acpx.run("cancel")
        assert [one["cancelled"] for one in cancelled] == [True]
    assert _stop(said) == "cancelled"
    await gone(f"sleep\0{marker}")
    await gone(str(place.home.parent))  # nobody was there for a second: the agent is gone, too

    acpx.plays({"text": "Gone on."})
    again = await acpx.run("--approve-all", "prompt", "Go on.")
    assert [one["sessionId"] for one in _sent(again, method)] == [session]
    assert [one["sessionId"] for one in _sent(again, "session/prompt")] == [session]
    words = [one["content"]["text"] for one in _updates(again) if "message" in one["sessionUpdate"]]
    told_before = ["Wait.", "I wait."] if method == "session/load" else []
    assert words in ([*told_before, "Gone on."], ["Gone on."])
    assert _stop(again) == "end_turn"
    await acpx.run("sessions", "close")
    await gone(str(place.home.parent))
