"""The port of declared programs: spoken with, begun elsewhere, given variables, with a way out."""

import sys
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from interrupts import until
from manifests import PARENT, Ground

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.programs import Conversation, DeclaredProgram, Listener, Programs
from holdfast.contract.shell import KilledBy

ECHO = (
    "import os, sys\n"
    "print(sorted(set(os.environ) - {'LC_CTYPE'}), os.getcwd(), flush=True)\n"
    "for line in sys.stdin:\n"
    "    print('heard', line.strip(), flush=True)\n"
)


class Heard:
    """Who listens to a program."""

    def __init__(self) -> None:
        self.text = b""
        self.ended: list[tuple[str, KilledBy | None]] = []
        self.listener = Listener(self._printed, self._over)

    def _printed(self, piece: bytes) -> None:
        self.text += piece

    def _over(self, how: str, by: KilledBy | None) -> None:
        self.ended.append((how, by))

    async def says(self, words: bytes) -> None:
        with anyio.fail_after(15):
            await until(lambda: words in self.text)


class Speaker:
    """Tools that speak with a program which goes on between their calls."""

    def __init__(self, program: DeclaredProgram) -> None:
        self.program = program
        self.heard = Heard()
        self.spoken: list[Conversation] = []

        @builtin(requires={"fs": {"read": ["**"]}})
        async def begin(programs: Programs) -> str:
            """Begin."""
            self.spoken.append(await programs.converse(self.program, self.heard.listener))
            return "begun"

        @builtin(requires={"fs": {"read": ["**"]}})
        async def ran(programs: Programs) -> JsonValue:
            """Run it to its end."""
            report = await programs.run(self.program, stdin=b"hi\n")
            return {"stdout": report.stdout.text(), "exit": report.exit_code, "cwd": report.cwd}

        self.tools = (begin, ran)


@pytest.fixture
def ground() -> Generator[Ground]:
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Ground(Path(folder))


def failure(found: Failure | None) -> Failure:
    assert found is not None
    return found


async def test_a_program_is_spoken_with_from_call_to_call_and_ends_with_the_session(
    ground: Ground,
) -> None:
    program = DeclaredProgram(
        argv=(sys.executable, "-u", "-c", ECHO), passed=("TZ",), variables={"TOKEN": "t"}
    )
    speaker = Speaker(program)
    async with ground.opened(*speaker.tools, parent={**PARENT, "TZ": "UTC", "X": "x"}) as hf:
        assert (await hf.settle("begin", {})).ok
        (spoken,) = speaker.spoken
        names = f"['HOME', 'PATH', 'TOKEN', 'TZ'] {ground.workspace}"
        await speaker.heard.says(names.encode())
        spoken.send(b"one\n")
        await speaker.heard.says(b"heard one\n")
        (running,) = hf.commands.all()
        assert running.state == "running"
        spoken.send(b"two\n")
        await speaker.heard.says(b"heard two\n")
        assert not spoken.over
        assert ground.records() == []
    assert spoken.over
    assert [by for _, by in speaker.heard.ended] == ["abort"]
    (record,) = ground.records()
    assert (record["tool"], record["exit"]) == ("begin", -1)
    assert record["envKeys"] == ["TZ", "TOKEN"]


async def test_a_program_that_cannot_be_started_is_unavailable_and_recorded(
    ground: Ground,
) -> None:
    speaker = Speaker(DeclaredProgram(argv=("/no/such/program",)))
    async with ground.opened(*speaker.tools) as hf:
        failed = failure((await hf.settle("begin", {})).failure)
    assert failed.kind == FailureKind.UNAVAILABLE
    assert "'/no/such/program' could not be started" in failed.message
    (record,) = ground.records()
    assert (record["argv"], record["exit"]) == (["/no/such/program"], -1)


@pytest.mark.parametrize("name", ["begin", "ran"])
async def test_a_program_begins_where_it_says_if_its_tool_may_read_there(
    ground: Ground, name: str
) -> None:
    (ground.workspace / "sub").mkdir()
    words = (sys.executable, "-u", "-c", ECHO)
    speaker = Speaker(DeclaredProgram(argv=words, cwd="sub"))
    async with ground.opened(*speaker.tools) as hf:
        assert (await hf.settle("ran", {})).result == {
            "stdout": f"['HOME', 'PATH'] {ground.workspace}/sub\nheard hi\n",
            "exit": 0,
            "cwd": f"{ground.workspace}/sub",
        }
        speaker.program = DeclaredProgram(argv=words, cwd=str(ground.home))
        refused = failure((await hf.settle(name, {})).failure)
    assert refused.kind == PolicyDenied.kind
    assert len(ground.records()) == 1, "a refusal is no program"


async def test_without_a_sandbox_nothing_runs_and_that_is_recorded(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaker = Speaker(DeclaredProgram(argv=("/bin/true",)))
    async with ground.opened(*speaker.tools, confinement="bubblewrap") as hf:
        monkeypatch.setenv("PATH", "/nowhere")
        found = [await hf.settle(name, {}) for name in ("ran", "begin")]
    if any(one.ok for one in found):
        pytest.skip("this machine has bubblewrap")
    assert {failure(one.failure).kind for one in found} == {FailureKind.UNAVAILABLE}
    assert len(ground.records()) == 2


@pytest.mark.parametrize("granted", [True, False])
async def test_only_where_hosts_are_granted_a_program_is_told_the_way(
    ground: Ground, granted: bool
) -> None:
    script = "env | grep -ci _proxy= ; true"
    hosts: JsonObject = {"net": {"hosts": ["api.example"]}} if granted else {}
    ground.program("asks", script, requires=hosts, envPassthrough=["HTTPS_PROXY"])
    parent = {**PARENT, "HTTPS_PROXY": "http://corporate:1"}
    async with ground.opened(parent=parent) as hf:
        told = await hf.settle("asks", {})
    if granted and told.failure is not None and told.failure.kind == FailureKind.UNAVAILABLE:
        pytest.skip("hosts need a network namespace, and this machine gives none")
    assert told.result == (8 if granted else 1)
