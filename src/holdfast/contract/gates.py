"""Leave to open exactly one path or reach exactly one host, and refusals that say what is missing.

A gate is asked at the moment of use. What was admitted is what is opened: a physical path without
links, an address that was checked.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

Access = Literal["read", "write"]

_USUAL_PORTS = (None, 80, 443)
"""Those of the web."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why something is out of reach, and which requirement would change that."""

    reason: str
    target: str
    """The path or host, as it was asked for."""
    requirement: str | None = None
    """What would admit it, e.g. ``requires.fs.read = ['notes/*']``; None: nothing would."""
    basis: Literal["proven", "said"] = "proven"
    """``said``: a command said it could not reach it, and the policy does not admit it."""


class PathLeave(msgspec.Struct, frozen=True, gc=False):
    """Leave to open this path, absolute and without links, and not to follow any that appear."""

    path: str


class HostLeave(msgspec.Struct, frozen=True):
    """Leave to reach a host, once its address is checked, too."""

    name: str
    port: int | None
    reaches: Callable[[str], bool]
    """Whether an address that the name was resolved to may be connected to."""


def host_requirement(name: str, port: int | None) -> str:
    """What would admit a host: on the port it was asked for at, where that is no usual one."""
    shown = name
    if port not in _USUAL_PORTS:
        shown = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return f"requires.net.hosts = [{shown!r}]"


class PathGate(Protocol):
    """Judges paths as they are written; a relative one begins at the workspace root."""

    def __call__(self, access: Access, path: str, /) -> PathLeave | Refusal:
        """Judge where it leads now."""
        ...


class HostGate(Protocol):
    """Judges hosts."""

    def __call__(self, host: str, /) -> HostLeave | Refusal:
        """Judge a host, ``host:port`` or URL. Nothing is looked up."""
        ...


class CommandGate(Protocol):
    """Judges commands: a text for a shell, or a program and its arguments."""

    def __call__(self, command: str | Sequence[str], /) -> Refusal | None:
        """Why it may not be run; None: it may."""
        ...
