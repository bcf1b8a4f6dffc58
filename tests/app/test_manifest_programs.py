"""Programs of a manifest as processes: environment, streams, limits, and what is written down."""

import hashlib
import json
import os
import sys
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import msgspec
import pytest
from interrupts import until
from manifests import DEFAULTS, PARENT, Ground

from holdfast import Holdfast
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import Unavailable
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.contract.programs import Programs
from holdfast.contract.runtime import Ports, Progress
from holdfast.contract.shell import CommandReport, Confinement
from holdfast.runtime.abort import Abort

WRITES: JsonObject = {"fs": {"read": ["{workspace}/**"], "write": ["{workspace}/**"]}}
PYTHON = f"#!{sys.executable}\n"
ENVIRONMENT = (
    f"{PYTHON}import json\n"
    "with open('/proc/self/environ', 'rb') as own:\n"
    "    told = own.read().decode().split('\\0')\n"
    "print(json.dumps(dict(one.split('=', 1) for one in told if one)))\n"
)


@pytest.fixture
def ground() -> Generator[Ground]:
    """Outside of the temporary directory that sandboxes have of their own."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Ground(Path(folder))


def failure(envelope: Envelope) -> Failure:
    assert envelope.failure is not None, envelope.result
    return envelope.failure


@pytest.mark.req("CLI-ENV-06", "CLI-ENV-07", "CLI-ENV-08", "CLI-ENV-09", "CLI-RUN-12")
@pytest.mark.req("CLI-ENV-01", "CLI-AUD-03")
@pytest.mark.parametrize(
    ("parent", "allowed", "sees"),
    [
        ({"TZ": "UTC", "SECRET": "s"}, ["TZ"], {"TZ": "UTC"}),
        ({"TZ": "UTC", "SECRET": "s"}, [], {}),
        ({"TZ": "UTC"}, ["NOPE", "tz"], {"TZ": "UTC"}),
        ({"B": "", "A": "1"}, ["B", "A"], {"B": "", "A": "1"}),
        ({"HOME": ""}, ["HOME"], {}),
        ({"LANG": "C", "TMPDIR": "/x", "LD_PRELOAD": "/x.so"}, [], {}),
    ],
)
async def test_a_program_sees_path_home_and_what_it_was_allowed(
    ground: Ground, parent: dict[str, str], allowed: list[str], sees: dict[str, str]
) -> None:
    ground.program("environment", ENVIRONMENT, envPassthrough=[*allowed])
    everything = {**PARENT, **parent}
    async with ground.opened(parent=everything) as hf:
        told = await hf.settle("environment", {})
    base = {name: everything[name] for name in ("PATH", "HOME") if everything[name]}
    assert told.result == base | sees
    (record,) = ground.records()
    assert record.get("envKeys", []) == [*sees]
    assert ("envKeys" in record) == bool(sees)
    hidden = set(parent.values()) - {""} - set("1") - set(base.values())
    assert not any(f'"{value}"' in json.dumps(record) for value in hidden)


def test_what_is_known_of_the_machine_is_never_printed() -> None:
    known = Surroundings(
        data_home=Path("/d"), parent_environment={"KEY": "sk-secret"}, secrets=("sk-secret",)
    )
    assert "sk-secret" not in repr(known)
    assert "/d" in repr(known)
    looked = surroundings_of_this_process(
        Settings(), environment={"HOME": "/home/ada", "KEY": "sk-secret"}
    )
    parent = looked.parent_environment
    assert parent["KEY"] == "sk-secret"
    assert not any("sk-secret" in text for text in (repr(parent), str(parent), f"{[parent]}"))


MUCH = 8 * 1000 * 1000


@pytest.mark.req("CLI-RUN-21", "CLI-RUN-23")
@pytest.mark.timeout(120)
async def test_much_input_and_much_output_do_not_wait_for_each_other(ground: Ground) -> None:
    # It prints before, while and after it reads; a pipe holds a hundredth of that.
    script = (
        f"{PYTHON}import sys, hashlib\n"
        "seen = hashlib.sha256()\n"
        f"sys.stdout.write('o' * {MUCH // 2}); sys.stdout.flush()\n"
        f"sys.stderr.write('e' * {MUCH // 2}); sys.stderr.flush()\n"
        "while piece := sys.stdin.buffer.read(1 << 16):\n"
        "    seen.update(piece)\n"
        f"sys.stdout.write('o' * {MUCH - MUCH // 2} + seen.hexdigest())\n"
        "sys.stdout.flush()\n"
    )
    ground.program("mill", script, timeoutSec=100)
    sent = json.dumps({"text": "i" * MUCH})
    async with ground.opened() as hf:
        told = await hf.settle("mill", sent)
    assert told.ok, told.failure
    assert isinstance(told.result, dict)
    assert str(told.result["head"]).startswith("ooo")
    assert told.metadata.output_bytes == MUCH + MUCH // 2 + 64
    (record,) = ground.records()
    assert (record["stdoutBytes"], record["stderrBytes"]) == (MUCH + 64, MUCH // 2)
    assert (record["exit"], record["truncated"]) == (0, True)
    assert told.metadata.tail is not None
    assert told.metadata.tail.endswith(hashlib.sha256(sent.encode()).hexdigest())


@pytest.mark.req("CLI-RUN-22")
@pytest.mark.parametrize(("script", "ok"), [("echo '[1]'", True), ("exit 3", False)])
async def test_a_program_that_reads_nothing_is_judged_as_usual(
    ground: Ground, script: str, ok: bool
) -> None:
    ground.program("deaf", f"exec <&-\n{script}")
    async with ground.opened() as hf:
        told = await hf.settle("deaf", json.dumps({"text": "x" * 1_000_000}))
    if ok:
        assert told.result == [1]
    else:
        assert failure(told).message == "exit status 3"
    (record,) = ground.records()
    assert record["exit"] == (0 if ok else 3)


@pytest.mark.req("CLI-RUN-23")
async def test_nothing_that_was_printed_last_is_lost(ground: Ground) -> None:
    ground.program("last", "head -c 60000 /dev/zero | tr '\\0' x; exec printf y")
    async with ground.opened() as hf:
        for _ in range(20):
            told = await hf.settle("last", {})
            assert told.result == {"text": "x" * 60_000 + "y"}


async def gone(pid_file: Path) -> None:
    """Wait until no process is left whose words hold what stands in the file."""
    mark = pid_file.read_text("utf-8").strip().encode()
    processes = Path("/proc")
    with anyio.fail_after(15):
        await until(lambda: not any(_has(mark, one) for one in processes.glob("[0-9]*")))


def _written(file: Path) -> bool:
    """Whether it is there with what it is to hold: it is made first, and empty."""
    return file.exists() and bool(file.read_text("utf-8").strip())


def _has(mark: bytes, process: Path) -> bool:
    try:
        return mark in (process / "cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.req("CLI-TMO-01", "CLI-RUN-15", "CLI-RUN-16")
@pytest.mark.parametrize("confinement", [None, "landlock"])
async def test_at_its_limit_a_program_is_ended_with_all_it_started(
    ground: Ground, confinement: Confinement | None
) -> None:
    mark = f"31.{os.getpid()}{'5' if confinement else '7'}"
    script = (
        f"echo {mark} > mark; echo '{{\"a\":1}}'; echo half >&2; trap '' TERM\n"
        f"setsid sleep {mark} & sleep {mark} & sleep {mark}\n"
    )
    ground.program("slow", script, timeoutSec=1, requires=WRITES)
    async with ground.opened(confinement=confinement) as hf:
        failed = failure(await hf.settle("slow", {}))
        assert (failed.kind, failed.message) == (FailureKind.TIMEOUT, "tool timed out")
        assert failed.retryable
        hint = f"It may take 1 s; timeoutSec of slow in the manifest in {ground.manifest} allows"
        printed = {"stdout": '{"a":1}\n', "stderr": "half\n"}
        assert failed.extras == {**printed, "hint": f"{hint} more."}
        await gone(ground.workspace / "mark")
    (record,) = ground.records()
    assert (record["exit"], record["stdoutBytes"]) == (-1, 8)


async def test_what_a_program_leaves_behind_ends_with_it(ground: Ground) -> None:
    mark = f"32.{os.getpid()}9"
    ground.program("leaves", f"echo {mark} > mark; sleep {mark} & echo '\"done\"'", requires=WRITES)
    async with ground.opened() as hf:
        assert (await hf.settle("leaves", {})).result == "done"
        await gone(ground.workspace / "mark")
        assert all(one.state != "running" for one in hf.commands.all())


async def test_a_program_that_takes_long_is_told_to_be_running(ground: Ground) -> None:
    ground.program("waits", "until [ -e heard ]; do sleep 0.05; done; echo '\"done\"'")
    said: list[str | None] = []

    def heard(progress: Progress) -> None:
        said.append(progress.message)
        (ground.workspace / "heard").touch()

    async with ground.opened() as hf:
        assert (await hf.settle("waits", {}, progress=heard)).result == "done"
    assert said[0] == "waits is running for 1 s"


async def test_where_there_is_no_sandbox_the_answer_is_that_and_nothing_around_it(
    ground: Ground,
) -> None:
    class Nowhere:
        async def run(self, *_program: object, **_given: object) -> CommandReport:
            raise Unavailable("there is no sandbox")

    ground.program("waits", "exit 0")
    (tool,) = ground.source().tools()
    ports: Ports = {Programs: lambda _runtime: Nowhere()}
    session = Holdfast(tools=[tool], settings=Settings(), workspace=ground.workspace, ports=ports)
    async with session as hf:
        failed = failure(await hf.settle("waits", {}))
    assert (failed.kind, failed.message) == (FailureKind.UNAVAILABLE, "there is no sandbox")


async def test_an_interrupt_ends_the_program(ground: Ground) -> None:
    mark = f"33.{os.getpid()}1"
    ground.program("waits", f"echo {mark} > mark; sleep {mark}", requires=WRITES)
    async with ground.opened() as hf:
        abort = Abort()
        answers: list[Envelope] = []

        async def call() -> None:
            answers.append(await hf.settle("waits", {}, abort=abort))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            with anyio.fail_after(15):
                await until(lambda: _written(ground.workspace / "mark"))
            abort.set()
        assert failure(answers[0]).kind == FailureKind.EXECUTION_ERROR
        assert not failure(answers[0]).retryable
        await gone(ground.workspace / "mark")


async def test_a_person_may_end_a_program(ground: Ground) -> None:
    mark = f"34.{os.getpid()}1"
    ground.program("waits", f"echo out; echo {mark} > mark; sleep {mark}", requires=WRITES)
    async with ground.opened() as hf:
        answers: list[Envelope] = []

        async def call() -> None:
            answers.append(await hf.settle("waits", {}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            with anyio.fail_after(15):
                await until(lambda: _written(ground.workspace / "mark"))
            (running,) = hf.commands.all()
            assert hf.commands.terminate(running.id)
        ended = failure(answers[0])
    assert ended.kind == FailureKind.USER_DENIED
    assert "A person ended the program" in ended.message
    assert ended.extras["stdout"] == "out\n"


@pytest.mark.req("CLI-AUD-06", "CLI-AUD-08", "CLI-AUD-05")
async def test_every_program_leaves_a_line_without_what_it_was_told(ground: Ground) -> None:
    ground.program("fine", "cat", command=["./tools/bin/fine", "--key=sk-12", "tok-ab"])
    ground.declare(name="gone", command=["./tools/bin/gone"])
    async with ground.opened(redact="tok-[a-z]+", model_keys=("sk-12",)) as hf:
        await hf.settle("fine", '{"said": "never-to-be-seen"}')
        await hf.settle("gone", "{}")
    fine, missing = ground.records()
    program = str(ground.manifest / "tools" / "bin" / "fine")
    assert fine["argv"] == [program, "--key=***REDACTED***", "***REDACTED***"]
    assert (fine["tool"], fine["cwd"], fine["exit"]) == ("fine", str(ground.workspace), 0)
    assert (missing["tool"], missing["exit"], missing["stdoutBytes"]) == ("gone", -1, 0)
    assert "never-to-be-seen" not in json.dumps(ground.records())


@pytest.mark.req("CLI-TMO-03")
@pytest.mark.parametrize(
    ("written", "tools", "general", "counts"),
    [
        (5, 7.0, 9.0, 5.0),
        (None, 7.0, 9.0, 7.0),
        (None, None, 9.0, 9.0),
        (0, 7.0, 9.0, 7.0),
        (-1, None, 30.0, 30.0),
        (600, None, 30.0, 600.0),
    ],
)
def test_whose_limit_counts(
    ground: Ground, written: int | None, tools: float | None, general: float, counts: float
) -> None:
    ground.program("one", "echo 1", timeoutSec=written)
    defaults = msgspec.structs.replace(DEFAULTS, tool_seconds=tools, seconds=general)
    (tool,) = ground.source(defaults).tools()
    assert tool.limits.wall_seconds is not None
    assert counts < tool.limits.wall_seconds < counts + 30
