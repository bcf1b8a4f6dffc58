"""`sandbox_exec`, `sandbox_process` and `shell_run`: the host's names, in a real sandbox."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from anyio import create_task_group
from execution.processes.ground import running_in, until_empty
from interrupts import Running, ends_at_once, until
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import CommandSettings, ProfileSettings
from holdfast.contract.failure import FailureKind
from holdfast.execution.processes import jobs
from holdfast.execution.processes.jobs import SessionJobs

pytestmark = pytest.mark.anyio

WITH_BACKGROUND = msgspec.structs.replace(UNRECORDED, commands=CommandSettings(background=True))


@asynccontextmanager
async def background(workspace: Path) -> AsyncGenerator[Holdfast]:
    async with opened(workspace, "host", settings=WITH_BACKGROUND) as hf:
        yield hf


@pytest.mark.req("OSA-SHL-01", "OSA-SHL-02", "OSA-SHL-03")
async def test_a_command_is_waited_for_and_any_exit_code_is_an_answer(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    async with opened(workspace, "host") as hf:
        for code in (0, 1, 77):
            ran = await result(hf, "sandbox_exec", command=f"echo out; echo err >&2; exit {code}")
            assert ran == {
                "stdout": "out\n",
                "stderr": "err\n",
                "exit_code": code,
                "cwd": str(workspace),
            }
        ran = await result(hf, "sandbox_exec", command="pwd", cwd="sub")
        assert (ran["stdout"], ran["cwd"]) == (f"{workspace}/sub\n", f"{workspace}/sub")


@pytest.mark.req("OSA-SHL-13")
async def test_a_directory_out_of_reach_is_refused_and_never_replaced(workspace: Path) -> None:
    async with opened(workspace, "host", settings=WITH_BACKGROUND) as hf:
        for cwd, kind in (("gone", FailureKind.NOT_FOUND), ("/usr", FailureKind.REJECTED)):
            for behind in (False, True):
                refused = await failure(
                    hf, "sandbox_exec", command="touch ran", cwd=cwd, background=behind
                )
                assert refused.kind == kind
        assert not list(workspace.iterdir())


@pytest.mark.req("OSA-SHL-15")
async def test_shell_run_says_the_same_without_the_directory(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        ran = await result(hf, "shell_run", command="echo '  out '; echo err >&2; exit 5")
        assert ran == {"stdout": "out", "stderr": "err", "exit_code": 5}


@pytest.mark.req("OSA-STR-02", "OSA-SHL-04")
async def test_no_clock_ends_them_but_silence(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        for name in ("sandbox_exec", "shell_run"):
            tool = next(tool for tool in hf.tools if tool.name == name)
            assert tool.limits.wall_seconds is None
            talks = "; ".join(f"echo {one}; sleep 0.2" for one in range(7))
            ran = await result(hf, name, command=talks, timeout=1)
            assert ran["stdout"].split() == ["0", "1", "2", "3", "4", "5", "6"]


@pytest.mark.req("OSA-SHL-05", "OSA-STR-08")
async def test_silence_ends_it_and_what_it_printed_is_kept(workspace: Path) -> None:
    async def check(hf: Holdfast, tool: str, asked: str, said: str) -> None:
        silent = f"trap '{asked}' TERM; echo begun; while :; do sleep 0.05; done"
        for seconds in (1, 5):  # a busy machine may not have begun it within the first
            ended = await failure(hf, tool, command=silent, timeout=seconds)
            assert (ended.kind, ended.retryable) == (FailureKind.TIMEOUT, True)
            if ended.extras["stdout"]:
                break
        assert ended.extras["stdout"] == said, tool

    async with opened(workspace, "host") as hf:
        async with create_task_group() as group:
            for tool in ("sandbox_exec", "shell_run"):
                group.start_soon(check, hf, tool, "echo asked; exit", "begun\nasked\n")
                group.start_soon(check, hf, tool, "", "begun\n")  # it is killed in the end
        assert not running_in(workspace)


async def test_a_person_who_ends_it_gets_a_result(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:

        def ended() -> bool:
            return any(hf.commands.terminate(one.id) for one in hf.commands.all())

        async with create_task_group() as group:
            group.start_soon(until, ended)
            ran = await result(hf, "sandbox_exec", command="sleep 60")
            assert (ran["killed_by"], ran["exit_code"]) == ("user", None)


async def test_each_stream_has_its_cap(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        command = "head -c 60000 /dev/zero | tr '\\0' o; head -c 20000 /dev/zero | tr '\\0' e >&2"
        for tool, out, err in (("sandbox_exec", 50_000, 10_000), ("shell_run", 10_000, 10_000)):
            ran = await result(hf, tool, command=command)
            assert (ran["stdout"].count("o") - 2, ran["stderr"].count("e")) == (
                pytest.approx(out, abs=20),
                pytest.approx(err, abs=20),
            )
            assert "TRUNCATED" in ran["stdout"]
        large = await answer(hf, "shell_run", command="head -c 900000 /dev/zero | tr '\\0' o")
        path = next(one for one in large.warnings if "All that it printed" in one).split()[-1]
        assert Path(path.rstrip(".")).stat().st_size == 900_000


@pytest.mark.req("OSA-SHL-12")
async def test_background_is_hidden_and_refused_unless_allowed(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        tool = next(tool for tool in hf.tools if tool.name == "sandbox_exec")
        assert list(tool.input_schema["properties"]) == ["command", "cwd", "timeout"]  # type: ignore[arg-type] - a schema's properties are an object
        for sent in (
            {"command": "touch ran", "background": True},
            {"arguments": {"command": "touch ran", "background": True}},
        ):
            refused = await failure(hf, "sandbox_exec", **sent)
            assert (refused.kind, refused.retryable) == (FailureKind.REJECTED, False)
            assert refused.field == "background"
        assert not list(workspace.iterdir())
    async with background(workspace) as hf:
        tool = next(tool for tool in hf.tools if tool.name == "sandbox_exec")
        assert "background" in tool.input_schema["properties"]  # type: ignore[operator] - a schema's properties are an object


@pytest.mark.req("OSA-SHL-07", "OSA-SHL-11", "OSA-SHL-20", "OSA-SHL-21", "OSA-SHL-23")
async def test_a_process_goes_on_and_is_managed(workspace: Path) -> None:
    async with background(workspace) as hf:
        command = "echo 1; echo 2; echo 3; while [ ! -e go ]; do sleep 0.05; done; exit 4"
        started = await result(hf, "sandbox_exec", command=command, background=True)
        pid = started["pid"]
        assert isinstance(pid, str)
        assert pid.isdigit()
        assert started == {
            "pid": pid,
            "log_file": started["log_file"],
            "cwd": str(workspace),
            "background": True,
        }
        log = {"pid": pid, "log_file": started["log_file"]}
        printed = Path(started["log_file"])
        await until(lambda: printed.read_text("utf-8") == "1\n2\n3\n")
        waited = await result(hf, "sandbox_process", action="wait", pid=pid, timeout=1)
        assert waited == {**log, "exited": False, "timed_out": True, "log_tail": "1\n2\n3\n"}
        polled = await result(hf, "sandbox_process", action="poll", pid=pid, tail_lines=2)
        assert polled == {**log, "alive": True, "log_tail": "2\n3\n"}
        (workspace / "go").touch()
        waited = await result(hf, "sandbox_process", action="wait", pid=pid, tail_lines=0)
        assert waited == {
            **log,
            "exited": True,
            "timed_out": False,
            "log_tail": "",
            "exit_code": 4,
        }
        polled = await result(hf, "sandbox_process", action="poll", pid=pid, tail_lines=1)
        assert polled == {**log, "alive": False, "log_tail": "3\n", "exit_code": 4}
        assert Path(started["log_file"]).read_text(encoding="utf-8") == "1\n2\n3\n"


@pytest.mark.req("OSA-SHL-22")
async def test_kill_ends_a_process_and_all_it_started(workspace: Path) -> None:
    async with background(workspace) as hf:
        for force, signal in ((False, "SIGTERM"), (True, "SIGKILL")):
            mark = workspace / signal
            command = f"trap 'echo asked; exit' TERM; touch {mark.name}; sleep 60 | sleep 61"
            started = await result(hf, "sandbox_exec", command=command, background=True)
            await until(mark.exists)
            await until(lambda: len(running_in(workspace)) >= 3)
            pid = started["pid"]
            ended = await result(hf, "sandbox_process", action="kill", pid=pid, force=force)
            assert ended == {"pid": pid, "killed": True, "signal": signal}
            polled = await result(hf, "sandbox_process", action="poll", pid=pid)
            assert polled["alive"] is False
            assert ("asked" in polled["log_tail"]) is not force
            await until_empty(workspace)


async def test_a_process_that_ended_long_ago_is_still_known(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "MOST_FINISHED", 0)
    async with background(workspace) as hf:
        started = await result(hf, "sandbox_exec", command="echo a; exit 3", background=True)
        pid = started["pid"]
        ended = await result(hf, "sandbox_process", action="wait", pid=pid)
        await result(hf, "sandbox_exec", command="sleep 60", background=True)
        polled = await result(hf, "sandbox_process", action="poll", pid=pid)
        log = {"pid": pid, "log_file": started["log_file"], "log_tail": "a\n", "exit_code": 3}
        assert polled == {**log, "alive": False}
        assert await result(hf, "sandbox_process", action="wait", pid=pid) == ended
        killed = await result(hf, "sandbox_process", action="kill", pid=pid)
        assert killed == {"pid": pid, "killed": False, "signal": None}


async def test_kill_tells_what_ended_it(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with background(workspace) as hf:

        async def kill(command: str) -> object:
            (workspace / "up").unlink(missing_ok=True)
            started = await result(hf, "sandbox_exec", command=command, background=True)
            await until((workspace / "up").exists)
            told = await result(hf, "sandbox_process", action="kill", pid=started["pid"])
            again = await result(hf, "sandbox_process", action="kill", pid=started["pid"])
            assert again == {"pid": started["pid"], "killed": False, "signal": None}
            return told["killed"], told["signal"]

        polite = "trap 'exit 0' TERM; touch up; while true; do sleep 0.05; done"
        assert await kill(polite) == (True, "SIGTERM")
        module = import_module("holdfast.tools.host.sandbox_process")
        monkeypatch.setattr(module, "_GRACE", 0.2)
        deaf = "trap '' TERM; touch up; while true; do sleep 0.05; done"
        assert await kill(deaf) == (True, "SIGKILL")
        exits = await result(hf, "sandbox_exec", command="exit 3", background=True)
        await result(hf, "sandbox_process", action="wait", pid=exits["pid"])
        told = await result(hf, "sandbox_process", action="kill", pid=exits["pid"], force=True)
        assert told == {"pid": exits["pid"], "killed": False, "signal": None}


@pytest.mark.req("OSA-SHL-19")
async def test_what_the_process_tool_takes(workspace: Path) -> None:
    async with background(workspace) as hf:
        for sent, field in (
            ({"action": "poll", "pid": "x1"}, "pid"),
            ({"action": "poll", "pid": ""}, "pid"),
            ({"action": "poll", "pid": "-1"}, "pid"),
            ({"action": "wait", "pid": "1", "timeout": 0}, "timeout"),
            ({"action": "wait", "pid": "1", "timeout": 301}, "timeout"),
            ({"action": "poll", "pid": "1", "tail_lines": 201}, "tail_lines"),
            ({"action": "stop", "pid": "1"}, "action"),
        ):
            refused = await failure(hf, "sandbox_process", **sent)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)
        tool = next(tool for tool in hf.tools if tool.name == "sandbox_process")
        properties = tool.input_schema["properties"]
        assert isinstance(properties, dict)
        defaults = {name: one.get("default") for name, one in properties.items() if one}  # type: ignore[union-attr] - every property is an object
        assert defaults == {
            "action": None,
            "pid": None,
            "timeout": 60,
            "tail_lines": 40,
            "force": False,
        }


@pytest.mark.req("OSA-SHL-24")
async def test_only_processes_of_this_session_are_touched(workspace: Path) -> None:
    async with background(workspace) as other, background(workspace) as hf:
        theirs = await result(other, "sandbox_exec", command="sleep 60", background=True)
        for pid in ("1", "999999", theirs["pid"]):
            for action in ("poll", "wait", "kill"):
                refused = await failure(hf, "sandbox_process", action=action, pid=pid)
                assert (refused.kind, refused.field) == (FailureKind.REJECTED, "pid")
        polled = await result(other, "sandbox_process", action="poll", pid=theirs["pid"])
        assert polled["alive"] is True


@pytest.mark.req("OSA-SHL-14")
async def test_a_turn_runs_so_many_commands(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        for _ in range(12):  # nobody said that a turn began
            assert (await answer(hf, "shell_run", command="true")).failure is None
        for _ in range(2):
            hf.new_turn()
            for place in range(10):
                tool = ("shell_run", "sandbox_exec", "bash")[place % 3]
                assert (await answer(hf, tool, command="true")).failure is None
            for sent in ('{"command": "touch ran"}', "{ no JSON", {"wrong": 1}):
                refused = (await hf.settle("sandbox_exec", sent)).failure
                assert refused is not None
                assert (refused.kind, refused.retryable) == (FailureKind.REJECTED, False)
            assert (await answer(hf, "todo", todos=[])).failure is None
        assert not list(workspace.iterdir())


async def test_the_host_decides_how_many(workspace: Path) -> None:
    own = {"host": ProfileSettings(commands_per_turn=1)}
    settings = msgspec.structs.replace(UNRECORDED, profile=own)
    async with opened(workspace, "host", settings=settings) as hf:
        hf.new_turn()
        assert (await answer(hf, "shell_run", command="true")).failure is None
        assert (await failure(hf, "shell_run", command="true")).kind == FailureKind.REJECTED


@pytest.mark.parametrize("tool", ["sandbox_exec", "shell_run"])
async def test_an_interrupt_ends_a_command_at_once(workspace: Path, tool: str) -> None:
    async with opened(workspace, "host") as hf:

        async def begun(turn: int) -> Running:
            mark = workspace / f"begun{turn}"
            return Running({"command": f"touch {mark.name}; sleep 60"}, mark.exists)

        await ends_at_once(hf, tool, begun)


@pytest.mark.parametrize("action", ["wait", "kill"])
async def test_an_interrupt_ends_the_waiting_at_once(
    workspace: Path, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[str] = []
    real = getattr(SessionJobs, action)

    async def noted(jobs: SessionJobs, job: str, /, **how: Any) -> Any:
        waited.append(job)
        return await real(jobs, job, **how)

    monkeypatch.setattr(SessionJobs, action, noted)
    async with background(workspace) as hf:

        async def begun(turn: int) -> Running:
            mark = workspace / f"deaf{turn}"
            deaf = f"trap '' TERM; touch {mark.name}; while true; do sleep 0.1; done"
            started = await result(hf, "sandbox_exec", command=deaf, background=True)
            await until(mark.exists)
            sent: dict[str, object] = {"action": action, "pid": started["pid"]}
            return Running(sent, lambda: len(waited) > turn)

        await ends_at_once(hf, "sandbox_process", begun)
