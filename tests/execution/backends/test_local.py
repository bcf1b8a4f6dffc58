"""The local backends: commands and code, confined, bounded, and ended with all they started."""

import os
import threading
from pathlib import Path

import pytest
from execution.backends.local_sandboxes import failure_of, opened, result_of
from execution.processes.ground import each

from holdfast.contract.backend import (
    BackendSandboxSpec,
    BackendToolCodeRun,
    BackendToolCommandRun,
    BackendToolFilesExists,
    BackendToolFilesRead,
    CodeResult,
    ToolExecutionFailure,
)
from holdfast.contract.shell import Confinement
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalBackend, LocalSettings, bubblewrap
from holdfast.execution.backends.shown_output import HEAD_BYTES, TAIL_BYTES
from holdfast.testing.backend_kit import check_backend

NAP = f"sleep 9{os.getpid()}"
"""Told apart from what others run meanwhile."""
NAPPING = f"ps -eo args | grep -c '[s]leep 9{os.getpid()}'"


@each()
def test_it_passes_the_kit_of_all_backends(kind: Confinement) -> None:
    check_backend(LocalBackend(LocalSettings(confinement=kind)))


@pytest.mark.system("bubblewrap", program="bwrap")
def test_bubblewrap_passes_the_kit_and_takes_nothing_else() -> None:
    backend = bubblewrap(LocalSettings())
    assert backend.name == "bubblewrap"
    check_backend(backend)


def test_bubblewrap_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    backend = bubblewrap(LocalSettings())
    assert "install the package bubblewrap" in (backend.why_unavailable() or "")
    with BackendSandbox(backend) as sandbox:
        failure = failure_of(sandbox, BackendToolCommandRun(["/bin/true"]))
    assert failure.kind == "sandbox_closed"
    assert "bubblewrap is not installed" in failure.message


@pytest.mark.req("RATH-BKD-04")
def test_without_a_directory_it_makes_one_and_removes_it() -> None:
    with opened(LocalSettings(), None) as sandbox:
        made = Path(
            result_of(sandbox, "pwd; mkdir shut; touch shut/x; chmod 0 shut").stdout.decode()[:-1]
        )
        assert made.is_dir()
    assert not made.exists()


@pytest.mark.req("RATH-BKD-04")
def test_a_given_directory_is_made_and_never_removed(place: Path) -> None:
    with opened(LocalSettings(), place / "deep") as sandbox:
        assert (place / "deep").is_dir()
        result_of(sandbox, "echo kept > kept")
    with opened(LocalSettings(), place / "deep") as sandbox:
        assert result_of(sandbox, "cat kept").stdout == b"kept\n"
    assert (place / "deep" / "kept").read_text() == "kept\n"


def test_a_directory_that_cannot_be_made_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with opened(LocalSettings(), tmp_path / "file" / "below") as sandbox:
        failure = failure_of(sandbox, BackendToolFilesExists("."))
    assert failure.kind == "os_error"


@pytest.mark.req("RATH-BKD-05", "RATH-PAY-03", "RATH-PAY-09", "RATH-LAY-03")
def test_text_goes_to_the_shell_and_a_sequence_does_not(
    sandbox: BackendSandbox, place: Path
) -> None:
    shell = result_of(sandbox, "echo one; echo two >&2; exit 7")
    assert (shell.exit_code, shell.stdout, shell.stderr) == (7, b"one\n", b"two\n")
    assert shell.elapsed_ms > 0
    plain = result_of(sandbox, BackendToolCommandRun(("echo", "$PWD; x", "*")))
    assert plain.stdout == b"$PWD; x *\n"
    assert result_of(sandbox, "pwd").stdout.decode() == f"{place}\n"
    result_of(sandbox, "mkdir -p a/b")
    assert (
        result_of(sandbox, BackendToolCommandRun("pwd", cwd="a/b")).stdout
        == f"{place}/a/b\n".encode()
    )
    inside = BackendToolCommandRun("pwd", cwd=f"{place}/a/../a")
    assert result_of(sandbox, inside).stdout == f"{place}/a\n".encode()
    fed = BackendToolCommandRun('cat; echo "$X"', stdin=b"in\0", env={"X": "=y"}, timeout=15)
    assert result_of(sandbox, fed).stdout == b"in\0=y\n"
    assert result_of(sandbox, "kill -9 $$").exit_code == -9


def test_a_command_cannot_write_outside_either(sandbox: BackendSandbox, place: Path) -> None:
    other = place.parent / "other"
    other.mkdir()
    (other / "secret").write_text("secret")
    assert result_of(sandbox, f"cat {other}/secret").exit_code != 0
    assert result_of(sandbox, f"echo x > {other}/new").exit_code != 0
    assert result_of(sandbox, "echo x > inside").exit_code == 0
    assert sorted(entry.name for entry in other.iterdir()) == ["secret"]


@pytest.mark.req("RATH-BKD-07")
def test_a_command_begins_with_little_and_what_it_is_given(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    given = BackendToolCommandRun(["env"], env={"OWN": "1", "LANG": "de"})

    def variables(settings: LocalSettings, env: dict[str, str] | None = None) -> dict[str, str]:
        with opened(settings, place, env) as sandbox:
            lines = result_of(sandbox, given).stdout.decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    least = variables(LocalSettings())
    assert least.keys() == {"PATH", "HOME", "LANG", "TMPDIR", "OWN"}
    assert (least["OWN"], least["LANG"], least["PATH"]) == ("1", "de", os.environ["PATH"])
    assert least["HOME"] != os.environ.get("HOME")
    whole = variables(LocalSettings(environment="inherited"))
    assert (whole["SECRET_KEY"], whole["OWN"], whole["LANG"]) == ("hush", "1", "de")
    from_spec = variables(LocalSettings(), {"OWN": "0", "SPEC": "2"})
    assert (from_spec["OWN"], from_spec["SPEC"]) == ("1", "2")


def test_home_and_tmpdir_can_be_written(sandbox: BackendSandbox) -> None:
    ran = result_of(sandbox, 'touch "$HOME/a" "$TMPDIR/b" && cd && ls "$TMPDIR/b"')
    assert (ran.exit_code, ran.stderr) == (0, b"")


@pytest.mark.req("RATH-BKD-12", "RATH-PAY-08", "RATH-PAY-13")
def test_code_is_a_python_script_in_a_process_of_its_own(
    sandbox: BackendSandbox, place: Path
) -> None:
    ran = sandbox.dispatch(BackendToolCodeRun("import os, sys\nprint(os.getcwd(), __file__[-3:])"))
    assert ran == CodeResult(None, f"{place} .py\n", "", None)
    wrong = sandbox.dispatch(BackendToolCodeRun("print('é')\n1/0"))
    assert isinstance(wrong, CodeResult)
    assert (wrong.text, wrong.stdout) == (None, "é\n")
    assert wrong.error == wrong.stderr
    assert "ZeroDivisionError" in (wrong.error or "")
    warned = sandbox.dispatch(BackendToolCodeRun("import sys; print('x', file=sys.stderr)"))
    assert warned == CodeResult(None, "", "x\n", None)
    silent = sandbox.dispatch(BackendToolCodeRun("raise SystemExit(3)"))
    assert silent == CodeResult(None, "", "", "")
    other = failure_of(sandbox, BackendToolCodeRun("1", language="ruby"))
    assert (other.kind, other.detail) == ("unsupported_tool", "ruby")
    late = failure_of(sandbox, BackendToolCodeRun("import time; time.sleep(60)", timeout=0.3))
    assert late.kind == "timeout"


def test_code_leaves_no_script_behind_and_runs_with_a_tmpdir_of_its_own(place: Path) -> None:
    with opened(LocalSettings(environment="inherited"), place, {"TMPDIR": "/x"}) as sandbox:
        ran = sandbox.dispatch(BackendToolCodeRun("import os; print(os.path.dirname(__file__))"))
        assert isinstance(ran, CodeResult)
        assert ran.error is None
        left = result_of(sandbox, f"ls {ran.stdout.strip()}")
        assert b".py" not in left.stdout
    assert list(place.iterdir()) == []


@pytest.mark.req("RATH-BKD-11")
@each("namespaces", "bubblewrap", "landlock")
def test_a_timeout_ends_all_that_was_started_and_nothing_else(
    kind: Confinement, place: Path
) -> None:
    hides = f"(setsid sh -c 'trap \"\" TERM; {NAP}' &) ; trap '' TERM; {NAP}"
    with opened(LocalSettings(confinement=kind), place) as sandbox:
        held = threading.Thread(
            target=result_of, args=(sandbox, "while [ ! -e go ]; do sleep .05; done")
        )
        held.start()
        failure = failure_of(sandbox, BackendToolCommandRun(hides, timeout=0.3))
        assert failure.kind == "timeout"
        assert result_of(sandbox, NAPPING).stdout == b"0\n"
        assert held.is_alive()
        (place / "go").touch()
        held.join()
        assert result_of(sandbox, "echo still").stdout == b"still\n"


@each("namespaces", "bubblewrap")
def test_what_later_runs_code_is_not_written(kind: Confinement, place: Path) -> None:
    for name in (".git/hooks/pre-push", ".git/config", ".bashrc"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("theirs", "utf-8")
        writes = f"cat {name} && (echo mine > {name} || rm -f {name} || mv .git .gone)"
        with opened(LocalSettings(confinement=kind), place) as sandbox:
            ran = result_of(sandbox, writes)
            assert (ran.stdout, ran.exit_code != 0) == (b"theirs", True)
            assert result_of(sandbox, "mkdir -p .git && echo x > .git/index").exit_code == 0
        assert (place / name).read_text("utf-8") == "theirs"
    with opened(LocalSettings(confinement=kind, protected=()), place) as sandbox:
        assert result_of(sandbox, "echo mine > .bashrc").exit_code == 0
    assert (place / ".bashrc").read_text("utf-8") == "mine\n"


def test_a_directory_that_goes_with_its_sandbox_has_nothing_to_keep() -> None:
    with opened(LocalSettings(), None) as sandbox:
        assert result_of(sandbox, "mkdir -p .git/hooks; echo x > .git/config").exit_code == 0
        assert result_of(sandbox, "echo y >> .git/config; touch .git/hooks/a").exit_code == 0


def test_what_a_command_leaves_running_ends_with_it(sandbox: BackendSandbox) -> None:
    assert result_of(sandbox, f"{NAP} & echo begun").stdout == b"begun\n"
    assert result_of(sandbox, f"setsid {NAP} >/dev/null 2>&1 & echo two").stdout == b"two\n"
    assert result_of(sandbox, NAPPING).stdout == b"0\n"


def test_what_a_command_prints_is_kept_within_bounds(sandbox: BackendSandbox) -> None:
    ran = result_of(sandbox, "head -c 2000000 /dev/zero | tr '\\0' x; echo END; echo e >&2")
    missing = 2_000_004 - HEAD_BYTES - TAIL_BYTES
    gap = f"\n... [{missing:,} bytes omitted] ...\n".encode()
    assert ran.stdout == b"x" * HEAD_BYTES + gap + b"x" * (TAIL_BYTES - 4) + b"END\n"
    assert ran.stderr == b"e\n"


@pytest.mark.parametrize(
    "payload",
    [
        BackendToolCommandRun("a\0b"),
        BackendToolCommandRun([]),
        BackendToolCommandRun("true", env={"": "x"}),
        BackendToolCommandRun("true", env={"a=b": "x"}),
        BackendToolCommandRun("true", env={"a": "\0"}),
        BackendToolCommandRun("true", timeout=-1),
        BackendToolCommandRun("true", timeout=float("nan")),
    ],
)
def test_what_no_process_can_be_made_from_is_a_failure_value(
    sandbox: BackendSandbox, payload: BackendToolCommandRun
) -> None:
    assert failure_of(sandbox, payload).kind == "dispatch_error"


def test_odd_payloads_are_failure_values_too(sandbox: BackendSandbox) -> None:
    assert failure_of(sandbox, BackendToolCommandRun("\ud800")).kind == "unexpected"
    assert failure_of(sandbox, BackendToolFilesRead(3)).kind == "unexpected"  # pyright: ignore[reportArgumentType] - on purpose
    assert failure_of(sandbox, BackendToolCommandRun("x" * 4_000_000)).kind == "os_error"
    assert result_of(sandbox, BackendToolCommandRun("true", timeout=float("inf"))).exit_code == 0
    assert result_of(sandbox, "echo still").stdout == b"still\n"


def test_closing_ends_what_runs_and_whoever_waits_is_told(place: Path) -> None:
    handle = opened(LocalSettings(), place).acquire()
    answers: list[object] = []

    def run() -> None:
        answers.append(handle.dispatch(BackendToolCommandRun("touch begun; sleep 1000")))

    thread = threading.Thread(target=run)
    thread.start()
    while not (place / "begun").exists():
        threading.Event().wait(0.01)
    handle.release()
    thread.join(15)
    (answer,) = answers
    assert isinstance(answer, ToolExecutionFailure)
    assert (answer.kind, answer.message) == ("sandbox_closed", "the sandbox was closed meanwhile")


def test_what_was_closed_answers_so(place: Path) -> None:
    opened = LocalBackend(LocalSettings()).open(BackendSandboxSpec(working_dir=str(place)))
    assert not isinstance(opened, ToolExecutionFailure)
    opened.close()
    failure = opened.dispatch(BackendToolFilesExists("."))
    assert isinstance(failure, ToolExecutionFailure)
    assert failure.kind == "sandbox_closed"


@pytest.mark.req("RATH-BKD-03")
def test_it_says_what_it_can_do() -> None:
    backend = LocalBackend(LocalSettings())
    able = backend.capabilities
    assert able.isolation == "process"
    assert (able.supports_command, able.supports_filesystem, able.supports_code) == (True,) * 3
    assert {one.__name__ for one in backend.accepted} == {
        "BackendToolCommandRun",
        "BackendToolFilesRead",
        "BackendToolFilesWrite",
        "BackendToolFilesList",
        "BackendToolFilesExists",
        "BackendToolCodeRun",
    }
    assert backend.why_unavailable() is None
