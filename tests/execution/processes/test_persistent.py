"""The persistent shell: what goes on, what is told, and how limits end it."""

import asyncio
from pathlib import Path

import pytest
from execution.processes.ground import each, running_in, until_empty
from execution.processes.session import Session, session
from execution.processes.shell_kit import QUICK, out, run, until
from execution.processes.test_capture import TakesOutX

from holdfast.contract.shell import CommandLimits, Confinement, PersistentShell
from holdfast.execution.processes import living_shell, shell_turn


@each()
async def test_directory_variables_and_functions_go_on(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        as_a_port: PersistentShell = here.shell
        first = await as_a_port.run("mkdir -p a/b; cd a; export X='1 2'; y=3; f() { echo f$y; }")
        assert (first.report.exit_code, first.report.confinement) == (0, kind)
        assert first.facts.cwd == str(here.workspace / "a")
        assert await out(here, 'cd b; pwd; echo "$X"; f') == f"{here.workspace}/a/b\n1 2\nf3\n"
        assert await out(here, "cd -") == f"{here.workspace}/a\n"
        again = await run(here, "exit 3")
        assert (again.exit_code, again.warnings) == (3, (shell_turn.ENDED,))
        assert await out(here, 'pwd; echo "$X,$y"') == f"{here.workspace}/a\n1 2,\n"


@each("landlock")
async def test_streams_are_told_apart_and_counted(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        text = "echo a; sleep 0.05; echo bb >&2; sleep 0.05; echo ccc; false | true"
        report = await run(here, text)
        assert (report.stdout.text(), report.stderr.text()) == ("a\nccc\n", "bb\n")
        assert report.order == (("stdout", 2), ("stderr", 3), ("stdout", 4))
        assert (report.exit_code, report.stdout.total) == (1, 6), "pipefail is on"
        assert report.seconds >= 0.1
        killed = await run(here, "kill -SEGV $$")
        assert (killed.exit_code, killed.signal) == (139, 11)


@pytest.mark.req("BOA-PSH-05")
@each("landlock")
async def test_only_the_difference_from_the_base_environment_is_kept(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        facts = (await here.shell.run("pwd")).facts
        assert facts.env_keys == ()
        text = "export B=secret A=; export LANG=C; unset HOME; local=1; export C; export TMPDIR"
        facts = (await here.shell.run(text)).facts
        assert facts.env_keys == ("A", "B", "HOME", "LANG")
        assert "secret" not in repr(facts)
        await run(here, "exit")
        shown = await out(here, 'echo "${HOME-none} $B $LANG $TMPDIR"; env | grep -c "^A=$"')
        temporary = here.sandbox.environment()["TMPDIR"]
        assert shown == f"none secret C {temporary}\n1\n"
        back = f"export LANG=C.UTF-8 HOME={here.sandbox.environment()['HOME']}; unset A B"
        assert (await here.shell.run(back)).facts.env_keys == ()


@pytest.mark.req("BOA-PSH-01")
@each("landlock")
async def test_a_command_waits_behind_the_running_one(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        texts = [
            "sleep 0.2; echo 1 >> log; export N=1",
            "echo 2$N >> log; sleep 0.1",
            "echo 3 >> log",
        ]
        reports = await asyncio.gather(*(here.shell.run(text) for text in texts))
        assert (here.workspace / "log").read_text("utf-8") == "1\n21\n3\n"
        assert [one.facts.command_count for one in reports] == [1, 2, 3]
        assert len({one.facts.shell_id for one in reports}) == 1
        assert here.shell.inspect().status == "idle"


@pytest.mark.req("BOA-PSH-08")
@each("landlock")
async def test_inspecting_shows_what_runs_now(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        closed = here.shell.inspect()
        assert (closed.status, closed.cwd) == ("closed", str(here.workspace))
        assert (closed.current_command, closed.stdout_preview) == (None, "")
        text = "printf 'é%.0s' {1..500}; echo e >&2; until [ -e go ]; do sleep 0.01; done"
        running = asyncio.create_task(here.shell.run(text))
        while len(here.shell.inspect().stdout_preview) < 400:
            await asyncio.sleep(0.01)
        busy = await here.shell.wait(seconds=0.05)
        assert (busy.status, busy.current_command) == ("busy", text)
        assert busy.current_command_started_at is not None
        assert busy.current_command_started_at.endswith("+00:00")
        assert (busy.stdout_preview, busy.stderr_preview) == ("é" * 400, "e\n")
        (here.workspace / "go").touch()
        idle = await here.shell.wait(seconds=10)
        assert (idle.status, idle.current_command, idle.stdout_preview) == ("idle", None, "")
        assert (await running).report.stdout.text() == "é" * 500


@pytest.mark.req("BOA-PSH-03")
@each()
async def test_a_command_that_takes_too_long_takes_the_shell_with_it(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        await run(here, "mkdir d; cd d; export X=kept")
        slow = await run(here, "echo part; cd /; export X=lost; sleep 60", QUICK)
        assert (slow.killed_by, slow.exit_code, slow.stdout.text()) == ("timeout", None, "part\n")
        assert slow.warnings == ("persistent shell command timed out",)
        assert await out(here, 'pwd; echo "$X"') == f"{here.workspace}/d\nkept\n"
        silent = await run(here, "echo x; sleep 60", CommandLimits(idle=0.3, grace=0.3))
        assert (silent.killed_by, silent.warnings) == (
            "idle",
            ("persistent shell command timed out",),
        )
        assert await out(here, "echo x") == "x\n"


@pytest.mark.req("BOA-PSH-07")
@each()
async def test_ending_reaches_the_group_and_does_not_stop_at_asking(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        polite = await run(here, "trap 'echo asked; exit' TERM; sleep 60 & wait", QUICK)
        assert (polite.stdout.text(), polite.killed_by) == ("asked\n", "timeout")
        stubborn = "trap '' TERM; (trap '' TERM; setsid sleep 61) & while :; do sleep 60; done"
        assert (await run(here, stubborn, QUICK)).killed_by == "timeout"
        await until_empty(here.workspace)
        assert await out(here, "echo on") == "on\n"


@pytest.mark.req("BOA-PSH-04")
@each("landlock")
async def test_much_output_does_not_hide_the_end(tmp_path: Path, kind: Confinement) -> None:
    much = 100_000_000
    async with session(tmp_path, kind) as here:
        report = await run(
            here, f"echo begin; yes | head -c {much}; echo end; echo e >&2; (exit 7)"
        )
        assert (report.exit_code, report.stdout.total, report.stderr.text()) == (
            7,
            much + 10,
            "e\n",
        )
        assert report.stdout.head.startswith(b"begin\ny\n")
        assert report.stdout.tail.endswith(b"y\nend\n")
        assert report.output_path is not None
        assert report.dropped_bytes == 0
        while Path(report.output_path).stat().st_size < much + 12:
            await asyncio.sleep(0.01)
            await run(here, ":")
        assert await out(here, "echo next") == "next\n"


@each("landlock")
async def test_secrets_are_taken_out_of_every_commands_output(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind, scrubber=TakesOutX) as here:
        for _ in range(2):
            assert (await run(here, "printf 'axbx'; printf cx >&2")).stdout.text() == "ab"


@each()
async def test_what_comes_late_is_never_another_commands_output(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        text = (
            "(until [ -e go ]; do sleep 0.01; done; echo late; echo late >&2; touch said) & echo x"
        )
        report = await run(here, text)
        assert (report.stdout.text(), report.warnings) == ("x\n", (shell_turn.HELD,))
        assert await out(here, "touch go; until [ -e said ]; do sleep 0.01; done; echo y") == "y\n"
        assert await out(here, "wait; echo z") == "z\n"
        await run(here, "(sleep 60; echo never) & true")
        ended = await run(here, "exit 4")
        assert (ended.exit_code, bool(running_in(here.workspace))) == (4, True), "it goes on"
        assert await out(here, "echo on") == "on\n"


@each("landlock")
async def test_more_pipes_are_had_when_all_are_held(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(living_shell, "MOST_ASIDE", 1)
    async with session(tmp_path, kind) as here:
        await run(here, "export X=1; f() { echo f; }")
        told = set[str]()
        for number in range(14):
            report = await run(here, f"(while :; do echo {number}; sleep 0.01; done) & true")
            told |= {*report.warnings}
            after = await run(here, "echo $X")
            told |= {*after.warnings}
            assert after.stdout.text() == "1\n"
        assert any("a new shell took over" in one for one in told)
        assert (await run(here, "kill $(jobs -p); f")).exit_code == 127
        assert await out_of(here, "wait; echo done") == "done\n"


async def out_of(here: Session, text: str) -> str:
    """As `out`; a shell whose children were ended says so."""
    return (await run(here, text)).stdout.text()


@each("landlock")
async def test_pipes_nobody_holds_any_more_are_used_again(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        for _ in range(6):
            for _ in range(3):
                await run(here, "sleep 60 & true")
            await run(here, "kill $(jobs -p); wait 2>/dev/null; true")
        assert await out(here, "jobs -p | wc -l") == "0\n", "it is the first shell still"
        for round_number in range(3):
            for _ in range(5):
                await run(here, "sleep 60 & echo $! >>pids")
            assert await out(here, "jobs -p | wc -l") == "1\n", "another has taken over"
            await run(here, "kill $(cat pids); rm pids; wait 2>/dev/null; true")
            await until(lambda: not sleeping_in(here.workspace))
            assert await out(here, f"echo {round_number}") == f"{round_number}\n"


def sleeping_in(workspace: Path) -> bool:
    names = [Path(f"/proc/{pid}/comm") for pid in running_in(workspace)]
    return any(name.exists() and name.read_text("utf-8") == "sleep\n" for name in names)


@pytest.mark.measured
@each("landlock", "namespaces")
async def test_a_directory_that_is_gone_is_left(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        for leave in ("true", "exit"):
            await run(here, "mkdir -p d; cd d")
            (here.workspace / "d").rmdir()
            (here.workspace / "d").mkdir()
            assert await out(here, "touch here; pwd") == f"{here.workspace}/d\n"
            assert (here.workspace / "d" / "here").exists(), "it is the new one"
            (here.workspace / "d" / "here").unlink()
            if leave == "exit":
                await run(here, "exit")
            (here.workspace / "d").rmdir()
            done = await here.shell.run("pwd")
            gone = f"the directory {here.workspace}/d is gone; the command was run in"
            assert done.report.stdout.text() == f"{here.workspace}\n"
            assert done.report.warnings == (f"{gone} {here.workspace}",)
            assert done.facts.cwd == str(here.workspace)
            assert (await run(here, "pwd")).warnings == ()
        await run(here, "mkdir $TMPDIR/t; cd $TMPDIR/t; rmdir $TMPDIR/t")
        assert (await run(here, "pwd")).stdout.text() == f"{here.workspace}\n"


@pytest.mark.req("BOA-SH-48")
@each()
async def test_there_is_no_terminal_and_no_input(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        text = (
            "[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none; [ -p /dev/stdout ] && echo pipe;"
            " cat; read x || echo end; exec 0</etc/passwd"
        )
        assert await out(here, text) == "none\npipe\nend\n"
        assert await out(here, "cat") == ""
        assert (await run(here, "echo >/dev/tty")).exit_code == 1


@each("landlock")
async def test_children_get_nothing_to_answer_with(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        # Writing: its own output alone. Reading: no script, only ends of pipes it prints to.
        assert await out(here, "ls -l /proc/self/fd | grep -c '^l-wx'") == "2\n"
        assert await out(here, "[ -e /proc/self/fd/3 ] || echo no") == "no\n"
