"""Commands of a tool, through the whole way of a call: confined, bounded, told."""

import os
import signal
import tempfile
from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import msgspec
import pytest
from execution.processes.ground import each

from holdfast import Holdfast, Runtime, tool
from holdfast.app.hands import UNCONFINED_REMARK
from holdfast.app.settings import LimitSettings, SandboxSettings, Settings, Surroundings
from holdfast.contract.call import Ask
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json
from holdfast.contract.ports import Answer, Approver
from holdfast.contract.shell import CommandLimits, CommandReport, Confinement, denial_of
from holdfast.contract.tool import Limits
from holdfast.execution.processes.tiers import STRONGEST_FIRST
from holdfast.runtime.abort import Abort

EVERYTHING = {"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]}
SECRET = "tr0ub4dor-and-3"
REPORTS: dict[str, CommandReport] = {}
QUICK = CommandLimits(wall=0.3, grace=0.2)


@tool(requires=EVERYTHING)
async def run(rt: Runtime, command: str, cwd: str | None = None) -> dict[str, object]:
    """Run a command."""
    report = REPORTS["last"] = await rt.shell.run(command, cwd=cwd)
    denial = denial_of(report)
    if denial is not None:
        raise denial
    return {"exit_code": report.exit_code, "stdout": report.stdout.text()}


@tool(requires=EVERYTHING)
def run_in_a_thread(rt: Runtime, words: list[str]) -> str:
    """Run a program."""
    return rt.wait(rt.shell.run(words, stdin=b"given")).stdout.text()


@tool(requires=EVERYTHING, limits=Limits(wall_seconds=0.3))
async def slow(rt: Runtime, command: str) -> int | None:
    """Run something too slow for its tool."""
    return (await rt.shell.run(command)).exit_code


@tool(requires={"shell": [{"cmd": "*"}]})
async def run_without_files(rt: Runtime, command: str) -> str:
    """Run where the workspace is out of reach."""
    return (await rt.shell.run(command)).stdout.text()


class Place:
    """A workspace, and where holdfast keeps its own."""

    def __init__(self, tmp_path: Path) -> None:
        self.workspace = tmp_path / "workspace"
        self.home = tmp_path / "own"
        for folder in (self.workspace, self.home):
            folder.mkdir()

    def opened(
        self,
        *tools: object,
        confinement: Confinement | None = None,
        environment: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
        approver: Approver | None = None,
    ) -> Holdfast:
        return Holdfast(
            approver=approver,
            tools=tools or (run, run_in_a_thread, slow),
            workspace=self.workspace,
            settings=Settings(
                sandbox=SandboxSettings(confinement=confinement), limits=LimitSettings()
            ),
            surroundings=Surroundings(
                data_home=self.home,
                environment={"PATH": os.defpath, **(environment or {})},
                secrets=secrets,
            ),
        )


async def willing(_ask: Ask) -> Answer:
    """Says yes: without a file system of its own a writing command is asked about."""
    return Answer(allowed=True, by="test")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def elsewhere() -> Generator[Path]:
    """A folder that no sandbox shows: its own temporary directory hides the machine's."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


def value(envelope: Envelope) -> dict[str, object]:
    assert envelope.ok, envelope.failure
    return cast("dict[str, object]", decode_json(envelope.result_json))


async def test_a_command_runs_in_the_workspace_with_a_small_environment(place: Place) -> None:
    given = {"HOME": "/home/ada", "LANG": "C", "AWS_SECRET_KEY": "x", "EDITOR": "vi"}
    async with place.opened(environment=given) as hf:
        told = value(await hf.settle("run", {"command": "pwd; env -0 | tr '\\0' '\\n'"}))
        first, *listed = str(told["stdout"]).splitlines()
        variables = dict(line.split("=", 1) for line in listed)
    assert first == str(place.workspace)
    shells_own = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert set(variables) - shells_own == {
        "PATH", "HOME", "LANG", "TMPDIR", "HOLDFAST_SESSION", "HOLDFAST_WORKSPACE"
    }  # fmt: skip
    assert variables["HOLDFAST_WORKSPACE"] == str(place.workspace)
    assert variables["HOME"].startswith(variables["TMPDIR"])


@pytest.mark.req("SPEC-LAYER-04")
@pytest.mark.parametrize("confinement", [None, "landlock"])
async def test_what_the_sandbox_refuses_is_rejected_by_name(
    place: Place, elsewhere: Path, confinement: Confinement | None
) -> None:
    outside = elsewhere / "outside.txt"
    outside.write_text("not yours", "utf-8")
    async with place.opened(confinement=confinement, approver=willing) as hf:
        for command, target, accesses in (
            (f"cat {outside}", str(outside), ("read",)),
            (f"cat {outside}/x", f"{outside}/x", ("read",)),
            (f"cat {outside}.none/x", f"{outside}.none/x", ("read",)),
            (f"touch {outside}.new", f"{outside}.new", ("write",)),
            # bash says the same of `<` and `>`.
            (f"echo no >{outside}", str(outside), ("read", "write")),
            ("touch /usr/new", "/usr/new", ("write",)),
        ):
            failure = (await hf.settle("run", {"command": command})).failure
            assert failure is not None
            assert (failure.kind, failure.extras["target"]) == (FailureKind.REJECTED, target)
            wanted = " or ".join(f"requires.fs.{access} = [{target!r}]" for access in accesses)
            assert failure.extras["requirements"] == [wanted]
            assert failure.message.startswith(f"The command says it could not reach {target!r}")
            assert "not yours" not in str(failure.extras)
        # A failure of the command's own is an output.
        assert value(await hf.settle("run", {"command": "exit 3 | cat"}))["exit_code"] == 3
    assert outside.read_text("utf-8") == "not yours"


async def test_a_directory_out_of_reach_is_refused_before_anything_runs(place: Place) -> None:
    (place.workspace / "sub").mkdir()
    async with place.opened() as hf:
        told = value(await hf.settle("run", {"command": "pwd", "cwd": "sub"}))
        assert told["stdout"] == f"{place.workspace}/sub\n"
        failure = (await hf.settle("run", {"command": "pwd", "cwd": "/srv"})).failure
    assert failure is not None
    assert (failure.kind, failure.extras["target"]) == (FailureKind.REJECTED, "/srv")
    assert failure.extras["requirement"] == "requires.fs.read = ['/srv']"


async def test_without_files_a_command_begins_in_its_temporary_directory(place: Place) -> None:
    async with place.opened(run_without_files) as hf:
        told = value(await hf.settle("run_without_files", {"command": "pwd; echo $TMPDIR; ls"}))
    first, second = str(told["text"]).split()[:2]
    assert first == second


async def test_a_synchronous_tool_waits_for_its_command(place: Place) -> None:
    async with place.opened() as hf:
        envelope = await hf.settle("run_in_a_thread", {"words": ["cat", "-", ";", "ls"]})
        assert value(envelope) == {"text": "given"}


async def test_a_tool_past_its_time_takes_its_command_with_it(place: Place) -> None:
    beat = place.workspace / "beat"
    async with place.opened() as hf:
        command = "while :; do echo . >>beat; sleep 0.02; done"
        failure = (await hf.settle("slow", {"command": command})).failure
        assert failure is not None
        assert failure.kind == FailureKind.TIMEOUT
        with anyio.fail_after(10):
            while True:
                seen = beat.stat().st_size
                await anyio.sleep(0.3)
                if beat.stat().st_size == seen:
                    break


@pytest.mark.req("SPEC-CHECK-02", "SPEC-CHECK-03")
async def test_an_abort_reaches_every_running_tool_and_keeps_what_was_printed(
    place: Place,
) -> None:
    abort = Abort()
    ended: list[CommandReport] = []

    @tool(requires=EVERYTHING)
    async def part(rt: Runtime, name: str) -> None:
        """Print a name and wait."""
        ended.append(await rt.shell.run(f"echo {name}; touch {name}; exec sleep 60"))

    names = ("one", "two", "three")
    async with place.opened(part) as hf, anyio.create_task_group() as group:
        for name in names:
            group.start_soon(partial(hf.settle, "part", {"name": name}, abort=abort))
        with anyio.fail_after(10):
            while not all((place.workspace / name).exists() for name in names):  # noqa: ASYNC110 - a file tells nobody
                await anyio.sleep(0.01)
        abort.set()
    assert sorted(one.stdout.text().strip() for one in ended) == sorted(names)
    for report in ended:
        assert (report.killed_by, report.exit_code) == ("abort", None)
        assert report.signal == signal.SIGTERM


async def test_closing_ends_all_and_leaves_nothing(place: Place) -> None:
    async with place.opened() as hf:
        command = "touch $TMPDIR/x; mkdir $HOME/d; touch $HOME/d/f; chmod 0 $HOME/d"
        assert value(await hf.settle("run", {"command": command}))["exit_code"] == 0
        assert (await hf.settle("run", {"command": "head -c 900000 /dev/zero; echo end"})).ok
        assert "bytes omitted" in REPORTS["last"].stdout.text()
        kept = Path(REPORTS["last"].output_path or "")
        assert kept.stat().st_size == 900_004
        assert kept.stat().st_mode & 0o777 == 0o600
        assert place.home in kept.parents
    assert not kept.exists()
    assert list((place.home / "sessions").iterdir()) == []


async def test_secrets_are_gone_from_what_is_shown_and_kept(place: Place) -> None:
    async with place.opened(secrets=(SECRET,)) as hf:
        # Longer than memory holds, and cut anywhere: written in pieces that end inside of it.
        (place.workspace / "s").write_text(f"{'x' * 65_530}{SECRET}" * 12, "utf-8")
        told = value(await hf.settle("run", {"command": "cat s; printf tr0ub; printf 4dor-and-3"}))
        kept = Path(REPORTS["last"].output_path or "").read_bytes()
    assert SECRET not in str(told) + REPORTS["last"].stdout.text()
    assert SECRET.encode() not in kept
    assert kept.count(b"***REDACTED***") == 13


async def test_a_sandbox_that_cannot_be_had_is_unavailable_with_all_reasons(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(place.home))
    tiers = tuple(one for one in STRONGEST_FIRST if one.name == "bubblewrap")
    monkeypatch.setattr("holdfast.execution.processes.sandbox.STRONGEST_FIRST", tiers)
    async with place.opened() as hf:
        failure = (await hf.settle("run", {"command": "true"})).failure
    assert failure is not None
    assert failure.kind == FailureKind.UNAVAILABLE
    assert "install the package bubblewrap" in failure.message


async def test_a_place_that_cannot_be_written_is_unavailable(place: Place) -> None:
    place.home.rmdir()
    place.home.write_text("a file", "utf-8")
    async with place.opened() as hf:
        failure = (await hf.settle("run", {"command": "true"})).failure
    assert failure is not None
    assert failure.kind == FailureKind.UNAVAILABLE
    assert "one of its folders is a file: move that away" in failure.message


async def test_unconfined_is_said_in_every_answer(place: Place) -> None:
    async with place.opened(confinement="unconfined") as hf:
        good = await hf.settle("run", {"command": "test -e /etc/passwd"})
        bad = await hf.settle("run", {"command": 7, "x": 1})
    assert value(good)["exit_code"] == 0
    for envelope in (good, bad):
        assert UNCONFINED_REMARK in envelope.warnings
    async with place.opened() as hf:
        assert (await hf.settle("run", {"command": "true"})).warnings == ()


async def test_a_sandbox_that_was_lost_is_opened_anew(place: Place) -> None:
    async with place.opened(confinement="landlock", approver=willing) as hf:
        assert value(await hf.settle("run", {"command": "true"}))["exit_code"] == 0
        (keeper,) = _wardens_below(os.getpid())
        os.kill(keeper, signal.SIGKILL)
        with anyio.fail_after(10):
            while _wardens_below(os.getpid()):  # noqa: ASYNC110 - a process tells nobody when it goes
                await anyio.sleep(0.01)
        assert value(await hf.settle("run", {"command": "true"}))["exit_code"] == 0


def _wardens_below(parent: int) -> list[int]:
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "stat").read_text("utf-8").rsplit(")", 1)[1].split()
            is_warden = b"execution.warden" in (entry / "cmdline").read_bytes()
            if is_warden and words[0] != "Z" and int(words[1]) == parent:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@tool(
    requires=EVERYTHING,
    uses={"command": "shell.run"},
)
async def sh(rt: Runtime, command: str) -> int | None:
    """Run a command that is judged."""
    return (await rt.shell.run(command)).exit_code


async def test_without_a_file_system_of_its_own_writing_commands_are_asked_about(
    place: Place,
) -> None:
    async with place.opened(sh, confinement="landlock") as hf:
        assert (await hf.settle("sh", {"command": "ls"})).ok
        failure = (await hf.settle("sh", {"command": "touch x"})).failure
        assert failure is not None
        assert failure.kind == FailureKind.REJECTED
    if os.geteuid() == 0:
        async with place.opened(sh) as hf:
            assert (await hf.settle("sh", {"command": "touch x"})).ok


@pytest.mark.parametrize(
    ("limits", "command", "said"),
    [
        ({"cpu_seconds": 1}, "while :; do :; done", "sandbox.cpu_seconds"),
        ({"file_bytes": 1000}, "exec head -c 2000 /dev/zero > big", "sandbox.file_bytes"),
    ],
)
async def test_what_a_limit_ended_is_told_which(
    place: Place, limits: dict[str, float], command: str, said: str
) -> None:
    hf = Holdfast(
        tools=[run],
        workspace=place.workspace,
        settings=Settings(sandbox=msgspec.convert(limits, SandboxSettings)),
        surroundings=Surroundings(data_home=place.home, environment={"PATH": os.defpath}),
    )
    async with hf:
        await hf.settle("run", {"command": command})
    (warning,) = (one for one in REPORTS["last"].warnings if "setting" in one)
    assert said in warning


@each("namespaces", "bubblewrap", "landlock")
async def test_temporary_files_have_a_place_also_where_all_of_tmp_may_be_written(
    place: Place, elsewhere: Path, kind: Confinement
) -> None:
    files = {"read": ["**", "/tmp/**"], "write": ["**", "/tmp/**"]}

    @tool(requires={"fs": files, "shell": [{"cmd": "*"}]})
    async def make(rt: Runtime) -> str:
        """Make temporary files."""
        report = await rt.shell.run("touch ~/a && mktemp && mktemp -p /tmp")
        return f"{report.exit_code} {report.stdout.text()}"

    hf = Holdfast(
        approver=willing,
        tools=[make],
        workspace=place.workspace,
        settings=Settings(sandbox=SandboxSettings(confinement=kind)),
        surroundings=Surroundings(data_home=elsewhere, environment={"PATH": os.defpath}),
    )
    async with hf:
        code, own, shared = str(value(await hf.settle("make", {}))["text"]).split()
        assert code == "0"
        assert own.startswith(str(elsewhere.resolve()))
        Path(shared).unlink()
