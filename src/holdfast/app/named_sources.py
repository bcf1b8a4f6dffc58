"""Which sources of tools a session has, beside what ships and what it is handed.

The profile `bare` has those that a program names itself, and none of the configuration. A subagent
starts none of its own: it has what came to the session above it.
"""

from pathlib import Path
from typing import NamedTuple

from holdfast.app import manifests, plugins, servers
from holdfast.app.configuration import Configuration
from holdfast.app.options import Options
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import DEFAULT_PROFILE, Surroundings
from holdfast.app.source_settings import Timeouts
from holdfast.app.spelling import advice
from holdfast.contract.tool import Tool
from holdfast.policy.powers import AgentRules
from holdfast.sources.mcp.setup import ServerSetup
from holdfast.sources.mcp.states import ServerState


class NamedSources(NamedTuple):
    """The sources of a session."""

    plugins: tuple[Tool, ...] = ()
    granted: AgentRules = AgentRules()
    """On which grounds the tools of plugins run."""
    manifests: "tuple[manifests.NamedManifest, ...]" = ()
    servers: tuple[ServerSetup, ...] = ()


def sources_of(profile: str, options: Options, configuration: Configuration) -> NamedSources:
    """All of them; ConfigurationError names one that cannot be used.

    What is needed for a kind of source is loaded where there is one.
    """
    if "above" in options:
        return NamedSources()
    settings, configured = configuration.settings, profile != DEFAULT_PROFILE
    found = NamedSources(servers=_servers(configuration, options, all_of_them=configured))
    tables = settings.manifest if configured else {}
    files = [Path(file) for file in options.get("manifests", ())]
    if tables or files:
        timeouts = options.get("timeouts", Timeouts())
        named = manifests.manifests_of(tables, configuration.kept, files, timeouts)
        found = found._replace(manifests=tuple(named))
    if configured and settings.plugins.load:
        loaded = plugins.plugins_of(settings.plugins.load)
        found = found._replace(plugins=loaded.tools, granted=loaded.granted)
    return found


def with_secrets(surroundings: Surroundings, sources: NamedSources) -> Surroundings:
    """The surroundings, with what is secret of the servers."""
    if not sources.servers:
        return surroundings
    return servers.with_secrets(surroundings, sources.servers)


def server_tools(sources: NamedSources, surroundings: Surroundings) -> tuple[Tool, ...]:
    """What the servers themselves run as."""
    if not sources.servers:
        return ()
    return servers.server_tools(sources.servers, surroundings.parent_environment)


def told_of(
    sources: NamedSources, configuration: Configuration, options: Options, profile: str
) -> tuple[dict[str, tuple[str, ...]], tuple[ServerState, ...]]:
    """What the configuration says of the servers of a session, and those that it left out."""
    notices = _concerned(configuration, sources, options, profile)
    if not notices or "servers" in options:
        return notices, ()
    return notices, servers.left_out(notices, configuration.settings.mcp)


def _concerned(
    configuration: Configuration, sources: NamedSources, options: Options, profile: str
) -> dict[str, tuple[str, ...]]:
    """What the configuration says of the servers of this session, and of those it left out."""
    names = {one.name for one in sources.servers}
    all_of_them = profile != DEFAULT_PROFILE and "above" not in options
    return {
        name: said
        for name, said in configuration.server_notices.items()
        if name in names or (all_of_them and name not in configuration.settings.mcp)
    }


def _servers(
    configuration: Configuration, options: Options, *, all_of_them: bool
) -> tuple[ServerSetup, ...]:
    """Those of the configuration, or the named ones among them."""
    tables = configuration.settings.mcp
    wanted = options.get("servers", tables if all_of_them else ())
    for name in wanted:
        if name not in tables:
            raise ConfigurationError(f"there is no MCP server {name!r}; {advice(name, tables)}")
    chosen = {name: tables[name] for name in wanted}
    return servers.setups_of(chosen) if chosen else ()
