"""The class face of a tool: a schema the model sees and a callable that gets the session."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Protocol

from holdfast.contract.backend import BackendTool, ToolResult


class FlowSandbox(Protocol):
    """The sandbox as a flow tool sees it."""

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        """Run one operation; a failure is a value, too."""
        ...


class FlowSession(Protocol):
    """The session as a flow tool sees it."""

    def require_sandbox(self) -> FlowSandbox:
        """The open sandbox; RuntimeError when the session has none."""
        ...


class FlowToolCall(ABC):
    """A model-callable tool. Subclasses provide ``name``, ``parameters`` and ``__call__``."""

    parallel_safe: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The function name the model sees, and the key the loop finds the tool by."""

    @property
    def description(self) -> str | None:
        """What helps the model decide when to call it."""
        return None

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """JSON Schema of the arguments; goes to the model unchanged."""

    @abstractmethod
    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        """Run with the current session and the parsed arguments; answer with any object."""

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:  # noqa: ARG002 - overriders use it
        """Which resource a call touches; equal keys never overlap."""
        return ("safe", self.name) if self.parallel_safe else ("global",)
