"""Whatever stops a call, it is answered in one shape, and nothing is ever raised."""

import json
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import cast

import anyio
import pytest
from places import Places

from holdfast import Holdfast, Runtime, tool
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.shell import denial_of
from holdfast.envelope.dialects import ok
from holdfast.runtime.abort import Abort

EVERYTHING = {"fs": {"read": ["**"], "write": ["out/**"]}, "shell": [{"cmd": "*"}]}


@tool(requires=EVERYTHING, uses={"path": "fs.write"})
def put(path: str) -> str:
    """Write a file (not really)."""
    return path


@tool(requires=EVERYTHING, uses={"command": "shell.run"})
async def run(rt: Runtime, command: str) -> str:
    """Run a command."""
    report = await rt.shell.run(command)
    denial = denial_of(report)
    if denial is not None:
        raise denial
    return report.stdout.text()


@tool(interrupt_behavior="cancel")
async def wait() -> str:
    """Wait for longer than anybody does."""
    await anyio.sleep(600)
    return "never"


@tool
def break_down() -> str:
    """Fail."""
    raise ZeroDivisionError("a fault")


async def willing(_ask: Ask) -> Answer:
    """Says yes."""
    return Answer(allowed=True, by="test")


STOPPED: dict[str, tuple[str, Mapping[str, object], str, str]] = {
    "schema": ("put", {"path": 5}, "invalid_args", "path"),
    "capability": ("put", {"path": "src/a"}, "rejected", "requires.fs.write"),
    "rule": ("run", {"command": "git push"}, "rejected", "rule"),
    "watchdog": ("run", {"command": "rm -rf /"}, "rejected", "deletes the system"),
    "sandbox": ("run", {"command": "cat {outside}/secret"}, "rejected", "{outside}/secret"),
    "fault": ("break_down", {}, "execution_error", "a fault"),
    "abort": ("wait", {}, "execution_error", "was cancelled"),
}


@pytest.fixture
def outside() -> Generator[Path]:
    """A folder that no sandbox shows: its own temporary directory hides the machine's."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.mark.req("SPEC-CON-15")
@pytest.mark.parametrize("cause", STOPPED)
async def test_every_end_of_a_call_is_the_same_envelope(
    places: Places, outside: Path, cause: str
) -> None:
    name, arguments, kind, said = STOPPED[cause]
    (outside / "secret").write_text("x", "utf-8")
    filled = {
        key: value.format(outside=outside) if isinstance(value, str) else value
        for key, value in arguments.items()
    }
    hf = _opened(places)
    abort, answers = Abort(), list[str]()
    async with hf, anyio.create_task_group() as beside:
        if cause == "abort":
            beside.start_soon(_abort_soon, abort)
        answers.append(ok.render(await hf.settle(name, filled, abort=abort)))
    (answer,) = answers
    shown = cast("dict[str, object]", json.loads(answer))
    assert shown["ok"] is False
    assert shown["kind"] == kind
    assert shown["tool"] == name
    assert isinstance(shown["retryable"], bool)
    assert said.format(outside=outside) in json.dumps(shown)


async def _abort_soon(abort: Abort) -> None:
    await anyio.sleep(0.05)
    abort.set()


def _opened(places: Places) -> Holdfast:
    rule = '[[rule]]\npermission = "shell.run"\npattern = "git push*"\naction = "deny"\n'
    places.user_file.with_name("policy.toml").write_text(rule, "utf-8")
    loaded = places.load()
    return Holdfast(
        tools=[put, run, wait, break_down],
        workspace=places.project,
        configuration=loaded,
        approver=willing,
        surroundings=surroundings_of_this_process(loaded.settings, environment=places.environment),
    )
