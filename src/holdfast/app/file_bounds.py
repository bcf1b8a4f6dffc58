"""How large the files are that a session's file tools take, from its configuration."""

import msgspec

from holdfast.app.settings import Settings
from holdfast.contract.file_bounds import READ_BYTES
from holdfast.runtime.catalog import Catalog


class ConfiguredBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one tool."""

    read_bytes: int
    file_bytes: int
    ignore_whitespace: bool


def bounds_of(settings: Settings, catalog: Catalog, tool: str) -> ConfiguredBounds:
    """What counts for a tool: its own limits, and those of all."""
    found = catalog.get(tool)
    return ConfiguredBounds(
        read_bytes=READ_BYTES if found is None else found.limits.output.max_bytes,
        file_bytes=settings.limits.file_bytes,
        ignore_whitespace=settings.edit.ignore_whitespace,
    )
