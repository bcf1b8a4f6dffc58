"""A flow session's sandbox: a target until somebody needs it, then a shared handle.

A session contains one of these. It knows neither rows nor models.
"""

import threading
from types import TracebackType
from typing import NamedTuple, Self

from holdfast.contract.backend import NO_SPEC, BackendSandboxSpec, SandboxMissing
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.registry import DEFAULT, Registry
from holdfast.execution.backends.shipped import BACKENDS

_NONE = 'session has no sandbox backend; call session.to("local") or session.bind_sandbox(...)'


class SandboxTarget(NamedTuple):
    """Where a sandbox is to be opened once it is needed."""

    backend: str
    spec: BackendSandboxSpec


class SandboxBinding:
    """Holds one reference of its handle, and one more while it is entered."""

    def __init__(self, backends: Registry = BACKENDS) -> None:
        self._backends = backends
        self._lock = threading.RLock()
        self._entered: list[BackendSandbox] = []
        self._target: SandboxTarget | None = None
        self._sandbox: BackendSandbox | None = None

    @property
    def target(self) -> SandboxTarget | None:
        """Where a sandbox is opened when one is needed."""
        return self._target

    @property
    def sandbox(self) -> BackendSandbox | None:
        """The handle, if there is one."""
        return self._sandbox

    def to(self, backend: str = DEFAULT, spec: BackendSandboxSpec | str | None = None) -> Self:
        """Record where its sandbox shall be, and let go of any it has. Nothing is opened.

        A spec that is a text is the working directory.
        """
        if isinstance(spec, str):
            spec = BackendSandboxSpec(working_dir=spec)
        with self._lock:
            self.close()
            self._target = SandboxTarget(backend, spec or NO_SPEC)
        return self

    def bind_sandbox(self, sandbox: BackendSandbox) -> Self:
        """Share a handle that is open; BackendSandboxClosed when it is not."""
        with self._lock:
            sandbox.acquire()
            self.close()
            self._sandbox = sandbox
        return self

    def share(self, other: "SandboxBinding") -> Self:
        """Take over what another session has: its open handle, counted, and its target.

        A target alone is only passed on: the handle then opens here, and the other gets none.
        """
        with other._lock:
            target, sandbox = other._target, other._sandbox
        with self._lock:
            if sandbox is not None and not sandbox.closed:
                self.bind_sandbox(sandbox)
            else:
                self.close()
            self._target = target
        return self

    def require_sandbox(self) -> BackendSandbox:
        """The open handle; opened now if only its target is known."""
        with self._lock:
            if self._sandbox is None:
                if self._target is None:
                    raise SandboxMissing(_NONE)
                backend = self._backends.get(self._target.backend)
                self._sandbox = BackendSandbox(backend, self._target.spec).acquire()
            elif self._sandbox.closed:
                raise SandboxMissing("session sandbox is closed")
            return self._sandbox

    def close(self) -> None:
        """Let go of the handle; the target stays."""
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.release()

    def __enter__(self) -> Self:
        with self._lock:
            self._entered.append(self.require_sandbox().acquire())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            entered = self._entered.pop()
            outermost = not self._entered
        entered.release()
        if outermost:
            self.close()
