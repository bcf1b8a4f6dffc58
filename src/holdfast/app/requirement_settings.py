"""Sets of requirements, as tables of the configuration."""

import msgspec


class ShellSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command of a ceiling; without `args`, any arguments."""

    cmd: str
    """The program; `*` stands for any."""
    args: tuple[str, ...] | None = None
    """Exactly these, one by one; without them, any."""


class RequirementSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A set of requirements, as a table."""

    read: tuple[str, ...] = ()
    """Patterns of files that may be read."""
    write: tuple[str, ...] = ()
    """Patterns of files that may be written."""
    hosts: tuple[str, ...] = ()
    """Patterns of hosts that may be reached, with a port where one is meant."""
    shell: tuple[ShellSettings, ...] = ()
    capabilities: tuple[str, ...] = ()
    """Names of further capabilities."""
