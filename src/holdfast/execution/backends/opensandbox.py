"""The OpenSandbox backend: sandboxes of a server, reached through its official client.

The client is an extra (`holdfast[opensandbox]`) and is loaded when a sandbox is opened, not before.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Protocol, cast

from holdfast.contract.backend import (
    BackendCapabilities,
    BackendSandboxSpec,
    BackendTool,
    BackendToolCodeRun,
    BackendToolCommandRun,
    OpenedSandbox,
    ToolExecutionFailure,
)
from holdfast.execution.backends.local_files import FILE_PAYLOADS

DOMAIN_VARIABLE = "OPEN_SANDBOX_DOMAIN"
KEY_VARIABLE = "OPEN_SANDBOX_API_KEY"

_PACKAGES = ("opensandbox", "code_interpreter")
_CLIENT = "holdfast.execution.backends.opensandbox_client"
_NOT_INSTALLED = "the OpenSandbox client is not installed; install holdfast[opensandbox]"


class _Client(Protocol):
    """The module that knows the client."""

    def open_sandbox(
        self, domain: str, key: str | None, spec: BackendSandboxSpec
    ) -> OpenedSandbox | ToolExecutionFailure: ...


class OpenSandboxBackend:
    """Runs payloads in containers of an OpenSandbox server."""

    name = "opensandbox"
    capabilities = BackendCapabilities(isolation="container")
    accepted: frozenset[type[BackendTool]] = FILE_PAYLOADS | {
        BackendToolCommandRun,
        BackendToolCodeRun,
    }

    def __init__(
        self, environment: Mapping[str, str], packages: tuple[str, ...] = _PACKAGES
    ) -> None:
        """The environment says where the server is; the client consists of the packages."""
        self._environment = environment
        self._packages = packages

    def why_unavailable(self) -> str | None:
        """Whether client and server are named; nobody is asked whether the server answers."""
        if not self._is_installed():
            return _NOT_INSTALLED
        if not self._environment.get(DOMAIN_VARIABLE):
            return f"no server is named; set {DOMAIN_VARIABLE}, e.g. to localhost:8080"
        return None

    def open(self, spec: BackendSandboxSpec, /) -> OpenedSandbox | ToolExecutionFailure:
        """Start a container and wait until it answers."""
        if not self._is_installed():
            return ToolExecutionFailure("sdk_missing", _NOT_INSTALLED)
        domain = self._environment.get(DOMAIN_VARIABLE)
        if not domain:
            return ToolExecutionFailure("sandbox_sdk_error", str(self.why_unavailable()))
        client = cast("_Client", importlib.import_module(_CLIENT))
        return client.open_sandbox(domain, self._environment.get(KEY_VARIABLE), spec)

    def _is_installed(self) -> bool:
        return all(importlib.util.find_spec(name) is not None for name in self._packages)
