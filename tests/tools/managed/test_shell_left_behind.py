"""What a command of the persistent shell leaves goes on, and breaks nothing that comes later."""

from pathlib import Path

import anyio
import pytest
from tool_kit import answer, failure, result
from tools.managed.shell_kit import managed, session_of

from holdfast import Holdfast
from holdfast.contract.failure import FailureKind
from holdfast.contract.managed_events import ShellChanged

pytestmark = pytest.mark.anyio


async def until_busy(hf: Holdfast) -> None:
    with anyio.fail_after(10):
        while (await result(hf, "shell_describe"))["busy_plan"] is None:  # noqa: ASYNC110 - it tells nobody
            await anyio.sleep(0.01)


@pytest.mark.req("BOA-SH-43", "BOA-SH-44")
async def test_what_is_set_while_a_command_runs_is_not_lost_when_it_ends(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    place = str((workspace / "sub").resolve())
    async with managed(workspace) as hf:
        await result(hf, "shell_exec", command="export GONE=1 MINE=1")
        async with anyio.create_task_group() as group:
            command = "until test -e go; do sleep 0.02; done; export MINE=2"
            group.start_soon(lambda: answer(hf, "shell_exec", command=command, timeout_ms=60_000))
            await until_busy(hf)
            await result(hf, "shell_set_env", key="LATE", value="yes")
            await result(hf, "shell_unset_env", key="GONE")
            await result(hf, "shell_set_cwd", path="sub")
            (workspace / "go").touch()
        stands = await result(hf, "shell_describe")
        assert (stands["env"]["keys"], stands["cwd"]) == (["LATE", "MINE"], place)
        shown = "echo $LATE ${GONE-none} $MINE; pwd"
        there = await result(hf, "shell_exec", command=shown)
        assert there["output"]["stdout"] == f"yes none 2\n{place}\n"


async def test_a_command_that_waited_finds_what_the_one_before_left(workspace: Path) -> None:
    async with managed(workspace) as hf:
        for number in range(8):
            (workspace / "go").unlink(missing_ok=True)
            await result(hf, "shell_set_env", key="STAGE", value="old")
            found: list[str] = []

            async def look() -> None:
                seen = await result(hf, "shell_exec", command="echo $STAGE", timeout_ms=60_000)
                found.append(seen["output"]["stdout"])  # noqa: B023 - it ends in this turn

            async with anyio.create_task_group() as group:
                command = f"until test -e go; do sleep 0.02; done; export STAGE={number}"
                group.start_soon(answer_of, hf, command)
                await until_busy(hf)
                group.start_soon(look)
                await anyio.wait_all_tasks_blocked()
                (workspace / "go").touch()
            assert found == [f"{number}\n"]


async def answer_of(hf: Holdfast, command: str) -> None:
    await result(hf, "shell_exec", command=command, timeout_ms=60_000)


@pytest.mark.parametrize(
    "left",
    [
        "export ODD=$'\\xff\\xfe'",
        "mkdir $'\\xff'; cd $'\\xff'",
        "export HUGE=$(head -c 200000 /dev/zero | tr '\\0' x)",
        "for n in {100..199}; do export MANY_$n=$(head -c 30000 /dev/zero | tr '\\0' x); done",
    ],
)
async def test_whatever_a_command_leaves_later_ones_can_be_run(workspace: Path, left: str) -> None:
    async with managed(workspace) as hf:
        done = await result(hf, "shell_exec", command=f"export KEPT=1; echo 1; {left}; echo 2")
        assert done["output"]["stdout"] == "1\n2\n"
        assert "KEPT" in done["output"]["shell_state"]["env"]["keys"]
        assert (await result(hf, "bash", command="pwd"))["exit_code"] == 0
        assert (await result(hf, "shell_run", command="ls; echo $KEPT"))["output"]["exit_code"] == 0
        again = await result(hf, "shell_exec", command="echo $KEPT")
        assert again["output"]["stdout"] == "1\n"
        assert (await result(hf, "shell_history"))["count"] == 4
        assert (await result(hf, "shell_open"))["persistent_shell"]["status"] == "active"
        anew = await result(hf, "shell_exec", command="ls >/dev/null; echo $KEPT", restart=True)
        assert anew["output"]["stdout"] == "1\n"


async def test_no_more_is_set_than_programs_can_be_given(workspace: Path) -> None:
    async with managed(workspace) as hf:
        for value in ("x" * 32_769, "\N{GRINNING FACE}" * 8_193):
            refused = await failure(hf, "shell_set_env", key="BIG", value=value)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "value")
        for number in range(7):
            await result(hf, "shell_set_env", key=f"PART{number}", value="x" * 32_768)
        refused = await failure(hf, "shell_set_env", key="PART7", value="x" * 32_768)
        assert "shell_unset_env" in refused.message
        assert (await result(hf, "bash", command="pwd"))["exit_code"] == 0
        await result(hf, "shell_set_env", key="PART6", value="y" * 32_768)


async def test_a_secret_is_not_written_down_under_another_name(workspace: Path) -> None:
    async with managed(workspace) as hf:
        await result(hf, "shell_set_env", key="DEPLOY_TOKEN", value="abc-def-ghi")
        command = (
            "export URL=https://me:$DEPLOY_TOKEN@host PLAIN=x OTHER_TOKEN=jkl-mno COPY=jkl-mno"
        )
        await result(hf, "shell_exec", command=command)
        assert hf.parts.log is not None
        events = await (await hf.parts.log.journal()).events(hf.session_id)
        told = [one.payload for one in events if isinstance(one.payload, ShellChanged)]
        assert [pair for one in told for pair in one.set_env] == [("PLAIN", "x")]
        ran = await result(hf, "shell_run", command="echo ${#URL} ${#COPY}")
        assert ran["output"]["stdout"] == "27 7\n"


@pytest.mark.req("BOA-SH-40")
async def test_a_directory_is_told_in_full_and_has_to_be_writable(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    async with managed(workspace) as hf:
        await result(hf, "shell_exec", command="true")
        ran = await result(hf, "shell_exec", command="pwd", cwd="sub")
        place = str((workspace / "sub").resolve())
        assert (ran["output"]["cwd"], ran["output"]["stdout"]) == (place, f"{place}\n")
        mounts = session_of(hf).ground.mounts
        shared = next(one.mount_path for one in mounts if one.kind == "agent_substrate")
        await result(hf, "shell_set_cwd", path=shared)
        for tool in ("shell_exec", "shell_run"):
            refused = await failure(hf, tool, command="touch made")
            assert (refused.kind, refused.field) == (FailureKind.REJECTED, "cwd"), tool
        ran = await result(hf, "shell_exec", command="pwd", cwd=".")
        assert ran["output"]["stdout"] == f"{workspace.resolve()}\n"
