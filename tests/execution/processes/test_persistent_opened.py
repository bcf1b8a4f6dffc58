"""The persistent shell, opened before its first command, and told what has changed."""

import asyncio
from pathlib import Path

import pytest
from execution.processes.ground import each
from execution.processes.session import session
from execution.processes.shell_kit import out, run, until

from holdfast.contract.errors import InvalidArguments, OperationFailed, SandboxNotRunning
from holdfast.contract.shell import Confinement, ShellChange
from holdfast.execution.processes.living_shell import LivingShell
from holdfast.execution.processes.spawners import SandboxUnavailable


@each("landlock")
async def test_a_shell_is_opened_as_wanted_and_reused_as_it_is(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        (here.workspace / "sub").mkdir()
        assert here.shell.inspect().status == "closed"
        begin = ShellChange(cwd=str(here.workspace / "sub"), variables={"A": "x 'y'"})
        first = await here.shell.opened(begin, anew=False)
        assert (first.status, first.alive, first.command_count) == ("idle", True, 0)
        assert (first.cwd, first.env_keys) == (begin.cwd, ("A",))
        shown = await out(here, 'echo "$A"; pwd; export B=1; cd ..; echo $$')
        again = await here.shell.opened(ShellChange(cwd="/", variables={"A": "z"}), anew=False)
        assert (again.shell_id, again.cwd) == (first.shell_id, str(here.workspace))
        assert shown.splitlines()[:2] == ["x 'y'", begin.cwd]
        assert here.shell.variables() == {"A": "x 'y'", "B": "1"}
        anew = await here.shell.opened(anew=True)
        assert anew.shell_id != first.shell_id
        assert here.shell.variables() == {}
        assert (await out(here, "echo $$")).strip() != shown.splitlines()[2]
        await out(here, "exit 0; echo")
        gone = here.shell.inspect()
        assert (gone.status, gone.alive) == ("idle", False)
        assert (await here.shell.opened(anew=False)).alive


@each("landlock")
async def test_a_command_finds_what_was_changed_before_it(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        (here.workspace / "sub").mkdir()
        home = here.sandbox.environment()["HOME"]
        await out(here, "export A=1 B=2; export HOME=/elsewhere; unset TMPDIR")
        change = ShellChange(
            cwd=str(here.workspace / "sub"),
            variables={"C": "it's\n$A"},
            forgotten=("A", "HOME", "TMPDIR", "NEVER"),
        )
        text = 'printf "%s|" "${A-none}" "$B" "$C" "$HOME" "${TMPDIR+there}"; pwd'
        ended = await here.shell.run(text, before=change)
        printed = ended.report.stdout.text()
        assert printed == f"none|2|it's\n$A|{home}|there|{here.workspace}/sub\n"
        assert ended.facts.env_keys == ("B", "C")
        # The change is made once: what a command does to it afterwards stays.
        assert await out(here, "export C=3; cd ..; pwd") == f"{here.workspace}\n"
        assert await out(here, "echo $C; pwd") == f"3\n{here.workspace}\n"


@each("landlock")
async def test_what_is_no_variable_is_refused_before_the_shell_hears_of_it(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        for change in (
            ShellChange(variables={"A;touch x": "1"}),
            ShellChange(forgotten=("A B",)),
            ShellChange(variables={"A": "\0"}),
        ):
            with pytest.raises(InvalidArguments):
                await here.shell.opened(change, anew=False)
            with pytest.raises(InvalidArguments):
                await here.shell.run("true", before=change)
        assert here.shell.inspect().command_count == 0


@each("landlock")
async def test_a_shell_that_cannot_be_opened_is_told(
    tmp_path: Path, kind: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, kind) as here:
        for problem, told in (
            (SandboxUnavailable("gone"), SandboxNotRunning),
            (OSError(2, "not there"), OperationFailed),
        ):

            async def unready(_shell: LivingShell, problem: Exception = problem) -> list[str]:
                raise problem

            monkeypatch.setattr(LivingShell, "ready", unready)
            with pytest.raises(told):
                await here.shell.opened(anew=False)
            assert not here.shell.inspect().alive


@each("landlock")
async def test_a_busy_shell_is_open_and_a_new_one_ends_what_runs(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        running = asyncio.create_task(here.shell.run("echo begun; sleep 60"))
        await until(lambda: "begun" in here.shell.inspect().stdout_preview)
        busy = await here.shell.opened(anew=False)
        assert (busy.status, busy.current_command) == ("busy", "echo begun; sleep 60")
        anew = await here.shell.opened(anew=True)
        assert (anew.status, anew.alive) == ("idle", True)
        assert anew.shell_id != busy.shell_id
        assert (await running).report.killed_by == "user"


OWN = {"_o": "x", "_g": "x", "_n": "7", "POSIXLY_CORRECT": "1"}


@pytest.mark.parametrize("before_all", [True, False])
@each("landlock")
async def test_variables_with_the_names_of_its_own_signs_break_no_frame(
    tmp_path: Path, kind: Confinement, before_all: bool
) -> None:
    async with session(tmp_path, kind) as here:
        own = ShellChange(variables=OWN)
        if before_all:
            await here.shell.opened(own, anew=False)
            own = ShellChange()
        for text in ("echo one; (exit 3)", "_o=x _g=x; echo one; (exit 3)", "echo one; (exit 3)"):
            report = (await here.shell.run(text, before=own)).report
            assert (report.exit_code, report.stdout.text()) == (3, "one\n"), report
            assert (report.stderr.text(), report.killed_by) == ("", None)
            own = ShellChange()
        await run(here, "unset _n; readonly _o=x")
        assert (await run(here, "echo two")).exit_code != 0
