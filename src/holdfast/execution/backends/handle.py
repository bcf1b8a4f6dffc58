"""A handle on one sandbox of a backend: counted by reference, closed exactly once.

Whoever binds, enters or acquires it adds one; who releases the last one closes it. A handle that is
simply forgotten is closed as well, and so is every open one when the interpreter ends. Nothing a
backend does leaves it as an exception.
"""

import os
import threading
import weakref
from types import TracebackType
from typing import Self
from uuid import uuid4

from holdfast.contract.backend import (
    NO_SPEC,
    Backend,
    BackendSandboxClosed,
    BackendSandboxSpec,
    BackendTool,
    OpenedSandbox,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.execution.backends.still_open import STILL_OPEN
from holdfast.execution.backends.streams import Stream


class BackendSandbox:
    """A sandbox that several may share. Opened with a count of nought; use it from any thread."""

    def __init__(self, backend: Backend, spec: BackendSandboxSpec = NO_SPEC) -> None:
        self.id = f"{backend.name}-{uuid4().hex[:12]}"
        self.backend = backend
        self.spec = spec
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._count = 0
        self._closed = False
        self._opened: OpenedSandbox | None = None
        self._finalizer: weakref.finalize[..., object] | None = None
        self._ready()

    @property
    def references(self) -> int:
        """How many hold it."""
        return self._count

    @property
    def closed(self) -> bool:
        """Whether the last one let go of it."""
        return self._closed

    def acquire(self) -> Self:
        """Add a reference; BackendSandboxClosed when it is too late for that."""
        with self._lock:
            if self._closed:
                raise self._is_closed()
            self._count += 1
        return self

    def release(self) -> None:
        """Take a reference back; the last one closes. Afterwards it does nothing."""
        with self._lock:
            self._count = max(0, self._count - 1)
            if self._count or self._closed:
                return
            self._closed = True
            opened, self._opened = self._opened, None
            finalizer = self._finalizer
        if finalizer is not None:
            finalizer.detach()
        if opened is not None:
            STILL_OPEN.close(opened, self._process)

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        """Run one operation and wait for its result; a failure is a value, too.

        Raises nothing but BackendSandboxClosed.
        """
        if self._closed:
            raise self._is_closed()
        if os.getpid() != self._process:
            return ToolExecutionFailure(
                "sandbox_closed",
                f"sandbox '{self.id}' belongs to the process this one was forked from;"
                " open a new one",
            )
        if not isinstance(payload, tuple(self.backend.accepted)):
            kind = type(payload).__name__
            return ToolExecutionFailure(
                "unsupported_tool", f"backend '{self.backend.name}' does not run {kind}", kind
            )
        opened = self._ready()
        if isinstance(opened, ToolExecutionFailure):
            return opened
        try:
            return opened.dispatch(payload)
        except Exception as problem:  # noqa: BLE001 - a foreign backend may raise anything at all
            return _unexpected(problem)

    def stream(self, buffer: int = 0) -> Stream:
        """A queue of operations with a worker of its own; ``buffer`` bounds how many may wait."""
        return Stream(self, buffer)

    def _ready(self) -> OpenedSandbox | ToolExecutionFailure:
        """The sandbox itself; what failed to open is tried again by the next operation."""
        with self._opening:
            if self._opened is not None:
                return self._opened
            if self._closed:
                return ToolExecutionFailure("sandbox_closed", str(self._is_closed()))
            try:
                opened = self.backend.open(self.spec)
            except Exception as problem:  # noqa: BLE001 - a foreign backend may raise anything at all
                return _unexpected(problem)
            if isinstance(opened, ToolExecutionFailure):
                return opened
            with self._lock:
                if not self._closed:
                    self._opened = opened
                    self._finalizer = STILL_OPEN.watch(self, opened)
                    return opened
        STILL_OPEN.close(opened, self._process)
        return ToolExecutionFailure("sandbox_closed", f"sandbox '{self.id}' was closed meanwhile")

    def _is_closed(self) -> BackendSandboxClosed:
        return BackendSandboxClosed(f"sandbox '{self.id}' is closed")


def _unexpected(problem: Exception) -> ToolExecutionFailure:
    kind = type(problem).__name__
    return ToolExecutionFailure("unexpected", f"{kind}: {problem}", kind)
