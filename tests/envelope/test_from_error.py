"""Whatever a body raises, the caller gets one failure that says what happened."""

import asyncio  # noqa: TID251 - its cancellation is one of the things a body may raise
import errno
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import anyio
import anyio.lowlevel
import msgspec
import pytest
from support import make_tool, settle

from holdfast import ToolEnvelope
from holdfast.contract import errors
from holdfast.contract.errors import ToolError
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import RunStyle, Tool
from holdfast.envelope.dialects import ok
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio

Invoke = Callable[[Mapping[str, object], Runtime], object]


def _raising(error: BaseException) -> Invoke:
    def body(_values: Mapping[str, object], _runtime: Runtime) -> NoReturn:
        raise error

    return body


async def _failure_of(error: BaseException) -> Failure:
    answer = await settle(make_tool(_raising(error), name="reader"))
    assert answer.failure is not None
    assert answer.tool == "reader"
    return answer.failure


class Rude(Exception):
    def __str__(self) -> NoReturn:
        raise RuntimeError("no text")


class OddKind(ToolError):
    kind = "boom"  # pyright: ignore[reportAssignmentType] - on purpose


class SkipsInit(errors.UserDenied):
    def __init__(self) -> None:
        self.extras = 5  # pyright: ignore[reportAttributeAccessIssue] - on purpose


ANYTHING: tuple[BaseException, ...] = (
    ValueError("bad x"),
    KeyError("k"),
    RuntimeError(),
    PermissionError(errno.EACCES, "Permission denied"),
    TimeoutError("socket"),
    StopIteration(5),
    StopAsyncIteration(),
    SystemExit(3),
    SystemExit(),
    RecursionError("deep"),
    MemoryError(),
    ExceptionGroup("several", [ValueError("a")]),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    Rude(),
    OddKind("odd"),
    SkipsInit(),
    ToolError(field=5, expected=["a"]),  # pyright: ignore[reportArgumentType] - on purpose
)


@pytest.mark.req("OSA-ERR-01", "OSA-FAI-03")
@pytest.mark.parametrize("error", ANYTHING, ids=lambda error: type(error).__name__)
async def test_no_exception_of_a_body_leaves_the_runtime(error: BaseException) -> None:
    answer = await settle(make_tool(_raising(error)))
    assert answer.failure is not None
    assert answer.failure.message
    assert ok.parse(ok.render(answer)).failure == answer.failure


def _styles(error: Exception) -> dict[RunStyle, Invoke]:
    async def awaited(_values: Mapping[str, object], _runtime: Runtime) -> object:
        await anyio.lowlevel.checkpoint()
        raise error

    def items(_values: Mapping[str, object], _runtime: Runtime) -> Iterator[int]:
        yield 1
        raise error

    async def async_items(_values: Mapping[str, object], _runtime: Runtime) -> AsyncIterator[int]:
        yield 1
        raise error

    return {
        "inline": _raising(error),
        "thread": _raising(error),
        "async": awaited,
        "generator": items,
        "async_generator": async_items,
    }


@pytest.mark.req("OSA-ERR-01")
@pytest.mark.parametrize("style", ["inline", "thread", "async", "generator", "async_generator"])
async def test_an_exception_becomes_a_failure_however_the_body_runs(style: RunStyle) -> None:
    body = _styles(errors.FileNotFound("no notes"))[style]
    answer = await settle(make_tool(body, style=style))
    assert answer.failure is not None
    assert (answer.failure.kind, answer.failure.message) == (FailureKind.NOT_FOUND, "no notes")


@pytest.mark.req("OSA-ERR-02", "OSA-KND-12", "OSA-FAI-04", "OSA-KND-07")
@pytest.mark.parametrize(
    "error",
    [
        errors.FileNotFound("no such file: a"),
        errors.DirectoryNotFound("no such directory: a"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "a"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_missing_path_is_not_found_and_names_the_argument(error: Exception) -> None:
    failure = await _failure_of(error)
    assert (failure.kind, failure.field, failure.retryable) == (
        FailureKind.NOT_FOUND,
        "path",
        False,
    )
    assert "a" in failure.message


@pytest.mark.req("OSA-KND-12", "SPEC-CON-20")
@pytest.mark.parametrize("look", [Path.read_text, os.listdir], ids=["file", "directory"])
async def test_a_path_that_really_is_missing_is_not_found(
    look: Callable[[Path], object], tmp_path: Path
) -> None:
    missing = tmp_path / "missing"
    answer = await settle(make_tool(lambda _values, _runtime: look(missing)))
    assert answer.failure is not None
    assert answer.failure.kind is FailureKind.NOT_FOUND
    assert str(missing) in answer.failure.message


@pytest.mark.req("SPEC-CON-20")
@pytest.mark.parametrize(
    "error",
    [
        KeyError("k"),
        LookupError("row 7 not found"),
        AttributeError("not found"),
        ModuleNotFoundError("no module"),
        NotADirectoryError(errno.ENOTDIR, "Not a directory"),
        FileExistsError("there"),
        PermissionError("no"),
        errors.PathOutsideRoot("out"),
        errors.PathError("odd"),
        errors.Unavailable("gone"),
        errors.BinaryFile("binary"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_nothing_but_a_missing_path_is_not_found(error: Exception) -> None:
    assert (await _failure_of(error)).kind is not FailureKind.NOT_FOUND


@pytest.mark.req("OSA-ERR-03", "OSA-KND-02")
async def test_a_path_outside_the_root_is_an_invalid_argument_with_an_example() -> None:
    failure = await _failure_of(errors.PathOutsideRoot("../etc leads out of the workspace"))
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, "path")
    assert failure.expected
    assert failure.retryable is True


@pytest.mark.req("OSA-ERR-04", "OSA-FAI-09")
async def test_invalid_arguments_name_no_field_unless_told() -> None:
    failure = await _failure_of(errors.InvalidArguments("start must come before end"))
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, None)
    told = await _failure_of(errors.InvalidArguments("m", field="end", extras={"given": 3}))
    assert (told.field, told.extras) == ("end", {"given": 3})


@pytest.mark.req("OSA-ERR-05")
async def test_an_operation_that_failed_may_be_tried_again() -> None:
    failure = await _failure_of(errors.OperationFailed("the disk said no"))
    assert (failure.kind, failure.retryable) == (FailureKind.EXECUTION_ERROR, True)


@pytest.mark.req("OSA-ERR-06")
async def test_binary_content_is_not_retryable_and_hints_at_another_way() -> None:
    failure = await _failure_of(errors.BinaryFile("logo.png is not text"))
    assert (failure.kind, failure.retryable) == (FailureKind.EXECUTION_ERROR, False)
    assert "Use a tool made for its format" in str(failure.extras["hint"])
    own = await _failure_of(errors.BinaryFile("m", hint="Use view_image."))
    assert own.extras == {"hint": "Use view_image."}


@pytest.mark.req("OSA-ERR-07", "OSA-KND-04")
async def test_a_refused_approval_is_user_denied() -> None:
    failure = await _failure_of(errors.UserDenied("Ada said no"))
    assert (failure.kind, failure.retryable) == (FailureKind.USER_DENIED, False)


@pytest.mark.req("OSA-ERR-08", "OSA-KND-03")
async def test_a_denial_by_policy_is_rejected() -> None:
    failure = await _failure_of(errors.PolicyDenied("not on weekdays"))
    assert (failure.kind, failure.retryable) == (FailureKind.REJECTED, False)


@pytest.mark.req("OSA-ERR-09", "OSA-FAI-08")
async def test_a_missing_system_permission_is_unavailable_and_stays_so() -> None:
    failure = await _failure_of(errors.MissingSystemPermission("no access to the calendar"))
    assert (failure.kind, failure.retryable) == (FailureKind.UNAVAILABLE, False)
    assert FailureKind.UNAVAILABLE.retryable is True


@pytest.mark.req("OSA-ERR-14", "OSA-KND-05", "OSA-KND-08")
async def test_a_silent_sandbox_timed_out_and_a_missing_one_is_unavailable() -> None:
    idle = await _failure_of(errors.SandboxIdleTimeout("nothing for 60 s"))
    assert (idle.kind, idle.retryable) == (FailureKind.TIMEOUT, True)
    starting = await _failure_of(errors.SandboxNotRunning("the sandbox is still starting"))
    assert (starting.kind, starting.retryable) == (FailureKind.UNAVAILABLE, True)


@pytest.mark.req("OSA-ERR-15")
@pytest.mark.parametrize("error", [errors.Cancelled(), errors.Cancelled("whatever it says")])
async def test_a_cancelled_body_is_told_in_one_sentence(error: Exception) -> None:
    failure = await _failure_of(error)
    assert (failure.kind, failure.retryable) == (FailureKind.EXECUTION_ERROR, False)
    assert failure.message == "Tool 'reader' was cancelled."


@pytest.mark.req("OSA-ERR-15")
async def test_an_abort_while_running_and_the_loops_own_cancellation_say_the_same() -> None:
    async def waits(_values: Mapping[str, object], runtime: Runtime) -> None:
        abort.set()
        await anyio.sleep(10)

    abort = Abort()
    stopped = await settle(
        _cancellable(make_tool(waits, name="reader", style="async")), abort=abort
    )
    before = await settle(make_tool(name="reader"), abort=abort)
    raised = await settle(make_tool(_raising(asyncio.CancelledError()), name="reader"))
    for answer in (stopped, before, raised):
        assert answer.failure is not None
        assert answer.failure.message == "Tool 'reader' was cancelled."
        assert answer.failure.kind is FailureKind.EXECUTION_ERROR
        assert answer.failure.retryable is False


def _cancellable(tool: Tool) -> Tool:
    return msgspec.structs.replace(tool, interrupt_behavior="cancel")


@pytest.mark.req("OSA-ERR-16", "SPEC-CON-23", "OSA-KND-06")
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("bad x"), "bad x"),
        (KeyError("name"), "KeyError: 'name'"),
        (RuntimeError(), "RuntimeError"),
        (SystemExit(), "SystemExit"),
        (TimeoutError("socket"), "socket"),
        (Rude(), "<Rude: str() raised RuntimeError>"),
        (OddKind("odd"), "odd"),
        (ValueError("a\ud800"), "a?"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_any_other_exception_is_an_execution_error_with_its_text(
    error: BaseException, message: str
) -> None:
    failure = await _failure_of(error)
    assert (failure.kind, failure.message) == (FailureKind.EXECUTION_ERROR, message)
    assert failure.retryable is True


@pytest.mark.req("SPEC-CON-21", "OSA-KND-08")
async def test_a_server_that_refuses_connections_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connecting is refused
        address: tuple[str, int] = taken.getsockname()

        def connect(_values: Mapping[str, object], _runtime: Runtime) -> object:
            return socket.create_connection(address, timeout=1)

        answer = await settle(make_tool(connect, style="thread"))
    assert answer.failure is not None
    assert (answer.failure.kind, answer.failure.retryable) == (FailureKind.UNAVAILABLE, True)


@pytest.mark.req("SPEC-CON-21")
@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError("reset"),
        BrokenPipeError("gone"),
        OSError(errno.EHOSTUNREACH, "No route to host"),
        OSError(errno.ENETUNREACH, "Network is unreachable"),
        errors.Unavailable("the provider is down"),
        errors.SandboxNotRunning("gone"),
    ],
    ids=repr,
)
async def test_what_cannot_be_reached_now_is_unavailable(error: Exception) -> None:
    failure = await _failure_of(error)
    assert (failure.kind, failure.retryable) == (FailureKind.UNAVAILABLE, True)


def test_an_author_can_turn_an_error_into_an_envelope() -> None:
    made = ToolEnvelope.from_error(errors.FileNotFound("no notes"), tool="reader")
    assert made.tool == "reader"
    assert made.failure is not None
    assert made.failure.kind is FailureKind.NOT_FOUND
    nameless = ToolEnvelope.from_error(errors.Cancelled())
    assert nameless.failure is not None
    assert nameless.failure.message == "Tool 'unknown' was cancelled."
