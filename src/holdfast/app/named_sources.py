"""Which sources of tools a session has, beside what ships and what it is handed.

The profile `bare` has those that a program names itself, and none of the configuration. A subagent
starts none of its own: it has what came to the session above it.
"""

from pathlib import Path
from typing import NamedTuple

from holdfast.app.configuration import Configuration
from holdfast.app.manifests import NamedManifest, Timeouts, manifests_of
from holdfast.app.options import Options
from holdfast.app.plugins import NO_PLUGINS, LoadedPlugins, plugins_of
from holdfast.app.problems import ConfigurationError
from holdfast.app.servers import setups_of
from holdfast.app.settings import DEFAULT_PROFILE
from holdfast.app.spelling import advice
from holdfast.sources.mcp.setup import ServerSetup


class NamedSources(NamedTuple):
    """The sources of a session."""

    plugins: LoadedPlugins = NO_PLUGINS
    manifests: tuple[NamedManifest, ...] = ()
    servers: tuple[ServerSetup, ...] = ()


def sources_of(profile: str, options: Options, configuration: Configuration) -> NamedSources:
    """All of them; ConfigurationError names one that cannot be used."""
    if "above" in options:
        return NamedSources()
    files = [Path(file) for file in options.get("manifests", ())]
    timeouts = options.get("timeouts", Timeouts())
    configured = profile != DEFAULT_PROFILE
    manifests = manifests_of(
        configuration.settings.manifest if configured else {}, configuration.kept, files, timeouts
    )
    plugins = plugins_of(configuration.settings.plugins.load) if configured else NO_PLUGINS
    return NamedSources(
        plugins, tuple(manifests), _servers(configuration, options, all_of_them=configured)
    )


def _servers(
    configuration: Configuration, options: Options, *, all_of_them: bool
) -> tuple[ServerSetup, ...]:
    """Those of the configuration, or the named ones among them."""
    setups = setups_of(configuration.settings.mcp)
    if "servers" not in options:
        return setups if all_of_them else ()
    known = {one.name: one for one in setups}
    for name in options["servers"]:
        if name not in known:
            raise ConfigurationError(f"there is no MCP server {name!r}; {advice(name, known)}")
    return tuple(known[name] for name in dict.fromkeys(options["servers"]))
