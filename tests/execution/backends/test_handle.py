"""A handle is counted, opened once, closed once, and lets no exception of a backend through."""

import gc
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from execution.backends.fake_backend import ASK, FakeBackend, Sandbox
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.backend import (
    BackendSandboxClosed,
    BackendSandboxSpec,
    BackendToolCommandRun,
    ToolExecutionFailure,
)
from holdfast.contract.failure import FailureKind
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalBackend, LocalSettings
from holdfast.execution.backends.still_open import StillOpen
from holdfast.flow import open_sandbox


def _kind(answer: object) -> str | None:
    return answer.kind if isinstance(answer, ToolExecutionFailure) else None


@pytest.mark.req("RATH-SBX-05")
def test_who_enters_or_acquires_adds_one_and_the_last_release_closes() -> None:
    backend = FakeBackend()
    handle = BackendSandbox(backend)
    assert (handle.references, handle.closed) == (0, False)
    with handle as entered:
        assert entered is handle
        assert handle.acquire() is handle
        assert handle.references == 2
        handle.release()
        assert (handle.references, handle.closed) == (1, False)
        assert backend.opened[0].closed == 0
    assert (handle.references, handle.closed) == (0, True)
    assert backend.opened[0].closed == 1
    handle.release()
    handle.release()
    assert (handle.references, backend.opened[0].closed) == (0, 1)
    with pytest.raises(BackendSandboxClosed, match=handle.id):
        handle.acquire()
    with pytest.raises(BackendSandboxClosed, match=handle.id), handle:
        pass


@given(st.lists(st.sampled_from(["acquire", "release"]), max_size=30))
def test_however_it_is_used_it_is_closed_at_most_once(steps: list[str]) -> None:
    backend = FakeBackend()
    handle, count, closed = BackendSandbox(backend), 0, False
    for step in steps:
        if step == "release":
            handle.release()
            count = max(0, count - 1)
            closed = closed or count == 0
        elif closed:
            with pytest.raises(BackendSandboxClosed):
                handle.acquire()
        else:
            handle.acquire()
            count += 1
        assert (handle.references, handle.closed) == (count, closed)
        assert backend.opened[0].closed == closed


@pytest.mark.req("RATH-SBX-05")
def test_threads_that_race_for_the_last_release_close_it_once() -> None:
    for _ in range(50):
        backend = FakeBackend()
        handle = BackendSandbox(backend)
        for _ in range(4):
            handle.acquire()
        together = threading.Barrier(6)

        def use(handle: BackendSandbox = handle, together: threading.Barrier = together) -> None:
            together.wait()
            handle.release()
            try:
                handle.acquire().release()
            except BackendSandboxClosed:
                return

        threads = [threading.Thread(target=use) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert handle.closed
        assert backend.opened[0].closed == 1


@pytest.mark.req("RATH-SBX-06")
def test_a_closed_handle_runs_nothing_and_says_which_it_is() -> None:
    handle = BackendSandbox(FakeBackend())
    handle.release()
    with pytest.raises(BackendSandboxClosed) as raised:
        handle.dispatch(ASK)
    assert str(raised.value) == f"sandbox '{handle.id}' is closed"
    assert raised.value.kind is FailureKind.UNAVAILABLE


@pytest.mark.req("RATH-BKD-03")
def test_a_payload_the_backend_does_not_accept_never_reaches_it() -> None:
    reached: list[object] = []

    def act(payload: object) -> bool:
        reached.append(payload)
        return True

    with BackendSandbox(FakeBackend(act)) as handle:
        failure = handle.dispatch(BackendToolCommandRun("true"))
        assert handle.dispatch(ASK) is True
    assert isinstance(failure, ToolExecutionFailure)
    assert (failure.kind, failure.detail) == ("unsupported_tool", "BackendToolCommandRun")
    assert reached == [ASK]


@pytest.mark.req("RATH-PAY-15")
def test_what_a_backend_raises_is_a_failure_value() -> None:
    def act(_payload: object) -> bool:
        raise ValueError("broken")

    with BackendSandbox(FakeBackend(act)) as handle:
        failure = handle.dispatch(ASK)
    assert failure == ToolExecutionFailure("unexpected", "ValueError: broken", "ValueError")


def test_what_could_not_be_opened_is_tried_again() -> None:
    backend = FakeBackend()
    refused = ToolExecutionFailure("sandbox_sdk_error", "no room")
    backend.failing = [OSError("worse"), refused, refused]
    spec = BackendSandboxSpec(image="x")
    with BackendSandbox(backend, spec) as handle:
        assert handle.dispatch(ASK) == refused
        assert _kind(handle.dispatch(ASK)) == "unexpected"
        assert handle.dispatch(ASK) is True
        assert handle.dispatch(ASK) is True
        assert backend.specs == [spec]
    assert [one.closed for one in backend.opened] == [1]


def test_a_handle_that_never_opened_closes_without_trouble() -> None:
    backend = FakeBackend()
    backend.failing = [ToolExecutionFailure("os_error", "no")]
    handle = BackendSandbox(backend)
    handle.release()
    assert handle.closed


def test_a_sandbox_that_fails_to_close_is_closed_for_us(caplog: pytest.LogCaptureFixture) -> None:
    backend = FakeBackend()
    handle = BackendSandbox(backend)
    backend.opened[0].close_fails = True
    handle.release()
    assert handle.closed
    assert "could not be closed" in caplog.text


def test_closing_while_it_opens_closes_what_was_opened() -> None:
    backend = FakeBackend()
    backend.failing = [ToolExecutionFailure("os_error", "not yet")]
    handle = BackendSandbox(backend)
    backend.opening = handle.release
    assert _kind(handle.dispatch(ASK)) == "sandbox_closed"
    assert [one.closed for one in backend.opened] == [1]


def test_closing_before_it_opens_opens_nothing() -> None:
    backend = FakeBackend()
    backend.failing = [ToolExecutionFailure("os_error", "not yet")]
    handle = BackendSandbox(backend)

    class _Releases(frozenset[type]):
        """Closes the handle between its first look and the opening."""

        def __iter__(self):  # noqa: ANN204 - the set's
            handle.release()
            return super().__iter__()

    backend.accepted = _Releases(backend.accepted)
    assert _kind(handle.dispatch(ASK)) == "sandbox_closed"
    assert backend.opened == []


def test_another_process_is_told_to_open_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = FakeBackend()
    handle = BackendSandbox(backend).acquire()
    here = os.getpid()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "getpid", lambda: here + 1)
        failure = handle.dispatch(ASK)
    assert isinstance(failure, ToolExecutionFailure)
    assert failure.kind == "sandbox_closed"
    assert "open a new one" in failure.message
    assert handle.dispatch(ASK) is True


@pytest.mark.parametrize("backend", [None, "local", LocalBackend(LocalSettings())])
@pytest.mark.parametrize("as_text", [True, False])
def test_a_sandbox_is_opened_by_name_by_default_or_by_backend(
    tmp_path: Path, backend: str | LocalBackend | None, as_text: bool
) -> None:
    place = str(tmp_path / "new")
    with open_sandbox(backend, place if as_text else BackendSandboxSpec(working_dir=place)) as own:
        assert own.backend.name == "local"
        assert own.references == 1
    assert Path(place).is_dir()
    with open_sandbox(backend) as own:
        assert own.spec == BackendSandboxSpec()


def _until(happened: Callable[[], bool]) -> None:
    waiting = threading.Event()
    while not happened():
        gc.collect()
        waiting.wait(0.01)


def test_a_handle_nobody_holds_is_closed() -> None:
    backend = FakeBackend()
    handle = BackendSandbox(backend)
    handle.acquire()
    sandbox = backend.opened[0]
    del handle
    _until(lambda: sandbox.closed == 1)


def test_what_is_still_open_at_the_end_is_closed() -> None:
    still_open = StillOpen()
    backend = FakeBackend()
    sandboxes = [Sandbox(backend.act) for _ in range(3)]
    handles = [FakeBackend() for _ in sandboxes]
    for handle, sandbox in zip(handles, sandboxes, strict=True):
        still_open.watch(handle, sandbox)
    still_open.close(sandboxes[0], os.getpid())
    still_open.close_all()
    still_open.close_all()
    assert [sandbox.closed for sandbox in sandboxes] == [1, 1, 1]


def test_what_another_process_opened_is_not_closed() -> None:
    still_open = StillOpen()
    sandbox, handle = Sandbox(FakeBackend().act), FakeBackend()
    still_open.watch(handle, sandbox)
    still_open.close(sandbox, os.getpid() + 1)
    still_open.close_all()
    assert sandbox.closed == 0
    still_open.watch(handle, sandbox)
    still_open.forget()
    still_open.close_all()
    assert sandbox.closed == 0
