"""What every backend must do. A plain function that raises AssertionError with what went wrong.

It runs real commands and writes real files, in sandboxes that it opens and closes itself. How the
backend does it is not known here.
"""

import posixpath
from concurrent.futures import ThreadPoolExecutor

from holdfast.contract.backend import (
    NO_SPEC,
    Backend,
    BackendSandboxClosed,
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
    ToolExecutionFailure,
)
from holdfast.execution.backends.handle import BackendSandbox


class _Novelty(BackendTool, frozen=True):
    """A payload that no backend knows."""


def check_backend(backend: Backend, spec: BackendSandboxSpec = NO_SPEC) -> None:
    """Everything a flow tool may rely on, in one sandbox from its opening to its close."""
    reason = backend.why_unavailable()
    _expect(reason is None, f"it is not available: {reason}")
    handle = BackendSandbox(backend, spec)
    with handle:
        for check in (_commands, _time_limits, _files, _trouble_with_files, _code, _refusals):
            check(handle)
        _at_once(handle)
    _closing(handle)


def _commands(sandbox: BackendSandbox) -> None:
    ran = _command(sandbox, BackendToolCommandRun("echo out; echo err >&2; exit 3"))
    _expect(ran.exit_code == 3, f"exit 3 gives {ran.exit_code}")
    told = (ran.stdout.rstrip(), ran.stderr.rstrip())
    _expect(told == (b"out", b"err"), f"the streams hold {told}")
    _expect(ran.elapsed_ms >= 0, f"it took {ran.elapsed_ms} ms")
    plain = _command(sandbox, BackendToolCommandRun(["echo", "$HOME; exit 3"]))
    _expect(plain.stdout.rstrip() == b"$HOME; exit 3", f"a sequence met a shell: {plain.stdout!r}")
    given = _command(sandbox, BackendToolCommandRun('echo "$KIT"', env={"KIT": "a b"}))
    _expect(given.stdout.rstrip() == b"a b", f"env gives {given.stdout!r}")
    _command(sandbox, BackendToolCommandRun("mkdir -p below/deeper"))
    below = _command(sandbox, BackendToolCommandRun("ls", cwd="below"))
    _expect(below.stdout.rstrip() == b"deeper", f"a relative cwd shows {below.stdout!r}")
    fed = sandbox.dispatch(BackendToolCommandRun("cat", stdin=b"fed"))
    if isinstance(fed, CommandResult):
        _expect(fed.stdout == b"fed", f"stdin gives {fed.stdout!r}")
    else:
        _expect(_kind(fed) == "unsupported_tool", f"stdin answers {fed}")


def _time_limits(sandbox: BackendSandbox) -> None:
    late = sandbox.dispatch(BackendToolCommandRun("sleep 30", timeout=0.2))
    _expect(_kind(late) == "timeout", f"a slow command answers {late}")
    code = sandbox.dispatch(BackendToolCodeRun("import time; time.sleep(30)", timeout=0.5))
    _expect(_kind(code) == "timeout", f"slow code answers {code}")
    after = _command(sandbox, BackendToolCommandRun("echo still here"))
    _expect(after.stdout.rstrip() == b"still here", "a timeout left it unusable")


def _files(sandbox: BackendSandbox) -> None:
    written = sandbox.dispatch(BackendToolFilesWrite("kit/deep/é.txt", "é\n"))
    _expect(isinstance(written, FileWriteResult), f"a write answers {written}")
    _expect(getattr(written, "bytes_written", 0) == 3, "bytes are counted, not characters")
    text = sandbox.dispatch(BackendToolFilesRead("kit/deep/é.txt"))
    _expect(text == FileContent("é\n"), f"it was read back as {text}")
    raw = sandbox.dispatch(BackendToolFilesRead("kit/deep/é.txt", encoding=None))
    _expect(raw == FileContent("é\n".encode()), f"its bytes were read back as {raw}")
    every = bytes(range(256))
    sandbox.dispatch(BackendToolFilesWrite("kit/b", every, mode=0o600))
    _expect(sandbox.dispatch(BackendToolFilesRead("kit/b", None)) == FileContent(every), "bytes")
    mode = _command(sandbox, BackendToolCommandRun("stat -c %a kit/b"))
    _expect(mode.stdout.rstrip() == b"600", f"the mode is {mode.stdout!r}")
    sandbox.dispatch(BackendToolFilesWrite("kit/a", ""))
    listed = sandbox.dispatch(BackendToolFilesList("kit"))
    assert isinstance(listed, FileEntries), f"listing answers {listed}"
    names = [(entry.name, entry.is_dir) for entry in listed.entries]
    _expect(names == [("a", False), ("b", False), ("deep", True)], f"the listing is {names}")
    for entry in listed.entries:
        _expect(posixpath.basename(entry.path) == entry.name, f"{entry.path} is not its path")
    for path, there in (("kit/b", True), ("kit", True), ("nothing", False)):
        found = sandbox.dispatch(BackendToolFilesExists(path))
        _expect(found is there, f"whether {path} exists: {found}")


def _trouble_with_files(sandbox: BackendSandbox) -> None:
    missing = sandbox.dispatch(BackendToolFilesRead("nothing/here.txt"))
    _expect(_kind(missing) == "file_not_found", f"reading nothing answers {missing}")
    detail = getattr(missing, "detail", None) or ""
    _expect(detail.endswith("/nothing/here.txt"), f"its detail is {detail!r}")
    nowhere = sandbox.dispatch(BackendToolFilesList("nothing"))
    _expect(_kind(nowhere) == "os_error", f"listing nothing answers {nowhere}")
    sandbox.dispatch(BackendToolFilesWrite("no-text", b"\xff\xfe\xfd"))
    unread = sandbox.dispatch(BackendToolFilesRead("no-text"))
    _expect(_kind(unread) is not None, f"what is no text answers {unread}")
    over = sandbox.dispatch(BackendToolFilesWrite("no-text/below", ""))
    _expect(_kind(over) is not None, f"writing below a file answers {over}")


def _code(sandbox: BackendSandbox) -> None:
    ran = sandbox.dispatch(BackendToolCodeRun("print(6 * 7)"))
    assert isinstance(ran, CodeResult), f"code answers {ran}"
    _expect((ran.stdout.rstrip(), ran.error) == ("42", None), f"code gives {ran}")
    wrong = sandbox.dispatch(BackendToolCodeRun("1/0"))
    assert isinstance(wrong, CodeResult), f"wrong code answers {wrong}"
    _expect("ZeroDivisionError" in (wrong.error or ""), f"its error is {wrong.error!r}")
    foreign = sandbox.dispatch(BackendToolCodeRun("x", language="latin"))
    _expect(_kind(foreign) == "unsupported_tool", f"another language answers {foreign}")
    _expect(getattr(foreign, "detail", None) == "latin", "the language is not its detail")


def _refusals(sandbox: BackendSandbox) -> None:
    unknown = sandbox.dispatch(_Novelty())
    _expect(_kind(unknown) == "unsupported_tool", f"an unknown payload answers {unknown}")
    for payload in (
        BackendToolCommandRun("a\0b"),
        BackendToolCommandRun([]),
        BackendToolCommandRun(["there-is-no-such-program"]),
        BackendToolFilesRead("a\0b"),
        BackendToolFilesRead("kit/b", "no-such-encoding"),
        BackendToolFilesWrite("", ""),
    ):
        answer = sandbox.dispatch(payload)
        ran = isinstance(answer, CommandResult) and answer.exit_code != 0
        _expect(ran or _kind(answer) is not None, f"{payload} answers {answer}")


def _at_once(sandbox: BackendSandbox) -> None:
    def ask(number: int) -> bytes:
        return _command(sandbox, BackendToolCommandRun(f"echo {number}")).stdout.rstrip()

    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(ask, range(8)))
    _expect(told == [str(number).encode() for number in range(8)], f"mixed up: {told}")


def _closing(handle: BackendSandbox) -> None:
    _expect(handle.closed, "the last release did not close it")
    try:
        answer = handle.dispatch(BackendToolFilesExists("."))
    except BackendSandboxClosed as closed:
        _expect(handle.id in str(closed), f"{closed} does not name {handle.id}")
    else:
        raise AssertionError(f"a closed sandbox answers {answer}")


def _command(sandbox: BackendSandbox, payload: BackendToolCommandRun) -> CommandResult:
    answer = sandbox.dispatch(payload)
    assert isinstance(answer, CommandResult), f"{payload.cmd!r} answers {answer}"
    return answer


def _kind(answer: object) -> str | None:
    return answer.kind if isinstance(answer, ToolExecutionFailure) else None


def _expect(held: bool, otherwise: str) -> None:  # noqa: FBT001 - an assertion reads best this way
    if not held:
        raise AssertionError(otherwise)
