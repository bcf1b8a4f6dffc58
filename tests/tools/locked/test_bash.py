"""`bash`: one command per call, in a real sandbox."""

import re
import time
from pathlib import Path

import msgspec
import pytest
from anyio import create_task_group
from execution.processes.ground import running_in
from interrupts import Running, ends_at_once, until
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import CommandSettings, LimitSettings, Settings
from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.runtime import Progress

pytestmark = pytest.mark.anyio


async def yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="test")


def with_settings(**changed: object) -> Settings:
    return msgspec.structs.replace(UNRECORDED, **changed)


@pytest.mark.req("SPEC-BASH-01", "SPEC-BASH-04", "SPEC-BASH-05", "SPEC-LOCK-10")
async def test_it_answers_with_both_streams_and_the_exit_code(workspace: Path) -> None:
    async with opened(workspace, "locked", approver=yes) as hf:
        tool = next(tool for tool in hf.tools if tool.name == "bash")
        properties = tool.input_schema["properties"]
        assert isinstance(properties, dict)
        assert [*properties] == ["command", "workdir", "timeout_ms", "description"]
        assert tool.input_schema["required"] == ["command"]
        assert [one.cmd for one in tool.requires.shell] == ["*"]
        assert {use.capability for use in tool.uses} >= {"shell.run"}
        ran = await result(hf, "bash", command="echo out; echo err >&2; exit 3")
        assert ran == {
            "stdout": "out\n",
            "stderr": "err\n",
            "exit_code": 3,
            "timed_out": False,
            "truncated": False,
        }
        killed = await result(hf, "bash", command="exec python3 -c 'import os; os.kill(0, 9)'")
        assert (killed["exit_code"], killed["signal"]) == (None, "SIGKILL")


@pytest.mark.req("SPEC-BASH-02", "SPEC-BASH-10")
async def test_nothing_of_a_call_is_seen_by_the_next(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    async with opened(workspace, "locked", approver=yes) as hf:
        first = await result(hf, "bash", command="cd sub && export MARK=set && pwd && cat")
        assert first["stdout"] == f"{workspace}/sub\n"
        second = await result(hf, "bash", command="pwd; printenv MARK; printenv -0 HOME | wc -l")
        assert second["stdout"].startswith(f"{workspace}\n")
        assert "set" not in second["stdout"]


@pytest.mark.req("SPEC-BASH-13")
async def test_it_runs_where_it_is_told_and_only_inside(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "file").write_text("x")
    (workspace / "out").symlink_to("/usr")
    (workspace / "in").symlink_to("sub")
    async with opened(workspace, "locked") as hf:
        for place in ("sub", "./sub/", f"{workspace}/sub", "in"):
            assert (await result(hf, "bash", command="pwd -P", workdir=place))["stdout"] == (
                f"{workspace}/sub\n"
            )
        for place, kind in (
            ("missing", FailureKind.NOT_FOUND),
            ("file", FailureKind.INVALID_ARGS),
            ("out", FailureKind.REJECTED),
            ("/usr", FailureKind.REJECTED),
            ("..", FailureKind.REJECTED),
        ):
            refused = await failure(hf, "bash", command="touch ran", workdir=place)
            assert refused.kind == kind, place
        assert not list(workspace.rglob("ran"))


@pytest.mark.req("SPEC-BASH-07")
async def test_at_its_deadline_it_is_ended_and_keeps_what_it_printed(workspace: Path) -> None:
    async def check(hf: Holdfast, asked: str, said: str, least: float) -> None:
        command = f"trap '{asked}' TERM; echo begun; while :; do sleep 0.05; done"
        for deadline in (300, 3_000):  # a busy machine may not have begun it by the first
            before = time.monotonic()
            ran = await result(hf, "bash", command=command, timeout_ms=deadline)
            assert (ran["timed_out"], ran["exit_code"]) == (True, None)
            if ran["stdout"]:
                break
        assert ran["stdout"] == said
        assert time.monotonic() - before >= least

    async with opened(workspace, "locked") as hf:
        async with create_task_group() as group:
            group.start_soon(check, hf, "echo asked; exit", "begun\nasked\n", 0.0)
            group.start_soon(check, hf, "", "begun\n", 3.0)  # killed after the grace period
        assert not running_in(workspace)


async def test_the_host_decides_how_long_a_command_may_take(workspace: Path) -> None:
    times = CommandSettings(default_seconds=0.3, most_seconds=2.0)
    async with opened(workspace, "locked", settings=with_settings(commands=times)) as hf:
        tool = next(tool for tool in hf.tools if tool.name == "bash")
        properties = tool.input_schema["properties"]
        assert isinstance(properties, dict)
        shown = properties["timeout_ms"]
        assert isinstance(shown, dict)
        assert (shown["minimum"], shown["default"], shown["maximum"]) == (1, 300, 2000)
        assert (await result(hf, "bash", command="sleep 60"))["timed_out"] is True
        refused = await failure(hf, "bash", command="true", timeout_ms=2001)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "timeout_ms")
        assert (await result(hf, "bash", command="true", timeout_ms=2000))["exit_code"] == 0


@pytest.mark.req("SPEC-TRUNC-11")
async def test_two_hundred_kilobytes_of_both_streams_are_shown(workspace: Path) -> None:
    limit = 200 * 1024
    async with opened(workspace, "locked") as hf:
        exact = f"head -c {limit - 3} /dev/zero | tr '\\0' x; printf err >&2"
        whole = await answer(hf, "bash", command=exact)
        assert whole.metadata.truncated is False
        assert isinstance(whole.result, dict)
        assert whole.result["truncated"] is False
        for over in (limit - 2, limit + 70_000, 2_000_000):
            command = f"head -c {over} /dev/zero | tr '\\0' x; printf err >&2; exit 3"
            cut = await answer(hf, "bash", command=command)
            result = cut.result
            assert isinstance(result, dict)
            assert {key: value for key, value in result.items() if key != "head"} == {
                "exit_code": 3,
                "timed_out": False,
                "truncated": True,
            }
            assert result["head"] == ("x" * over + "err")[:limit]
            assert cut.metadata.truncated is True
            assert cut.metadata.output_bytes == over + 3
            assert cut.metadata.tail is not None
            assert "xerr".endswith(cut.metadata.tail[-4:])
            assert cut.metadata.output_path is not None
            kept = Path(cut.metadata.output_path).read_bytes()
            assert kept == b"x" * over + b"err"


async def test_the_file_holds_both_streams_as_they_came_and_begins_as_the_head(
    workspace: Path,
) -> None:
    (workspace / "print.py").write_text(
        "import os\n"
        "for place in range(30):\n"
        "    os.write(1 + place % 2, (chr(97 + place % 26) * 20_000).encode())\n"
    )
    async with opened(workspace, "locked") as hf:
        cut = await answer(hf, "bash", command="python3 print.py")
        assert isinstance(cut.result, dict)
        assert cut.metadata.output_path is not None
        content = Path(cut.metadata.output_path).read_bytes().decode()
        assert len(content) == 600_000
        assert content.startswith(str(cut.result["head"]))
        assert content.endswith(cut.metadata.tail or "-")


async def test_a_hundred_megabytes_go_to_the_file_and_not_through_memory(workspace: Path) -> None:
    limits = LimitSettings(sidecar_call_bytes=128 * 1024 * 1024)
    async with opened(workspace, "locked", settings=with_settings(limits=limits)) as hf:
        await result(hf, "bash", command="true")
        Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak begins anew
        before = _own_peak()
        cut = await answer(hf, "bash", command="head -c 100000000 /dev/zero")
        assert cut.metadata.output_bytes == 100_000_000
        assert cut.metadata.dropped_bytes is None
        assert cut.metadata.output_path is not None
        assert Path(cut.metadata.output_path).stat().st_size == 100_000_000
        assert _own_peak() - before < 50_000


async def test_what_is_past_the_quota_is_counted(workspace: Path) -> None:
    limits = LimitSettings(sidecar_call_bytes=1_000_000)
    async with opened(workspace, "locked", settings=with_settings(limits=limits)) as hf:
        cut = await answer(hf, "bash", command="head -c 3000000 /dev/zero | tr '\\0' x")
        assert (cut.metadata.output_bytes, cut.metadata.dropped_bytes) == (3_000_000, 2_000_000)


def _own_peak() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    assert found is not None
    return int(found[1])


async def test_what_the_sandbox_kept_it_from_is_a_refusal(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.write_text("secret")
    async with opened(workspace, "locked") as hf:
        refused = await failure(hf, "bash", command="echo begun; cat /etc/hostname")
        assert refused.kind == FailureKind.REJECTED
        assert "/etc/hostname" in refused.message
        assert refused.extras["stdout"] == "begun\n"
        carried = await answer(hf, "bash", command=f"echo changed > {outside}; true")
        assert carried.failure is None
        assert outside.read_text() == "secret"


async def test_warnings_of_the_report_ride_along(workspace: Path) -> None:
    async with opened(workspace, "locked", approver=yes) as hf:
        silent = await answer(hf, "bash", command="true | cat")
        assert len(silent.warnings) == 1
        left = await answer(hf, "bash", command="sleep 30 & echo started")
        assert isinstance(left.result, dict)
        assert left.result["stdout"] == "started\n"
        assert any("background" in one for one in left.warnings)


async def test_its_description_is_for_who_looks_on(workspace: Path) -> None:
    heard: list[Progress] = []
    async with opened(workspace, "locked", progress=heard.append) as hf:
        await result(hf, "bash", command="true", description="Nothing at all")
        assert [one.message for one in heard] == ["Nothing at all"]


async def test_a_person_may_end_it(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:

        def ended() -> bool:
            return any(hf.commands.terminate(one.id) for one in hf.commands.all())

        async with create_task_group() as group:
            group.start_soon(until, ended)
            ran = await answer(hf, "bash", command="sleep 60")
            assert isinstance(ran.result, dict)
            assert (ran.result["exit_code"], ran.result["timed_out"]) == (None, False)
            assert "A person ended the command." in ran.warnings


async def test_an_interrupt_ends_it_at_once(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:

        async def begun(turn: int) -> Running:
            mark = workspace / f"begun{turn}"
            return Running({"command": f"touch {mark.name}; sleep 61.25"}, mark.exists)

        await ends_at_once(hf, "bash", begun)
        assert not hf.commands.all() or {one.state for one in hf.commands.all()} == {"killed"}
