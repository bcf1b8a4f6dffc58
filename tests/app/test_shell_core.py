"""What every shell tool gets from `rt.shell`: pipefail, remarks, limits; and the three layers."""

import os
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from holdfast import Holdfast, Runtime, tool
from holdfast.app.settings import PolicySettings, Settings, Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.requirements import (
    FsRequirement,
    NetRequirement,
    RequirementSet,
    ShellRunRequirement,
)
from holdfast.contract.shell import CommandLimits, CommandReport, denial_of
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Hook, Inspection, Opinion

ANY_FILE = FsRequirement(read=("**",), write=("**",))
ANY_COMMAND = (ShellRunRequirement("*"),)
EVERYTHING = RequirementSet(ANY_FILE, NetRequirement(), ANY_COMMAND)
REPORTS: list[CommandReport] = []


@tool(requires=EVERYTHING)
async def sh(rt: Runtime, command: str, idle: float | None = None) -> int | None:
    """Run a command."""
    report = await rt.shell.run(command, limits=CommandLimits(idle=idle, grace=0.3))
    REPORTS.append(report)
    denial = denial_of(report)
    if denial is not None:
        raise denial
    return report.exit_code


def opened(tmp_path: Path, *tools: object, hooks: tuple[Hook, ...] = ()) -> Holdfast:
    for name in ("workspace", "own"):
        (tmp_path / name).mkdir(exist_ok=True)
    return Holdfast(
        tools=tools,
        workspace=tmp_path / "workspace",
        hooks=hooks,
        settings=Settings(policy=PolicySettings()),
        surroundings=Surroundings(
            data_home=tmp_path / "own", environment={"PATH": os.defpath, "HOME": "/nowhere"}
        ),
    )


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncGenerator[Holdfast]:
    async with opened(tmp_path, sh) as hf:
        yield hf


async def report_of(hf: Holdfast, command: str) -> CommandReport:
    envelope = await hf.settle("sh", {"command": command})
    assert envelope.ok, envelope.failure
    return REPORTS.pop()


@pytest.mark.req("OSA-PIP-01", "OSA-PIP-02")
async def test_pipelines_fail_where_any_part_of_them_does(shell: Holdfast) -> None:
    assert (await report_of(shell, "shopt -o pipefail")).stdout.text().split() == ["pipefail", "on"]
    for command, status in (
        ("false | true", 1),
        ("exit 5 | exit 3 | cat", 3),
        ("exit 3 | exit 4 | tee x", 4),
        ("true | tee x", 0),
    ):
        assert (await report_of(shell, command)).exit_code == status


@pytest.mark.req("OSA-PIP-03")
async def test_a_broken_pipe_is_a_mild_remark_and_no_failure(shell: Holdfast) -> None:
    report = await report_of(shell, "yes | head -n 2")
    assert (report.exit_code, report.stdout.text()) == (141, "y\ny\n")
    (warning,) = report.warnings
    assert "trustworthy" in warning


@pytest.mark.req("OSA-PIP-04", "OSA-PIP-05", "OSA-PIP-06")
@pytest.mark.parametrize(
    ("command", "remarked"),
    [
        ("true | cat", True),
        ("true 2>/dev/null", True),
        ("true || echo no", True),
        ("true '|'", True),
        ("true 2> /dev/null", False),
        ("true", False),
        ("echo x | cat", False),
        ("echo x >&2 | cat", False),
        ("echo | cat", False),
        ("false | cat", False),
    ],
)
async def test_silence_is_remarked_on_where_it_may_hide_something(
    shell: Holdfast, command: str, remarked: bool
) -> None:
    report = await report_of(shell, command)
    assert any("without output" in warning for warning in report.warnings) is remarked


@pytest.mark.req("OSA-STR-07")
async def test_the_idle_ceiling_restarts_with_every_byte(shell: Holdfast) -> None:
    talking = "for n in $(seq 15); do printf . >&$((1 + n % 2)); sleep 0.1; done"
    assert (await shell.settle("sh", {"command": talking, "idle": 1})).ok
    assert (REPORTS[-1].exit_code, REPORTS.pop().killed_by) == (0, None)
    await shell.settle("sh", {"command": "echo part; sleep 30", "idle": 0.5})
    ended = REPORTS.pop()
    assert (ended.killed_by, ended.stdout.text(), ended.exit_code) == ("idle", "part\n", None)


@tool(requires={"fs": {"read": ["docs/**"]}})
def look(rt: Runtime, path: str) -> str:
    """Read a file; its path is judged when it is opened, not before."""
    return rt.fs.read_text(path).text


@tool
async def get(rt: Runtime, url: str) -> int:
    """Fetch; the host is judged when it is asked for, not before."""
    return (await rt.net.fetch(url)).status


@pytest.mark.req("SPEC-LAYER-02")
async def test_what_is_not_declared_is_refused_before_it_is_opened_or_contacted(
    tmp_path: Path,
) -> None:
    trap = tmp_path / "workspace" / "trap"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        async with opened(tmp_path, look, get) as hf:
            os.mkfifo(trap)  # opening it would wait for a writer for ever
            file = (await hf.settle("look", {"path": "trap"})).failure
            host = (await hf.settle("get", {"url": url})).failure
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert file is not None
    assert (file.kind, file.extras["target"]) == (FailureKind.REJECTED, "trap")
    assert host is not None
    assert (host.kind, f"http://{host.extras['target']}/") == (FailureKind.REJECTED, url)


@pytest.mark.req("SPEC-CON-12")
async def test_one_more_tool_widens_the_sandbox_of_the_shell(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    narrow = RequirementSet(FsRequirement(read=("docs/**",)), NetRequirement(), ANY_COMMAND)

    @tool(requires=narrow)
    async def shell_only(rt: Runtime, command: str) -> int | None:
        """Run a command."""
        return (await rt.shell.run(command, cwd="docs")).exit_code

    @tool(requires={"fs": {"write": ["build/**"]}})
    def builder() -> None:
        """Would write to build."""

    for name in ("docs", "build"):
        (workspace / name).mkdir(parents=True)
    command = f"touch {workspace}/build/made"
    async with opened(tmp_path, shell_only) as hf:
        assert (await hf.settle("shell_only", {"command": command})).result != 0
        assert not (workspace / "build" / "made").exists()
    async with opened(tmp_path, shell_only, builder) as hf:
        assert (await hf.settle("shell_only", {"command": command})).result == 0
    assert (workspace / "build" / "made").exists()


class Watchful:
    """Permits everything, or refuses what names a forbidden word; notes that it was asked."""

    __name__ = "watchful"

    def __init__(self, forbidden: str | None) -> None:
        self._forbidden = forbidden
        self.asked = 0

    def __call__(self, inspection: Inspection, /) -> Opinion:
        self.asked += 1
        if self._forbidden is not None and self._forbidden in str(inspection.arguments):
            return Opinion("deny", "forbidden word")
        return NOTHING_AGAINST_IT


@pytest.mark.req("SPEC-LAYER-05")
@pytest.mark.parametrize("layer", ["capabilities", "watchdog", "sandbox"])
async def test_each_layer_refuses_alone(tmp_path: Path, layer: str) -> None:
    """Two of them permit everything; the third still refuses its own kind of failure."""
    ran: list[str] = []
    declared = RequirementSet() if layer == "capabilities" else EVERYTHING

    @tool(requires=declared, uses={"path": "fs.read"} if layer == "capabilities" else {})
    async def act(rt: Runtime, path: str) -> None:
        """Read a path in a command."""
        ran.append(path)
        if layer == "sandbox":
            report = await rt.shell.run(["cat", path])
            denial = denial_of(report)
            if denial is not None:
                raise denial

    watching = Watchful("secret" if layer == "watchdog" else None)
    targets = {"capabilities": "notes.txt", "watchdog": "secret.txt", "sandbox": "/etc/shadow"}
    async with opened(tmp_path, act, hooks=(watching,)) as hf:
        failure = (await hf.settle("act", {"path": targets[layer]})).failure
    assert failure is not None
    assert failure.kind == FailureKind.REJECTED
    assert ran == (["/etc/shadow"] if layer == "sandbox" else [])


@pytest.mark.req("SPEC-LAYER-01")
async def test_a_refusal_at_one_stage_means_that_no_later_one_runs(tmp_path: Path) -> None:
    watching = Watchful("secret")
    ran: list[str] = []

    @tool(requires=EVERYTHING, uses={"path": "fs.read"})
    async def act(rt: Runtime, path: str) -> int | None:
        """Look at a path, in the sandbox."""
        ran.append(path)
        return (await rt.shell.run(["test", "-e", path])).exit_code

    async with opened(tmp_path, act, hooks=(watching,)) as hf:

        async def stages(arguments: dict[str, object]) -> tuple[FailureKind | None, int, int]:
            asked, begun = watching.asked, len(ran)
            failure = (await hf.settle("act", arguments)).failure
            kind = None if failure is None else failure.kind
            return kind, watching.asked - asked, len(ran) - begun

        assert await stages({"path": 7, "x": 1}) == (FailureKind.INVALID_ARGS, 0, 0)
        assert await stages({"path": "/etc/shadow"}) == (FailureKind.REJECTED, 0, 0)
        assert await stages({"path": "secret"}) == (FailureKind.REJECTED, 1, 0)
        assert await stages({"path": "notes"}) == (None, 1, 1)


@tool(requires={"fs": {"read": ["**"]}, "shell": [{"cmd": "echo"}]})
async def only_echo(rt: Runtime, command: str | list[str]) -> str:
    """Run an echo."""
    return (await rt.shell.run(command)).stdout.text()


@tool
async def nothing_declared(rt: Runtime) -> str:
    """Run without leave."""
    return (await rt.shell.run("echo hi")).stdout.text()


@pytest.mark.parametrize(
    ("command", "fits"),
    [("echo a; echo b", True), (["echo", "a b"], True), (["/bin/echo", "a"], True),
     ("ls", False), (["ls"], False), ("echo $(ls)", False), ("echo a >x", False)],
)  # fmt: skip
async def test_a_body_runs_what_it_declared_and_nothing_else(
    tmp_path: Path, command: str | list[str], fits: bool
) -> None:
    async with opened(tmp_path, only_echo) as hf:
        failure = (await hf.settle("only_echo", {"command": command})).failure
    assert (failure is None) is fits
    if failure is not None:
        assert failure.kind == FailureKind.REJECTED


async def test_who_declared_no_command_runs_none(tmp_path: Path) -> None:
    async with opened(tmp_path, nothing_declared) as hf:
        failure = (await hf.settle("nothing_declared")).failure
    assert failure is not None
    assert failure.kind == FailureKind.REJECTED
    assert "requires.shell = [{'cmd': 'echo'}]" in failure.message


async def test_what_was_put_aside_is_said_whatever_the_tool_shows(shell: Holdfast) -> None:
    envelope = await shell.settle("sh", {"command": "mkdir -p .git/hooks"})
    (warning,) = envelope.warnings
    assert "appeared while the command ran" in warning
    assert (await shell.settle("sh", {"command": "true"})).warnings == ()


async def test_nobody_to_ask_still_tells_why(tmp_path: Path) -> None:
    @tool(requires=EVERYTHING, uses={"command": "shell.run"})
    async def judged(rt: Runtime, command: str) -> int | None:
        """Run a command that is judged."""
        return (await rt.shell.run(command)).exit_code

    async with opened(tmp_path, judged) as hf:
        failure = (await hf.settle("judged", {"command": "rm -r build"})).failure
    assert failure is None or "why" in failure.extras
