"""What one call is handed: the only way a tool body reaches the world.

Protocols and values. Who implements them is not known here.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import NoReturn, Protocol, TypeVar, cast

import msgspec

from holdfast.contract.errors import Unavailable
from holdfast.contract.files import Files
from holdfast.contract.json_value import JsonValue
from holdfast.contract.net import Net
from holdfast.contract.shell import Shell

_T = TypeVar("_T")

Ports = Mapping[type, Callable[["Runtime"], object]]
"""By the port's protocol: how a call gets what stands behind it."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A sign of life from a running tool."""

    message: str | None = None
    done: float | None = None
    total: float | None = None
    partial: JsonValue = None
    """What there is of the result so far."""


class ProgressSink(Protocol):
    """Where signs of life go. Safe to call from any thread."""

    def __call__(self, progress: Progress, /) -> None:
        """Report."""
        ...


class AbortSignal(Protocol):
    """Tells a body that its work is no longer wanted."""

    @property
    def aborted(self) -> bool:
        """Whether the call should stop."""
        ...

    async def wait(self) -> None:
        """Return once the call should stop."""
        ...

    def subscribe(self, stop: Callable[[], None], /) -> Callable[[], None]:
        """Have ``stop`` called once, from any thread, when the call should stop.

        Returns what takes the subscription back.
        """
        ...


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a body may know of the session it runs in."""

    id: str
    workspace: str | None = None


class Hand(Protocol):
    """The sandbox as a session sees it: what its calls reach the world with."""

    def files(self, runtime: "Runtime", /) -> Files:
        """The files within a call's reach."""
        ...

    def shell(self, runtime: "Runtime", /) -> Shell:
        """Commands within a call's reach."""
        ...

    def net(self, runtime: "Runtime", /) -> Net:
        """Hosts within a call's reach."""
        ...

    def wait(self, work: Coroutine[object, object, _T], /) -> _T:
        """Wait, in a thread of a tool, for work of the event loop."""
        ...

    def notice(self, call_id: str, words: Iterable[str], /) -> None:
        """Have the answer to a call say this, whatever its tool makes of it."""
        ...

    def noticed(self, call_id: str, /) -> tuple[str, ...]:
        """What the answer to a call has to say, whatever its tool makes of it; told once."""
        ...


class NoHand:
    """A session without a sandbox: pure tools work, and others are told."""

    def files(self, runtime: "Runtime", /) -> NoReturn:
        """There are none."""
        raise _nothing_to_reach(runtime, "fs")

    def shell(self, runtime: "Runtime", /) -> NoReturn:
        """There is none."""
        raise _nothing_to_reach(runtime, "shell")

    def net(self, runtime: "Runtime", /) -> NoReturn:
        """There is none."""
        raise _nothing_to_reach(runtime, "net")

    def wait(self, work: Coroutine[object, object, object], /) -> NoReturn:
        """There is nothing to wait for."""
        work.close()
        raise Unavailable("rt.wait: this session has no sandbox")

    def notice(self, _call_id: str, words: Iterable[str], /) -> None:
        """Nothing happens here."""

    def noticed(self, _call_id: str, /) -> tuple[str, ...]:
        """Nothing happens here."""
        return ()


def _nothing_to_reach(runtime: "Runtime", port: str) -> Unavailable:
    return Unavailable(f"rt.{port}: this session has no sandbox for tool '{runtime.tool}'")


class Runtime(msgspec.Struct, frozen=True, kw_only=True):
    """The capability surface of one call."""

    call_id: str
    tool: str = ""
    """The name of the tool that is called."""
    session: SessionFacts
    progress: ProgressSink
    abort: AbortSignal
    hand: Hand = NoHand()
    ports: Ports = {}
    model_call_id: str | None = None
    """The id that whoever calls gave it."""
    declared: object = None
    """The `Tool` as it was judged: a source may have another of that name by now. The host itself,
    which is no tool, has none."""

    def port(self, kind: type[_T], /) -> _T:
        """What the host has for a port; Unavailable when it has nothing."""
        found = self.ports.get(kind)
        if found is None:
            raise Unavailable(
                f"{self.tool} needs {kind.__name__}, and this host has none: it was opened without"
            )
        return cast("_T", found(self))

    @property
    def fs(self) -> Files:
        """Files. Blocking: use it from a synchronous tool, which runs in a thread."""
        return self.hand.files(self)

    @property
    def shell(self) -> Shell:
        """Commands, background jobs and the persistent shell."""
        return self.hand.shell(self)

    @property
    def net(self) -> Net:
        """Hosts."""
        return self.hand.net(self)

    def wait(self, work: Coroutine[object, object, _T], /) -> _T:
        """For synchronous tools: ``report = rt.wait(rt.shell.run("make"))``."""
        return self.hand.wait(work)
