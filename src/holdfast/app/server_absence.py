"""MCP servers that are not there: what a call of their tools is answered with.

Whoever calls a tool of such a server is told of the server, although nobody may have heard of its
tools. Values alone.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from holdfast.contract.builders import failure_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.tool import Tool
from holdfast.sources.mcp.identity import where
from holdfast.sources.mcp.naming import owners_of
from holdfast.sources.mcp.pins import Quarantined
from holdfast.sources.mcp.setup import ServerSetup
from holdfast.sources.mcp.states import ServerState


def is_away(tool: str, states: Sequence[ServerState]) -> bool:
    """Whether a tool that is not among those that can be called may be of a server that is not
    there, or is held: a call says which."""
    owners = owners_of(tool, [one.name for one in states]) if states else ()
    return any(one.name in owners and _lacks(one, tool) for one in states)


def _lacks(state: ServerState, tool: str) -> bool:
    held = {one.tool for one in state.quarantined}
    return state.status != "connected" or any(
        one.id == tool and one.name in held for one in state.tools
    )


def left_out(
    notices: Mapping[str, tuple[str, ...]], configured: Collection[str]
) -> tuple[ServerState, ...]:
    """The servers that cannot be used as they are configured, and why."""
    return tuple(
        ServerState(name=name, status="failed", problem="; ".join(said), lasting=True)
        for name, said in notices.items()
        if name not in configured
    )


class WithoutClient:
    """Servers that nobody here can speak with: each of them is not there, and says why."""

    def __init__(self, setups: Sequence[ServerSetup], why: str) -> None:
        self._setups = setups
        self._why = why

    async def open(self, _patience: float = 0.0, /) -> None:
        """Nothing is connected."""

    async def settled(self) -> None:
        """Nothing is waited for."""

    async def close(self) -> None:
        """Nothing was."""

    def changed(self) -> bool:
        """Never."""
        return False

    def take_changes(self) -> bool:
        """There are none."""
        return False

    def tools(self, _taken: Collection[str] = (), /) -> tuple[Tool, ...]:
        """None."""
        return ()

    def states(self, _taken: Collection[str] = (), /) -> tuple[ServerState, ...]:
        """All of them, as they are."""
        return tuple(map(self._state, self._setups))

    async def pin(
        self, _server: str, _tool: str | None = None, _seen: Mapping[str, str] | None = None, /
    ) -> tuple[str, ...]:
        """LookupError: nothing is known that could be accepted."""
        raise LookupError(self._why)

    def _state(self, setup: ServerSetup) -> ServerState:
        if setup.disabled:
            status, why = "disabled", "it is disabled"
        else:
            status, why = "failed", self._why
        return ServerState(
            name=setup.name, status=status, where=where(setup), problem=why, lasting=True
        )


class Absent(Mapping[str, Failure]):
    """What to say of tools that are not in the catalog; a server is looked at when it is asked."""

    def __init__(
        self,
        held: Mapping[str, Failure],
        configured: Sequence[str],
        notices: Mapping[str, tuple[str, ...]],
        states: Callable[[], tuple[ServerState, ...]] = tuple,
    ) -> None:
        """``notices``: why servers that are not among the configured ones were left out."""
        self._held = held
        self._states = states
        self._configured = configured
        self._left_out = left_out(notices, configured)

    def __getitem__(self, tool: str) -> Failure:
        if tool in self._held:
            return self._held[tool]
        known = (*self._states(), *self._left_out)
        away = {one.name: one for one in known if one.status != "connected"}
        for name in owners_of(tool, {*self._configured, *away}):
            if name in away:
                return _away(away[name])
        raise KeyError(tool)

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


def _away(state: ServerState) -> Failure:
    problem = state.problem or f"it is {state.status}"
    lasting = state.lasting
    what = (
        f"A person has to correct it: holdfast mcp test {state.name} shows how it stands."
        if lasting
        else "Call again later, or do without it."
    )
    return failure_of(
        FailureKind.UNAVAILABLE,
        f"mcp server {state.name} is unavailable: {problem}. Its tools cannot be called. {what}",
        retryable=not lasting,
        extras={"server": state.name},
    )


def held_in(states: Sequence[ServerState]) -> dict[str, Failure]:
    """By name, what to say of the tools that are quarantined."""
    return {
        tool.id: held_back(state.name, held)
        for state in states
        for held in state.quarantined
        for tool in state.tools
        if tool.name == held.tool
    }


def held_back(server: str, held: Quarantined) -> Failure:
    """What a call of a tool that is quarantined is answered with."""
    return failure_of(
        FailureKind.REJECTED,
        f"The tool {held.tool} of the MCP server {server} is quarantined: {held.summary}. It cannot"
        f" be called until a person looks at the change and accepts it: holdfast mcp pin {server}",
        extras={"server": server},
    )
