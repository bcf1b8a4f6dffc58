"""Sets of requirements, as tables of the configuration."""

import msgspec


class ShellSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command of a ceiling; without `args`, any arguments."""

    cmd: str
    args: tuple[str, ...] | None = None


class RequirementSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A set of requirements, as a table."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    shell: tuple[ShellSettings, ...] = ()
    capabilities: tuple[str, ...] = ()
