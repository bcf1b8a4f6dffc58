"""A backend of the tests: it notes what happens to it, and does what it is told."""

import threading
from collections.abc import Callable

from holdfast.contract.backend import (
    BackendCapabilities,
    BackendSandboxSpec,
    BackendTool,
    BackendToolFilesExists,
    OpenedSandbox,
    ToolExecutionFailure,
    ToolResult,
)


def _yes(_payload: BackendTool) -> bool:
    return True


class Sandbox:
    """Counts what is done with it."""

    def __init__(self, act: Callable[[BackendTool], ToolResult | bool]) -> None:
        self._act = act
        self._lock = threading.Lock()
        self.closed = 0
        self.close_fails = False

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        return self._act(payload)

    def close(self) -> None:
        with self._lock:
            self.closed += 1
        if self.close_fails:
            raise OSError("cannot be closed")


class FakeBackend:
    name = "fake"
    capabilities = BackendCapabilities(isolation="process")
    accepted: frozenset[type[BackendTool]] = frozenset({BackendToolFilesExists})

    def __init__(self, act: Callable[[BackendTool], ToolResult | bool] | None = None) -> None:
        self.act = act or _yes
        self.opened: list[Sandbox] = []
        self.specs: list[BackendSandboxSpec] = []
        self.failing: list[ToolExecutionFailure | Exception] = []
        self.opening: Callable[[], None] = lambda: None
        self.unavailable: str | None = None

    def why_unavailable(self) -> str | None:
        return self.unavailable

    def open(self, spec: BackendSandboxSpec, /) -> OpenedSandbox | ToolExecutionFailure:
        self.opening()
        if self.failing:
            failure = self.failing.pop()
            if isinstance(failure, Exception):
                raise failure
            return failure
        self.specs.append(spec)
        self.opened.append(Sandbox(self.act))
        return self.opened[-1]


ASK = BackendToolFilesExists("x")
