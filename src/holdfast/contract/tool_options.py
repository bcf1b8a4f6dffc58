"""How a tool may be declared beside its function: every option, with its type.

Shared by whoever writes tools and whoever makes them; nothing is made here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypedDict

from holdfast.contract.requirements import RequirementSet
from holdfast.contract.tool import (
    AcpKind,
    AsksFor,
    Effect,
    Guard,
    InterruptBehavior,
    Limits,
    Ownership,
    PermissionPolicy,
    UsesOf,
)

ResourceKey = Callable[[Mapping[str, object]], tuple[str, ...]]


class ToolOptions(TypedDict, total=False):
    """Everything is optional; what is left out has the default `Tool` gives it."""

    name: str
    description: str
    requires: Mapping[str, object] | RequirementSet
    """Left out, the tool needs nothing: it has the empty set."""
    uses: Mapping[str, str | Iterable[str]]
    """Which capability is used on what an argument names, e.g. ``{"path": "fs.write"}``."""
    targets: Mapping[str, Callable[[str, str], Iterable[str]]]
    """For an argument of ``uses`` that is no path, host or command itself but names some, as a
    patch does: finds them, from its text and the capability. What it does not find is not judged:
    the body has to read the argument by the same function."""
    uses_of: UsesOf
    """Instead of ``uses``, where several arguments together say what a call uses. What it does not
    find is not judged: the body has to read the arguments by the same function."""
    guarded: Iterable[str]
    """Arguments that are paths below the workspace, without `..` and characters a shell reads."""
    ownership: Ownership
    permission_policy: PermissionPolicy
    asks_for: AsksFor
    """Which calls always ask, where not all of them do."""
    person_decides: bool
    """Commands of calls that always ask are not held to the list of a profile."""
    effects: Iterable[Effect]
    read_only: bool
    destructive: bool
    interrupt_behavior: InterruptBehavior
    acp_kind: AcpKind
    limits: Limits
    bypass_timeout: bool
    """The runtime's wall clock does not count for it, whatever ``limits`` say."""
    parallel_safe: bool
    resource_key: ResourceKey
    """Which resource a call touches; calls with equal keys never overlap."""
    keep_empty: Iterable[str]
    """Fields for which the empty string has a meaning."""
    guard: Guard
    """Looks at the arguments before anything is judged: a path outside of a root is then told as
    invalid_args, in the tool's words."""
    input_schema: Mapping[str, object]
    """Instead of the schema the annotations give."""
    output_schema: Mapping[str, object]
    inline: bool
    """The body is pure and quick: it runs in place, without a deadline. Sync functions only."""
