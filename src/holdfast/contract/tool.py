"""A tool: one definition that the catalog, the policy and the execution all read.

It holds no scheduling, no routing, no publication and no environment settings.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, get_args

import msgspec

from holdfast.contract.encoded import is_encoded
from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.runtime import Runtime, SessionFacts

Ownership = Literal["managed", "mcp", "custom"]
"""Who fulfils the call: this runtime, an MCP server, or the application (the runtime pauses)."""

PermissionPolicy = Literal["always_allow", "always_ask"]

Effect = Literal[
    "session_read",
    "session_write",
    "resource_read",
    "resource_write",
    "memory_read",
    "memory_write",
    "learning_read",
    "skill_read",
    "sandbox_execute",
]

InterruptBehavior = Literal["cancel", "block"]
"""Whether an interrupt may stop the running call, or waits for its end."""

AcpKind = Literal[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
]

LOCKED_NAMES = frozenset(
    {
        "read",
        "write",
        "edit",
        "glob",
        "grep",
        "bash",
        "todo",
        "task",
        "question",
        "web_search",
        "web_fetch",
        "skill",
        "tool_search",
    }
)
"""Names models have learned. Only the built-in tools may bear them."""

PERSON_NAMES = frozenset({"question"})
"""Tools that only a person can answer: without one, nothing can make them run."""

DEFAULT_WALL_SECONDS = 120.0
DEFAULT_OUTPUT_BYTES = 100_000


class OutputBound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of a result a model is shown at once."""

    max_bytes: int = DEFAULT_OUTPUT_BYTES
    max_items: int | None = None
    """Bound a list field by its length as well."""
    fields: tuple[str, ...] = ()
    """The result's fields that may be cut; without any, the largest one is."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one call may use."""

    wall_seconds: float | None = DEFAULT_WALL_SECONDS
    """None: the tool has opted out of the wall clock."""
    output: OutputBound = OutputBound()

    def __post_init__(self) -> None:
        if self.wall_seconds is not None and not self.wall_seconds > 0:
            raise ValueError("limits.wall_seconds must be positive, or None to opt out")


class ArgumentFault(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments that fit the schema but not the types behind it."""

    message: str
    field: str | None = None


Guard = Callable[[JsonObject, SessionFacts], ArgumentFault | None]
"""Says what is wrong with arguments in a session; what it says is invalid_args."""

Decode = Callable[[JsonObject], "dict[str, object] | ArgumentFault"]
"""Turns checked JSON arguments into what the body takes."""

Read = Callable[[str | bytes], "dict[str, object] | ArgumentFault"]
"""Does the same from the JSON text itself, in one pass."""

RunStyle = Literal["async", "thread", "inline", "generator", "async_generator"]


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """What runs, and how: awaited, in a worker thread, in place, or item by item."""

    style: RunStyle
    invoke: Callable[[Mapping[str, object], Runtime], object]
    decode: Decode | None = None
    read: Read | None = None
    """Beside `decode`, and giving the same values; None where only `decode` can give them."""
    exact: frozenset[str] = frozenset()
    """Arguments whose decoding refuses a float where an integer belongs."""
    verbatim: bool = False
    """The text itself counts: wherever preflight changed nothing, `read` is given what was sent.
    Blank text is then a call without arguments."""
    only_computes: bool = False
    """Its author says so: declared, and not only left at a default. Beside its arguments it is
    handed nothing, no runtime and no port."""


class ArgumentUse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which capability is used on what an argument names: a path, a host or URL, a command."""

    argument: str
    capability: str
    find: Callable[[str, str], Iterable[str]] | None = None
    """Where an argument is no target itself but names some: which ones, for the capability."""


class NamedUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a call uses a capability on, as its arguments together say."""

    capability: str
    target: str
    directory: str | None = None
    """Of a command: where it is to run, as the call says."""


UsesOf = Callable[[JsonObject], Iterable[NamedUse]]
"""Finds what a call uses, from its arguments after repair and check."""

AsksFor = Callable[[JsonObject], bool]
"""Whether a call with these arguments always asks."""


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """A tool with processes of its own: they reach what it requires itself, and nobody else does.

    Without this a tool shares what all tools of a session require together.
    """

    started_from: tuple[str, ...] = ()
    """Files and folders that its program is made of: its processes read them, whatever bounds it.
    """
    owner: str = ""
    """Whose it is: processes of one owner may share a sandbox, those of others never."""
    seconds: float | None = None
    """How long a call may take by the clock of what runs it, within the tool's limits; None: these
    alone decide."""


class ToolDefinitionError(ValueError):
    """A tool cannot be registered as it is; the message names the field at fault."""


def refuse_encoded(uses: Iterable[ArgumentUse], schema: JsonObject, owner: str) -> None:
    """Policy judges what is sent: of bytes that would be their encoding, and not what they name."""
    for declared in uses:
        if is_encoded(schema, declared.argument):
            raise ToolDefinitionError(
                f"{owner}: uses names {declared.argument!r}, which is sent encoded, so what it"
                " names cannot be judged; take it as text (str) and encode it in the body"
            )


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A callable capability: what the model is told, what it needs, and what runs."""

    name: str
    description: str | None
    """None: its source has none; it then stays absent on every wire."""
    requires: RequirementSet
    body: Body
    input_schema: JsonObject = {}
    """Empty: any object is accepted, and nothing about arguments is exported."""
    output_schema: JsonObject | None = None
    ownership: Ownership = "managed"
    permission_policy: PermissionPolicy = "always_allow"
    effects: tuple[Effect, ...] = ()
    read_only: bool = True
    destructive: bool = False
    interrupt_behavior: InterruptBehavior = "block"
    acp_kind: AcpKind = "other"
    limits: Limits = Limits()
    parallel_safe: bool = False
    key_of: Callable[[Mapping[str, object]], tuple[str, ...]] | None = None
    """Which resource a call touches; calls with equal keys never overlap."""
    uses: tuple[ArgumentUse, ...] = ()
    """What its arguments make it use. Capabilities required and not named here are used as they are
    required."""
    uses_of: UsesOf | None = None
    """The same where no argument by itself says so. Of files, hosts and commands a call then uses
    what this finds, and nothing that is required beside it."""
    asks_for: AsksFor | None = None
    """Which calls always ask, where not all of them do."""
    person_decides: bool = False
    """A profile that lists the commands it runs does not hold those of this tool to its list: a
    person decides over each. It counts for calls that always ask, and for no others."""
    guarded: frozenset[str] = frozenset()
    """Arguments that are paths below the workspace, checked by their text before anything else."""
    alone: Alone | None = None
    """Of a program or a server that a source brings along."""
    alias: str | None = None
    """``mcp:<server>:<tool>``: another name rules may use."""
    keep_empty: frozenset[str] = frozenset()
    """Fields for which the empty string has a meaning."""
    camel_case: bool = False
    """Its own arguments are taken in camelCase as well, the optional ones, too. Its schema has to
    be closed, or such a key would be taken for another property."""
    withheld: Mapping[str, str] = {}
    """Arguments that this host does not give, with the reason: not in the schema, and refused."""
    guard: Guard | None = None
    """Looks at the arguments before anything is judged, by their text alone."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ToolDefinitionError("a tool needs a name: it is empty")
        if not self.name.isprintable():
            raise ToolDefinitionError(f"tool {self.name!r}: a name cannot hold control characters")
        for field, value, allowed in (
            ("ownership", self.ownership, get_args(Ownership)),
            ("permission_policy", self.permission_policy, get_args(PermissionPolicy)),
            ("interrupt_behavior", self.interrupt_behavior, get_args(InterruptBehavior)),
            ("acp_kind", self.acp_kind, get_args(AcpKind)),
            *(("effects", effect, get_args(Effect)) for effect in self.effects),
        ):
            if value not in allowed:
                raise ToolDefinitionError(
                    f"tool {self.name!r}: {field} is {value!r}; allowed: {', '.join(allowed)}"
                )
        refuse_encoded(self.uses, self.input_schema, f"tool {self.name!r}")

    @property
    def is_pure(self) -> bool:
        """Whether, by all that is declared of it, a call changes nothing but its own answer.

        Whatever is not said of a tool speaks against it.
        """
        return (
            self.body.only_computes
            and self.read_only
            and self.ownership == "managed"
            and not (self.destructive or self.effects or self.uses or self.uses_of)
            and self.requires.empty
        )

    def always_asks(self, arguments: JsonObject) -> bool:
        """Whether a call with these arguments asks a person, whatever rules and answers say."""
        if self.permission_policy == "always_ask":
            return True
        return self.asks_for is not None and self.asks_for(arguments)

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """Which resource this call touches."""
        if self.key_of is not None:
            return self.key_of(arguments)
        return ("safe", self.name) if self.parallel_safe else ("global",)
