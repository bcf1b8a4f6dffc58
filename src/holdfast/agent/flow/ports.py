"""What a flow loop is handed: who completes and settles for it, and who keeps what it writes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

import msgspec

from holdfast.contract.chunks import AskedCall, ChunkTable
from holdfast.contract.failure import Failure
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ModelReply
from holdfast.runtime.flow_session import Session

Schema: TypeAlias = Mapping[str, object]
"""An OpenAI-style function."""


class FlowCall(msgspec.Struct, frozen=True):
    """A call that a model asked for, and the tool it is for."""

    asked: AskedCall
    tool: FlowToolCall
    arguments: JsonObject


class RefusedCall(msgspec.Struct, frozen=True):
    """One that does not run, and why."""

    asked: AskedCall
    failure: Failure


LookedUp: TypeAlias = FlowCall | RefusedCall


class Executor(Protocol):
    """Completes and dispatches in the loop's stead. Plain functions run in a worker thread."""

    def complete(self, rows: ChunkTable, tools: Sequence[Schema], /) -> object:
        """Ask a model; gives a `ModelReply`, now or when it is awaited.

        ``tools``: OpenAI-style function schemas.
        """
        ...

    def dispatch_tool(
        self, session: Session, tool: FlowToolCall, arguments: JsonObject, /
    ) -> object:
        """Run a call; gives what the tool returns, now or when it is awaited, or raises."""
        ...

    def tool_schemas(self) -> Sequence[Schema]:
        """OpenAI-style function schemas instead of the table's; empty: the table's."""
        ...


class Host(Protocol):
    """Asks the model and settles the calls of one loop."""

    def tool_schemas(self) -> Sequence[Schema]:
        """Schemas instead of the table's; empty: the table's."""
        ...

    async def complete(self, rows: ChunkTable, tools: Sequence[Schema], /) -> ModelReply:
        """Ask the model once."""
        ...

    async def settle(self, call: LookedUp, /) -> str:
        """The text of the row that answers a call. What is no `Exception` escapes."""
        ...


class Keeper(Protocol):
    """Keeps the rows of one session somewhere."""

    async def grown(self, session: Session, /) -> None:
        """There may be more rows, or a larger bill."""
        ...

    async def ended(self, session: Session, /) -> None:
        """It came to its end well; nothing more comes."""
        ...


class Ground(msgspec.Struct, frozen=True):
    """What one loop stands on."""

    host: Host
    keepers: tuple[Keeper, ...] = ()


Opening = Callable[[Session], AbstractAsyncContextManager[Ground]]
"""Opens the ground of a loop for its output session."""
