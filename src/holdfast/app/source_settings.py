"""Where tools from elsewhere come from, as tables of the configuration. Only the shape is here."""

from typing import Annotated, Literal

import msgspec

from holdfast.app.requirement_settings import RequirementSettings

Seconds = Annotated[float, msgspec.Meta(gt=0)]


class ManifestSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[manifest.NAME]` table: a file that declares programs as tools."""

    file: str
    """Its `tools.json`, relative to the file that names it."""
    requires: RequirementSettings | None = None
    """For entries that declare nothing themselves; None: they may read the workspace."""
    seconds: Seconds | None = None
    """For entries that say nothing of their time; None: 30 seconds."""


class Timeouts(msgspec.Struct, frozen=True):
    """How long calls of a manifest's entries may take that say nothing of it themselves."""

    tool: float | None = None
    """By the operator's word on tools; None: the general one counts."""
    general: float | None = None
    """None: 30 seconds."""


class McpSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[mcp.NAME]` table: an MCP server, or more about one that `mcp.json` names."""

    command: tuple[str, ...] = ()
    """A program and its arguments, spoken with over its standard streams."""
    url: str | None = None
    """Instead of a program: where it is reached over HTTP."""
    env: dict[str, str] = {}
    """Variables for the program; `${NAME}` stands for one of the parent's."""
    cwd: str | None = None
    """Where the program starts."""
    headers: dict[str, str] = {}
    """For every request over HTTP; `${NAME}` stands for a variable."""
    token_file: str | None = None
    """A file that holds a bearer token."""
    era: Literal["auto", "2025-11-25", "2026-07-28"] = "auto"
    """Which protocol is spoken; `auto`: the newest that both know."""
    seconds: Seconds | None = None
    """How long one request may take; None: 30."""
    startup_seconds: Seconds | None = None
    """How long it may take from its start to its list of tools; None: 30."""
    trust: bool = False
    """Whether what its tools say of themselves is believed, such as that they only read."""
    disabled: bool = False
    """It is not connected."""
    allow: tuple[str, ...] | None = None
    """The tools that are taken, as the server names them; None: all."""
    deny: tuple[str, ...] = ()
    """The tools that are left out."""
    requires: RequirementSettings | None = None
    """What its program may reach; None: neither network nor files beside its own."""

    def __repr__(self) -> str:
        """Without what may be secret."""
        return f"McpSettings(command={self.command[:1]!r}, era={self.era!r})"


class PluginSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `[plugins]` table."""

    load: tuple[str, ...] = ()
    """By the names that packages announce, or folders with a slash in their names."""
