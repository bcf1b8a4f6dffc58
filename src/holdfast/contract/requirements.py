"""What a tool needs from the world: paths, hosts, commands and named capabilities.

These are declarations. Matching a call against them is policy's work; the two text rules that
belong to the declaration itself, argument patterns and variables, are here and in `variables`.
"""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from holdfast.contract.variables import check_pattern


class Wildcard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Matches exactly one argument, whatever it is."""

    wildcard: bool

    def __post_init__(self) -> None:
        if not self.wildcard:
            raise ValueError("an argument pattern {wildcard: false} matches nothing; leave it out")


class Prefix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Matches one argument that begins with the text; the empty text matches any one."""

    prefix: str


ArgPattern = str | Wildcard | Prefix


def argument_matches(pattern: ArgPattern, argument: str) -> bool:
    """Judge one argument by one pattern."""
    if isinstance(pattern, Prefix):
        return argument.startswith(pattern.prefix)
    return isinstance(pattern, Wildcard) or argument == pattern


class ShellRunRequirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One command that may be run; ``cmd`` is a bare name, or ``*`` for any program.

    No ``args`` means any arguments; an empty list means none.
    """

    cmd: str
    args: tuple[ArgPattern, ...] | None = None

    def __post_init__(self) -> None:
        if not self.cmd or "/" in self.cmd:
            raise ValueError(
                f"shell.cmd must be the bare name of a program, e.g. 'git'; got {self.cmd!r}"
            )

    def admits(self, argv: Sequence[str]) -> bool:
        """Whether this entry covers the command line."""
        if not argv or self.cmd not in ("*", argv[0]):
            return False
        if self.args is None:
            return True
        given = argv[1:]
        return len(given) == len(self.args) and all(
            argument_matches(pattern, argument)
            for pattern, argument in zip(self.args, given, strict=True)
        )


class FsRequirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Path patterns, relative to the workspace root, that may be read and written."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


class NetRequirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Host patterns that may be reached outbound."""

    hosts: tuple[str, ...] = ()


class RequirementSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything one tool needs. A tool that needs nothing says so with the empty set."""

    fs: FsRequirement = FsRequirement()
    net: NetRequirement = NetRequirement()
    shell: tuple[ShellRunRequirement, ...] = ()
    capabilities: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return self == NOTHING_REQUIRED

    def admits_command(self, argv: Sequence[str]) -> bool:
        """Whether any of the alternatives covers the command line."""
        return any(entry.admits(argv) for entry in self.shell)


NOTHING_REQUIRED = RequirementSet()


class _ArgDeclaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Both object patterns in one: msgspec cannot tell two untagged structs apart."""

    wildcard: bool | None = None
    prefix: str | None = None

    def read(self) -> ArgPattern:
        match self:
            case _ArgDeclaration(wildcard=bool(wildcard), prefix=None):
                return Wildcard(wildcard)
            case _ArgDeclaration(wildcard=None, prefix=str(prefix)):
                return Prefix(prefix)
            case _:
                raise ValueError("an argument pattern has either wildcard or prefix")


class _CommandDeclaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cmd: str
    args: tuple[str | _ArgDeclaration, ...] | None = None

    def read(self) -> ShellRunRequirement:
        if self.args is None:
            return ShellRunRequirement(self.cmd)
        patterns = (arg if isinstance(arg, str) else arg.read() for arg in self.args)
        return ShellRunRequirement(self.cmd, tuple(patterns))


class _Declaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fs: FsRequirement = FsRequirement()
    net: NetRequirement = NetRequirement()
    shell: tuple[_CommandDeclaration, ...] = ()
    capabilities: tuple[str, ...] = ()

    def read(self) -> RequirementSet:
        commands = tuple(command.read() for command in self.shell)
        return RequirementSet(self.fs, self.net, commands, self.capabilities)


def declared_set(declared: "Mapping[str, object] | RequirementSet") -> RequirementSet:
    """Read a declaration whose patterns are looked at later; a ValueError says what it is not."""
    if isinstance(declared, RequirementSet):
        return declared
    try:
        return msgspec.convert(_tuples(declared), _Declaration).read()
    except msgspec.ValidationError as problem:
        raise ValueError(f"requires: {problem}") from None


def requirement_set(declared: "Mapping[str, object] | RequirementSet") -> RequirementSet:
    """Read a declaration; a ValueError names what is wrong, unknown variables included."""
    parsed = declared_set(declared)
    for pattern in (*parsed.fs.read, *parsed.fs.write, *parsed.net.hosts):
        check_pattern(pattern)
    return parsed


def _tuples(value: object) -> object:
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: _tuples(item) for key, item in entries.items() if item is not None}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_tuples(item) for item in cast("list[object]", value)]
    return value
