"""Local sandboxes for tests, and what they answer."""

from pathlib import Path

from holdfast.contract.backend import (
    BackendSandboxSpec,
    BackendTool,
    BackendToolCommandRun,
    CommandResult,
    ToolExecutionFailure,
)
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalBackend, LocalSettings


def opened(
    settings: LocalSettings, place: Path | None, env: dict[str, str] | None = None
) -> BackendSandbox:
    spec = BackendSandboxSpec(working_dir=None if place is None else str(place), env=env)
    return BackendSandbox(LocalBackend(settings), spec)


def result_of(sandbox: BackendSandbox, payload: BackendToolCommandRun | str) -> CommandResult:
    if isinstance(payload, str):
        payload = BackendToolCommandRun(payload)
    answer = sandbox.dispatch(payload)
    assert isinstance(answer, CommandResult), answer
    return answer


def failure_of(sandbox: BackendSandbox, payload: BackendTool) -> ToolExecutionFailure:
    answer = sandbox.dispatch(payload)
    assert isinstance(answer, ToolExecutionFailure), answer
    return answer
