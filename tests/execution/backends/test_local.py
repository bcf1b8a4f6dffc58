"""The local backends: commands, code and files below one directory, whatever is asked of them."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from execution.processes.ground import each

from holdfast.contract.backend import (
    BackendSandboxSpec,
    BackendTool,
    BackendToolCodeRun,
    BackendToolCommandRun,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileWriteResult,
    PathFailure,
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


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "place"


@pytest.fixture
def sandbox(place: Path) -> Iterator[BackendSandbox]:
    with _opened(LocalSettings(), place) as handle:
        yield handle


def _opened(
    settings: LocalSettings, place: Path | None, env: dict[str, str] | None = None
) -> BackendSandbox:
    spec = BackendSandboxSpec(working_dir=None if place is None else str(place), env=env)
    return BackendSandbox(LocalBackend(settings), spec)


def _ran(sandbox: BackendSandbox, payload: BackendToolCommandRun | str) -> CommandResult:
    if isinstance(payload, str):
        payload = BackendToolCommandRun(payload)
    answer = sandbox.dispatch(payload)
    assert isinstance(answer, CommandResult), answer
    return answer


def _failed(sandbox: BackendSandbox, payload: BackendTool) -> ToolExecutionFailure:
    answer = sandbox.dispatch(payload)
    assert isinstance(answer, ToolExecutionFailure), answer
    return answer


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
        failure = _failed(sandbox, BackendToolCommandRun(["/bin/true"]))
    assert failure.kind == "sandbox_closed"
    assert "bubblewrap is not installed" in failure.message


@pytest.mark.req("RATH-BKD-04")
def test_without_a_directory_it_makes_one_and_removes_it() -> None:
    with _opened(LocalSettings(), None) as sandbox:
        made = Path(
            _ran(sandbox, "pwd; mkdir shut; touch shut/x; chmod 0 shut").stdout.decode()[:-1]
        )
        assert made.is_dir()
    assert not made.exists()


@pytest.mark.req("RATH-BKD-04")
def test_a_given_directory_is_made_and_never_removed(place: Path) -> None:
    with _opened(LocalSettings(), place / "deep") as sandbox:
        assert (place / "deep").is_dir()
        _ran(sandbox, "echo kept > kept")
    with _opened(LocalSettings(), place / "deep") as sandbox:
        assert _ran(sandbox, "cat kept").stdout == b"kept\n"
    assert (place / "deep" / "kept").read_text() == "kept\n"


def test_a_directory_that_cannot_be_made_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with _opened(LocalSettings(), tmp_path / "file" / "below") as sandbox:
        failure = _failed(sandbox, BackendToolFilesExists("."))
    assert failure.kind == "os_error"


@pytest.mark.req("RATH-BKD-05", "RATH-PAY-03", "RATH-PAY-09", "RATH-LAY-03")
def test_text_goes_to_the_shell_and_a_sequence_does_not(
    sandbox: BackendSandbox, place: Path
) -> None:
    shell = _ran(sandbox, "echo one; echo two >&2; exit 7")
    assert (shell.exit_code, shell.stdout, shell.stderr) == (7, b"one\n", b"two\n")
    assert shell.elapsed_ms > 0
    plain = _ran(sandbox, BackendToolCommandRun(("echo", "$PWD; x", "*")))
    assert plain.stdout == b"$PWD; x *\n"
    assert _ran(sandbox, "pwd").stdout.decode() == f"{place}\n"
    _ran(sandbox, "mkdir -p a/b")
    assert (
        _ran(sandbox, BackendToolCommandRun("pwd", cwd="a/b")).stdout == f"{place}/a/b\n".encode()
    )
    inside = BackendToolCommandRun("pwd", cwd=f"{place}/a/../a")
    assert _ran(sandbox, inside).stdout == f"{place}/a\n".encode()
    fed = BackendToolCommandRun('cat; echo "$X"', stdin=b"in\0", env={"X": "=y"}, timeout=15)
    assert _ran(sandbox, fed).stdout == b"in\0=y\n"
    assert _ran(sandbox, "kill -9 $$").exit_code == -9


@pytest.mark.req("RATH-BKD-05", "RATH-PAY-04", "RATH-PAY-05", "RATH-PAY-10", "RATH-PAY-11")
def test_files_are_written_and_read_below_the_directory(
    sandbox: BackendSandbox, place: Path
) -> None:
    assert sandbox.dispatch(BackendToolFilesWrite("a/b.txt", "é")) == FileWriteResult(2)
    assert (place / "a/b.txt").read_bytes() == "é".encode()
    assert stat.S_IMODE((place / "a/b.txt").stat().st_mode) == 0o644
    assert sandbox.dispatch(BackendToolFilesWrite("c", b"\xe9", mode=0o750)) == FileWriteResult(1)
    assert stat.S_IMODE((place / "c").stat().st_mode) == 0o750
    assert sandbox.dispatch(BackendToolFilesRead("a/b.txt")) == FileContent("é")
    assert sandbox.dispatch(BackendToolFilesRead("c", None)) == FileContent(b"\xe9")
    assert sandbox.dispatch(BackendToolFilesRead("c", "latin-1")) == FileContent("é")
    assert sandbox.dispatch(BackendToolFilesRead(f"{place}/c", "latin-1")) == FileContent("é")
    assert sandbox.dispatch(BackendToolFilesWrite("c", "shorter")) == FileWriteResult(7)
    assert sandbox.dispatch(BackendToolFilesRead("c")) == FileContent("shorter")


@pytest.mark.req("RATH-BKD-10")
def test_writing_makes_parents_and_counts_bytes(sandbox: BackendSandbox, place: Path) -> None:
    assert sandbox.dispatch(BackendToolFilesWrite("x/y/z", "äöü\r\n")) == FileWriteResult(8)
    assert (place / "x/y/z").read_bytes() == "äöü\r\n".encode()


@pytest.mark.req("RATH-PAY-06", "RATH-PAY-12")
def test_a_directory_is_listed_by_name_and_not_below(sandbox: BackendSandbox, place: Path) -> None:
    _ran(sandbox, "mkdir -p d/sub d/B; touch d/c d/a d/sub/deep; ln -s a d/link")
    listed = sandbox.dispatch(BackendToolFilesList("d"))
    assert isinstance(listed, FileEntries)
    found = [(entry.name, entry.path, entry.is_dir) for entry in listed.entries]
    assert found == [
        (name, f"{place}/d/{name}", name in ("B", "sub")) for name in ("B", "a", "c", "link", "sub")
    ]
    root = sandbox.dispatch(BackendToolFilesList("."))
    assert isinstance(root, FileEntries)
    assert [entry.path for entry in root.entries] == [f"{place}/d"]


@pytest.mark.req("RATH-PAY-07", "RATH-BKD-13")
@pytest.mark.parametrize(
    ("path", "there"),
    [
        (".", True),
        ("there", True),
        ("not", False),
        ("there/below", False),
        ("", False),
        ("\0", False),
        ("\ud800", False),
        ("x" * 300, False),
        ("loop", False),
        ("..", False),
        ("/etc/passwd", False),
    ],
)
def test_existence_is_a_bare_answer(
    sandbox: BackendSandbox, place: Path, path: str, there: bool
) -> None:
    (place / "there").touch()
    (place / "loop").symlink_to("loop")
    assert sandbox.dispatch(BackendToolFilesExists(path)) is there


@pytest.mark.req("RATH-BKD-08")
def test_trouble_is_told_by_its_kind(sandbox: BackendSandbox, place: Path) -> None:
    (place / "file").touch()
    missing = _failed(sandbox, BackendToolFilesRead("no/../such"))
    assert (missing.kind, missing.detail) == ("file_not_found", f"{place}/such")
    program = _failed(sandbox, BackendToolCommandRun(["no-such-program"]))
    assert program.kind == "os_error"
    assert "no-such-program" in program.message
    for payload in (
        BackendToolFilesList("no-such"),
        BackendToolFilesList("file"),
        BackendToolFilesRead("."),
        BackendToolFilesWrite(".", ""),
        BackendToolFilesWrite("file/below", ""),
        BackendToolFilesRead("x" * 300),
        BackendToolCommandRun("true", cwd="no-such"),
        BackendToolCommandRun("true", cwd="file"),
        BackendToolCommandRun("true", cwd="x" * 300),
    ):
        assert _failed(sandbox, payload).kind == "os_error", payload
    assert _failed(sandbox, BackendToolFilesRead("")).kind == "file_not_found"


def test_a_missing_directory_is_known_as_one(sandbox: BackendSandbox) -> None:
    failure = _failed(sandbox, BackendToolFilesList("no-such"))
    assert isinstance(failure, PathFailure)
    assert (failure.missing, failure.field) == (True, "path")


@pytest.mark.req("RATH-BKD-09")
def test_what_cannot_be_decoded_is_a_failure_value(sandbox: BackendSandbox) -> None:
    sandbox.dispatch(BackendToolFilesWrite("b", b"ok\xff"))
    failure = _failed(sandbox, BackendToolFilesRead("b"))
    assert (failure.kind, failure.detail) == ("unexpected", "UnicodeDecodeError")
    assert "at byte 2" in failure.message
    assert _failed(sandbox, BackendToolFilesRead("b", "no-such")).kind == "unexpected"
    assert _failed(sandbox, BackendToolFilesWrite("c", "\ud800")).kind == "unexpected"


OUTSIDE = ["/etc/passwd", "../other/secret", "out/secret", "out", "..", "/", "deep/../../other/x"]


@pytest.mark.req("RATH-BKD-06")
@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_is_refused_by_where_it_really_leads(
    sandbox: BackendSandbox, place: Path, path: str
) -> None:
    other = place.parent / "other"
    other.mkdir()
    (other / "secret").write_text("secret")
    (place / "out").symlink_to(other)
    (place / "deep").mkdir()
    for payload in (
        BackendToolFilesRead(path),
        BackendToolFilesList(path),
        BackendToolFilesWrite(path, "x"),
        BackendToolCommandRun("true", cwd=path),
    ):
        failure = _failed(sandbox, payload)
        assert isinstance(failure, PathFailure), payload
        assert (failure.kind, failure.missing, failure.detail) == ("os_error", False, path)
        assert failure.field == ("cwd" if isinstance(payload, BackendToolCommandRun) else "path")
    assert (other / "secret").read_text() == "secret"
    assert sorted(entry.name for entry in other.iterdir()) == ["secret"]


def test_a_link_inside_is_followed(sandbox: BackendSandbox, place: Path) -> None:
    (place / "real").write_text("here")
    (place / "link").symlink_to("real")
    assert sandbox.dispatch(BackendToolFilesRead("link")) == FileContent("here")


def test_a_command_cannot_write_outside_either(sandbox: BackendSandbox, place: Path) -> None:
    other = place.parent / "other"
    other.mkdir()
    (other / "secret").write_text("secret")
    assert _ran(sandbox, f"cat {other}/secret").exit_code != 0
    assert _ran(sandbox, f"echo x > {other}/new").exit_code != 0
    assert _ran(sandbox, "echo x > inside").exit_code == 0
    assert sorted(entry.name for entry in other.iterdir()) == ["secret"]


def test_a_setting_lets_paths_lead_anywhere(place: Path) -> None:
    (place.parent / "file").write_text("outside")
    with _opened(LocalSettings(paths="anywhere", confinement="unconfined"), place) as sandbox:
        assert sandbox.dispatch(BackendToolFilesRead("../file")) == FileContent("outside")
        assert sandbox.dispatch(BackendToolFilesRead(f"{place.parent}/file")) == FileContent(
            "outside"
        )
        sandbox.dispatch(BackendToolFilesWrite("inside", "x"))
        assert (place / "inside").read_text() == "x"
        above = _ran(sandbox, BackendToolCommandRun("pwd", cwd=".."))
        assert above.stdout.decode() == f"{place.parent}\n"


@pytest.mark.req("RATH-BKD-07")
def test_a_command_begins_with_little_and_what_it_is_given(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    given = BackendToolCommandRun(["env"], env={"OWN": "1", "LANG": "de"})

    def variables(settings: LocalSettings, env: dict[str, str] | None = None) -> dict[str, str]:
        with _opened(settings, place, env) as sandbox:
            lines = _ran(sandbox, given).stdout.decode().splitlines()
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
    ran = _ran(sandbox, 'touch "$HOME/a" "$TMPDIR/b" && cd && ls "$TMPDIR/b"')
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
    other = _failed(sandbox, BackendToolCodeRun("1", language="ruby"))
    assert (other.kind, other.detail) == ("unsupported_tool", "ruby")
    late = _failed(sandbox, BackendToolCodeRun("import time; time.sleep(60)", timeout=0.3))
    assert late.kind == "timeout"


def test_code_leaves_no_script_behind_and_runs_with_a_tmpdir_of_its_own(place: Path) -> None:
    with _opened(LocalSettings(environment="inherited"), place, {"TMPDIR": "/x"}) as sandbox:
        ran = sandbox.dispatch(BackendToolCodeRun("import os; print(os.path.dirname(__file__))"))
        assert isinstance(ran, CodeResult)
        assert ran.error is None
        left = _ran(sandbox, f"ls {ran.stdout.strip()}")
        assert b".py" not in left.stdout
    assert list(place.iterdir()) == []


@pytest.mark.req("RATH-BKD-11")
@each("namespaces", "bubblewrap", "landlock")
def test_a_timeout_ends_all_that_was_started_and_nothing_else(
    kind: Confinement, place: Path
) -> None:
    hides = f"(setsid sh -c 'trap \"\" TERM; {NAP}' &) ; trap '' TERM; {NAP}"
    with _opened(LocalSettings(confinement=kind), place) as sandbox:
        held = threading.Thread(
            target=_ran, args=(sandbox, "while [ ! -e go ]; do sleep .05; done")
        )
        held.start()
        failure = _failed(sandbox, BackendToolCommandRun(hides, timeout=0.3))
        assert failure.kind == "timeout"
        assert _ran(sandbox, NAPPING).stdout == b"0\n"
        assert held.is_alive()
        (place / "go").touch()
        held.join()
        assert _ran(sandbox, "echo still").stdout == b"still\n"


def test_what_a_command_leaves_running_ends_with_it(sandbox: BackendSandbox) -> None:
    assert _ran(sandbox, f"{NAP} & echo begun").stdout == b"begun\n"
    assert _ran(sandbox, f"setsid {NAP} >/dev/null 2>&1 & echo two").stdout == b"two\n"
    assert _ran(sandbox, NAPPING).stdout == b"0\n"


def test_what_a_command_prints_is_kept_within_bounds(sandbox: BackendSandbox) -> None:
    ran = _ran(sandbox, "head -c 2000000 /dev/zero | tr '\\0' x; echo END; echo e >&2")
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
    assert _failed(sandbox, payload).kind == "dispatch_error"


def test_odd_payloads_are_failure_values_too(sandbox: BackendSandbox) -> None:
    assert _failed(sandbox, BackendToolCommandRun("\ud800")).kind == "unexpected"
    assert _failed(sandbox, BackendToolFilesRead(3)).kind == "unexpected"  # pyright: ignore[reportArgumentType] - on purpose
    assert _failed(sandbox, BackendToolCommandRun("x" * 4_000_000)).kind == "os_error"
    assert _ran(sandbox, BackendToolCommandRun("true", timeout=float("inf"))).exit_code == 0
    assert _ran(sandbox, "echo still").stdout == b"still\n"


def test_closing_ends_what_runs_and_whoever_waits_is_told(place: Path) -> None:
    handle = _opened(LocalSettings(), place).acquire()
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
