"""A backend that counts how often it is opened."""

from holdfast.contract.backend import (
    BackendCapabilities,
    BackendSandboxSpec,
    BackendTool,
    ToolExecutionFailure,
)


class CountingBackend:
    name = "counting"
    capabilities = BackendCapabilities(isolation="process")
    accepted: frozenset[type[BackendTool]] = frozenset({BackendTool})

    def __init__(self) -> None:
        self.opened = 0

    def why_unavailable(self) -> str | None:
        return None

    def open(self, spec: BackendSandboxSpec, /) -> ToolExecutionFailure:
        self.opened += 1
        return ToolExecutionFailure("os_error", "it only counts")
