"""The manifests of a session: which ones count, who named them, and what their entries default to.

A manifest that nobody named is none: what merely lies somewhere grants nothing.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.app.problems import ConfigurationError, MissingProgramError
from holdfast.app.requirement_tables import requirements_of
from holdfast.app.source_settings import ManifestSettings, Timeouts
from holdfast.contract.tool import Tool
from holdfast.policy.source_grants import DEFAULT_REQUIREMENTS, NamedBy, named_manifest
from holdfast.sources.manifest.source import ManifestSource
from holdfast.sources.manifest.tools import ManifestDefaults

DEFAULT = DEFAULT_REQUIREMENTS["manifest"]


class NamedManifest(NamedTuple):
    """A manifest that somebody named."""

    source: ManifestSource
    by: NamedBy
    table: str | None = None
    """Which table of the configuration names it; None: none does."""

    @property
    def made_from(self) -> tuple[str, str]:
        """The file, and the folder of the programs that it may name by a relative path."""
        return str(self.source.path), str(self.source.path.parent / "tools")

    def vouched(self, tools: Iterable[Tool]) -> Mapping[str, str]:
        """By tool, on which grounds it runs where no rule speaks."""
        names = [tool.name for tool in tools]
        return named_manifest(names, str(self.source.path), self.by).standing

    def checked(self) -> tuple[Tool, ...]:
        """Its tools, at the start of a session: ConfigurationError for a file that is none,
        MissingProgramError for a program that cannot be run."""
        tools = self.source.tools()
        if self.source.problem is not None:
            named = "" if self.table is None else f"{self.table}: "
            raise ConfigurationError(
                f"{named}{self.source.path}: {self.source.problem}; correct it there:"
                f" holdfast manifest check {self.source.path} says more"
            )
        for missing in self.source.missing():
            step = f"put the program there, or take the tool out of {self.source.path}"
            named = "" if self.table is None else f", which {self.table} of the configuration names"
            raise MissingProgramError(missing.text, f"{step}{named}")
        return tools


def manifests_of(
    tables: Mapping[str, ManifestSettings],
    kept: Path | None,
    files: Iterable[Path],
    timeouts: Timeouts,
) -> list[NamedManifest]:
    """Those of the configuration, then those that the command line or the program names.

    ``kept``: the copy of a trusted project's folder.
    """
    found = [_configured(name, table, kept, timeouts) for name, table in tables.items()]
    known = {one.source.path for one in found}
    for file in dict.fromkeys(file.absolute() for file in files):
        if file not in known:
            source = ManifestSource(file, _defaults(ManifestSettings(file=str(file)), timeouts))
            found.append(NamedManifest(source, "the program or the command line"))
    return found


def _configured(
    name: str, table: ManifestSettings, kept: Path | None, timeouts: Timeouts
) -> NamedManifest:
    path = Path(table.file).absolute()
    theirs = kept is not None and path.is_relative_to(kept)
    by: NamedBy = "a trusted project" if theirs else "the configuration"
    source = ManifestSource(path, _defaults(table, timeouts))
    return NamedManifest(source, by, f"manifest.{name}")


def _defaults(table: ManifestSettings, timeouts: Timeouts) -> ManifestDefaults:
    requires = DEFAULT if table.requires is None else requirements_of(table.requires)
    tool = timeouts.tool if timeouts.tool is not None else table.seconds
    if timeouts.general is None:
        return ManifestDefaults(requires=requires, tool_seconds=tool)
    return ManifestDefaults(requires=requires, tool_seconds=tool, seconds=timeouts.general)
