"""What `holdfast doctor` says of where tools from elsewhere come from. Nothing is started.

Plugins and manifests are loaded by another check, as a session would; whether a server answers says
`holdfast mcp list`.
"""

from collections.abc import Iterator, Mapping

from holdfast.app import servers
from holdfast.app.problems import ConfigurationError
from holdfast.app.program_doubts import program_doubt
from holdfast.app.settings import Settings
from holdfast.sources.mcp.door import INSTALL, NO_CLIENT, has_client
from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.setup import BadSetup, ServerSetup, host_of
from holdfast.surfaces.cli.looks import Finding


def check_notices(notices: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    """What was left out of the configuration of servers, and what is doubtful about it."""
    for server, said in notices.items():
        for notice in said:
            what, _, step = notice.partition("; ")
            yield Finding("WARN", f"mcp.{server}", what, step or "correct it there")


def _tried(setup: ServerSetup) -> str:
    return f"holdfast mcp test {setup.name} connects it"


def check_sources(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Is there all that servers need before they can be connected?"""
    if not settings.mcp:
        return
    try:
        setups = servers.setups_of(settings.mcp)
    except ConfigurationError as problem:
        what, _, step = str(problem).rpartition("; ")
        yield Finding("FAIL", "mcp", what, step)
        return
    if not has_client():
        yield Finding("FAIL", "mcp", NO_CLIENT, INSTALL)
        return
    for setup in setups:
        yield _server(setup, environment)


def _server(setup: ServerSetup, environment: Mapping[str, str]) -> Finding:
    name = f"mcp.{setup.name}"
    if setup.disabled:
        return Finding("OK", name, "disabled")
    try:
        meant = expanded(setup, environment)
        if meant.url is not None:
            return Finding("OK", name, f"at {host_of(meant.url, setup.name)}; {_tried(setup)}")
    except BadSetup as problem:
        what, _, step = str(problem).removeprefix(f"mcp server {setup.name}: ").partition("; ")
        return Finding("WARN", name, what, step or "correct it there")
    doubt = program_doubt(meant.argv[0], {**environment, **meant.env})
    if doubt is not None:
        return Finding("WARN", name, doubt.what, doubt.step)
    return Finding("OK", name, f"to be started as {meant.argv[0]}; {_tried(setup)}")
