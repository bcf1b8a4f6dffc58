"""Every program a session starts leaves one line in the audit log, and nothing it was told."""

import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import anyio
import pytest

from holdfast import Holdfast, Limits, OutputBound, Runtime, tool
from holdfast.app.settings import (
    AuditSettings,
    SandboxSettings,
    Settings,
    Surroundings,
    WatchdogSettings,
)
from holdfast.contract.json_value import JsonObject
from holdfast.contract.shell import CommandLimits, Confinement
from holdfast.execution.program_environment import program_environment

EVERYTHING = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}
SECRET = "tr0ub4dor-and-3"
UNSAID = "what-the-model-asked-for"
PRINTED = "what-came-of-it"
SMALL = Limits(output=OutputBound(max_bytes=1_000))


@tool(requires=EVERYTHING)
async def run(rt: Runtime, command: str, wall: float | None = None, cwd: str | None = None) -> str:
    """Run a command."""
    limits = CommandLimits(wall=wall, grace=0.1)
    return (await rt.shell.run(command, limits=limits, cwd=cwd)).stdout.text()


@tool(requires=EVERYTHING, limits=SMALL)
async def words(rt: Runtime, argv: list[str], stdin: str = "") -> str:
    """Run a program."""
    return (await rt.shell.run(argv, stdin=stdin.encode())).stdout.text()


@tool(requires=EVERYTHING)
async def allowed(rt: Runtime, names: list[str]) -> str:
    """Run a program with the variables it is allowed."""
    parent = {"PATH": "/bin", "HOME": "/root", "FIRST": SECRET, "SECOND": "", "THIRD": "3"}
    passed = program_environment(parent, names)
    given = {name: passed.variables[name] for name in passed.passed}
    return (await rt.shell.run(["env"], environment=given)).stdout.text()


@tool(requires=EVERYTHING)
async def job(rt: Runtime, command: str | list[str], ending: str = "wait") -> str:
    """Start a job, and end it or wait for it."""
    started = await rt.shell.jobs.start(command, environment={"NAME": SECRET})
    if ending == "wait":
        return (await rt.shell.jobs.wait(started.id, seconds=10)).facts.state
    if ending == "kill":
        return (await rt.shell.jobs.kill(started.id, grace=0.1)).state
    return started.state


@tool(requires=EVERYTHING)
async def keep(rt: Runtime, command: str, wall: float | None = None) -> str:
    """Run in the persistent shell."""
    limits = CommandLimits(wall=wall, grace=0.1)
    return (await rt.shell.persistent.run(command, limits=limits)).report.stdout.text()


async def overrun(rt: Runtime, command: str, *, persistent: bool = False) -> str:
    """Run something too slow for its tool."""
    await (rt.shell.persistent if persistent else rt.shell).run(command)
    return ""


impatient = tool(requires=EVERYTHING, limits=Limits(wall_seconds=0.4), name="impatient")(overrun)
# Its command has begun when the time is over, on any machine.
late = tool(requires=EVERYTHING, limits=Limits(wall_seconds=1.5), name="late")(overrun)


@tool(requires=EVERYTHING)
def put(text: str) -> str:
    """Start nothing."""
    return text


class Place:
    """A workspace, and where the log is."""

    def __init__(self, tmp_path: Path) -> None:
        self.workspace = tmp_path / "workspace"
        self.home = tmp_path / "own"
        for folder in (self.workspace, self.home):
            folder.mkdir()

    def opened(
        self,
        *,
        redact: str = "",
        hooks: Sequence[tuple[str, ...]] = (),
        confinement: Confinement | None = None,
        model_keys: tuple[str, ...] = (),
    ) -> Holdfast:
        return Holdfast(
            tools=[run, words, allowed, job, keep, impatient, late, put],
            workspace=self.workspace,
            settings=Settings(
                audit=AuditSettings(redact=redact),
                sandbox=SandboxSettings(confinement=confinement),
                watchdog=WatchdogSettings(
                    off=("secrets_in_arguments",), commands=tuple(hooks), seconds=2
                ),
            ),
            surroundings=Surroundings(
                data_home=self.home / "data",
                state_home=self.home / "state",
                environment={"PATH": os.defpath},
                secrets=(SECRET, "abc"),
                model_keys=model_keys,
            ),
        )

    async def settle(self, name: str, **arguments: object) -> JsonObject:
        """The one record of one call."""
        async with self.opened() as hf:
            await hf.settle(name, arguments)
        (record,) = self.records()
        assert record["session"] == hf.session_id
        return record

    def text(self) -> str:
        folder = self.home / "state" / "audit"
        return "".join(path.read_text("utf-8") for path in sorted(folder.glob("*")))

    def records(self) -> list[JsonObject]:
        return [json.loads(line) for line in self.text().splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.req("CLI-AUD-02")
async def test_a_command_leaves_its_shell_and_its_sizes_and_nothing_it_was_told(
    place: Place,
) -> None:
    command = f"echo {PRINTED}; echo {PRINTED} >&2; exit 3  # {UNSAID}"
    async with place.opened() as hf:
        envelope = await hf.settle("run", {"command": command})
        assert PRINTED in str(envelope.result)
    (record,) = place.records()
    ts, ms = record.pop("ts"), record.pop("ms")
    assert isinstance(ts, str)
    assert len(ts) == len("2026-08-01T12:00:00.000000005Z")
    assert isinstance(ms, int)
    assert 0 <= ms < 10_000
    assert record == {
        "tool": "run",
        "argv": ["bash", "-o", "pipefail", "-c"],
        "cwd": str(place.workspace),
        "exit": 3,
        "stdoutBytes": len(PRINTED) + 1,
        "stderrBytes": len(PRINTED) + 1,
        "truncated": False,
        "session": hf.session_id,
        "call": envelope.call_id,
    }
    assert UNSAID not in place.text()
    assert PRINTED not in place.text()


async def test_what_a_program_reads_and_prints_is_not_in_the_log(place: Place) -> None:
    record = await place.settle("words", argv=["cat", "-"], stdin=UNSAID)
    assert record["argv"] == ["cat", "-"]
    assert record["stdoutBytes"] == len(UNSAID)
    assert UNSAID not in place.text()


@pytest.mark.req("CLI-ENV-09", "CLI-AUD-03")
async def test_names_of_passed_variables_are_listed_in_allowlist_order_without_values(
    place: Place,
) -> None:
    record = await place.settle("allowed", names=["THIRD", "FIRST", "ABSENT", "PATH", "SECOND"])
    assert record["envKeys"] == ["THIRD", "FIRST", "PATH", "SECOND"]
    assert SECRET not in place.text()


@pytest.mark.req("CLI-AUD-03")
async def test_without_a_passed_variable_there_are_no_keys(place: Place) -> None:
    assert "envKeys" not in await place.settle("allowed", names=["ABSENT"])


@pytest.mark.req("CLI-AUD-02")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("run", {"command": "kill -9 $$"}),
        ("run", {"command": "sleep 20", "wall": 0.1}),
        ("run", {"command": "trap 'exit 0' TERM; sleep 20 & wait", "wall": 0.3}),
        ("keep", {"command": "sleep 20", "wall": 0.1}),
        ("keep", {"command": "kill -9 $$"}),
        ("late", {"command": "echo four; sleep 20"}),
        ("late", {"command": "echo four; sleep 20", "persistent": True}),
        ("job", {"command": "sleep 20", "ending": "kill"}),
        ("job", {"command": "sleep 20", "ending": "leave"}),
    ],
)
async def test_a_signal_or_a_limit_or_the_end_of_the_session_is_no_exit_code(
    place: Place, name: str, arguments: dict[str, object]
) -> None:
    record = await place.settle(name, **arguments)
    assert record["exit"] == -1
    assert record["tool"] == name
    if name == "late":
        assert record["stdoutBytes"] == len("four\n")
        assert cast("int", record["ms"]) >= 300


@pytest.mark.req("CLI-AUD-08")
@pytest.mark.parametrize(
    ("name", "argument"), [("words", {"argv": ["nonesuch"]}), ("job", {"command": ["nonesuch"]})]
)
async def test_a_program_that_cannot_be_started_leaves_a_record(
    place: Place, name: str, argument: dict[str, object]
) -> None:
    record = await place.settle(name, **argument)
    assert (record["argv"], record["exit"], record["stdoutBytes"]) == (["nonesuch"], -1, 0)
    assert record["cwd"] == str(place.workspace)


@pytest.mark.req("CLI-AUD-08")
@pytest.mark.parametrize("name", ["run", "job", "keep"])
async def test_where_there_is_no_sandbox_that_is_written_down_too(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PATH", "")
    async with place.opened(confinement="bubblewrap") as hf:
        envelope = await hf.settle(name, {"command": UNSAID})
    assert envelope.failure is not None
    (record,) = place.records()
    assert (record["tool"], record["exit"], record["ms"]) == (name, -1, 0)
    assert record["cwd"] == str(place.workspace)
    assert UNSAID not in place.text()


async def test_a_refusal_is_no_program(place: Place) -> None:
    async with place.opened() as hf:
        envelope = await hf.settle("run", {"command": "pwd", "cwd": "/root"})
        assert envelope.failure is not None
        assert envelope.failure.kind == "rejected"
        assert (await hf.settle("put", {"text": UNSAID})).ok
    assert place.text() == ""


async def test_a_job_leaves_one_record_when_it_has_ended(place: Place) -> None:
    record = await place.settle("job", command=f"echo {UNSAID}; exit 4")
    assert record["exit"] == 4
    assert record["argv"] == ["bash", "-o", "pipefail", "-c"]
    assert record["envKeys"] == ["NAME"]
    assert record["stdoutBytes"] == len(UNSAID) + 1
    assert UNSAID not in place.text()
    assert SECRET not in place.text()


async def test_what_a_command_leaves_behind_is_not_written_down_again(place: Place) -> None:
    record = await place.settle("run", command="sleep 20 & exit 5")
    assert record["exit"] == 5


async def test_each_command_of_the_persistent_shell_leaves_one_record(place: Place) -> None:
    async with place.opened() as hf:
        for command in (f"echo {UNSAID}; mkdir -p deep; cd deep", "false", "exit 7"):
            await hf.settle("keep", {"command": command})
    records = place.records()
    assert [record["exit"] for record in records] == [0, 1, 7]
    assert [record["cwd"] for record in records] == [
        str(place.workspace),
        str(place.workspace / "deep"),
        str(place.workspace / "deep"),
    ]
    assert {tuple(cast("list[str]", record["argv"])) for record in records} == {
        ("bash", "--norc", "--noprofile", "-s")
    }
    assert records[0]["stdoutBytes"] == len(UNSAID) + 1
    assert UNSAID not in place.text()


async def test_who_waits_for_the_persistent_shell_in_vain_has_run_nothing(place: Place) -> None:
    async with place.opened() as hf, anyio.create_task_group() as tasks:
        tasks.start_soon(hf.settle, "keep", {"command": "sleep 1"})
        await anyio.sleep(0.1)
        envelope = await hf.settle("impatient", {"command": "true", "persistent": True})
        assert envelope.failure is not None
        assert envelope.failure.kind == "timeout"
    assert [record["tool"] for record in place.records()] == ["keep"]


@pytest.mark.parametrize(("size", "cut"), [(1_000, False), (1_001, True), (400_000, True)])
async def test_a_record_says_whether_more_was_printed_than_an_answer_shows(
    place: Place, size: int, *, cut: bool
) -> None:
    async with place.opened() as hf:
        envelope = await hf.settle("words", {"argv": ["head", "-c", str(size), "/dev/zero"]})
    (record,) = place.records()
    assert (record["stdoutBytes"], record["truncated"]) == (size, cut)
    if size > 1_000:
        assert envelope.metadata.truncated


async def test_what_nobody_was_given_is_cut_however_large_an_answer_may_be(place: Place) -> None:
    whole = Limits(output=OutputBound(max_bytes=1 << 30))
    large = tool(requires=EVERYTHING, limits=whole)(print_much)
    async with Holdfast(
        tools=[large],
        workspace=place.workspace,
        settings=Settings(),
        surroundings=Surroundings(
            data_home=place.home / "data",
            state_home=place.home / "state",
            environment={"PATH": os.defpath},
        ),
    ) as hf:
        for size in (300_000, 400_000):
            await hf.settle("print_much", {"size": size})
    assert [record["truncated"] for record in place.records()] == [False, True]


async def print_much(rt: Runtime, size: int) -> str:
    """Print."""
    return (await rt.shell.run(["head", "-c", str(size), "/dev/zero"])).stdout.text()


@pytest.mark.req("CLI-AUD-06")
async def test_words_are_redacted_by_the_setting_and_by_known_secrets(place: Place) -> None:
    argv = ["echo", "key-77", SECRET, "a(", "zz9", "abc"]
    async with place.opened(redact="key-[0-9]+; a(", model_keys=("zz9",)) as hf:
        await hf.settle("words", {"argv": argv})
    (record,) = place.records()
    mark = "***REDACTED***"
    # A secret of three letters would be found everywhere; the keys of models are the exception.
    assert record["argv"] == ["echo", mark, mark, mark, mark, "abc"]


@pytest.mark.req("CLI-AUD-07")
async def test_a_log_that_cannot_be_written_fails_no_call(place: Place) -> None:
    (place.home / "state").mkdir()
    (place.home / "state" / "audit").write_text("in the way", "utf-8")
    async with place.opened() as hf:
        envelope = await hf.settle("run", {"command": "echo fine"})
    assert envelope.ok
    assert "fine" in str(envelope.result)


def hook(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import sys; sys.stdin.read(); {code}")


async def test_a_hook_that_is_a_program_is_written_down(place: Place) -> None:
    said = 'print(\'{"verdict": "allow"}\'); sys.stderr.write("xy"); sys.exit(0)'
    async with place.opened(hooks=[hook(said)]) as hf:
        envelope = await hf.settle("put", {"text": UNSAID})
        assert envelope.ok
    (record,) = place.records()
    assert record["tool"] == "(watchdog)"
    assert record["argv"] == list(hook(said))
    assert (record["exit"], record["stdoutBytes"], record["stderrBytes"]) == (0, 21, 2)
    assert (record["session"], record["call"]) == (hf.session_id, envelope.call_id)
    assert record["cwd"] == str(Path.cwd())
    assert UNSAID not in place.text()


@pytest.mark.req("CLI-AUD-08")
@pytest.mark.parametrize(
    ("program", "exit_code", "cut"),
    [
        (hook("sys.exit(4)"), 4, False),
        (hook("import time; time.sleep(60)"), -1, False),
        (hook("print(' ' * 100_000); import time; time.sleep(60)"), -1, True),
        (("/nonexistent/hook",), -1, False),
    ],
)
async def test_a_hook_that_fails_is_written_down_as_well(
    place: Place, program: tuple[str, ...], exit_code: int, *, cut: bool
) -> None:
    async with place.opened(hooks=[program]) as hf:
        assert (await hf.settle("put", {"text": "x"})).failure is not None
    (record,) = place.records()
    assert (record["exit"], record["truncated"]) == (exit_code, cut)


def test_the_log_of_a_session_is_its_owners(place: Place) -> None:
    anyio.run(lambda: place.settle("run", command="true"))
    folder = place.home / "state" / "audit"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
