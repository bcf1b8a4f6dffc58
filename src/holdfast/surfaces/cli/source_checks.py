"""What `holdfast doctor` says of where tools from elsewhere come from. Nothing is started.

Plugins and manifests are loaded by another check, as a session would; whether a server answers says
`holdfast mcp list`.
"""

import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from holdfast.app import servers
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.sources.mcp.expansion import expanded
from holdfast.sources.mcp.setup import BadSetup, ServerSetup, host_of
from holdfast.surfaces.cli.looks import Finding


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
    if find_spec("mcp") is None:
        step = "run: pip install 'holdfast[mcp]'"
        yield Finding("FAIL", "mcp", "the client of MCP servers is not installed", step)
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
            return Finding("OK", name, f"reached at {host_of(meant.url, setup.name)}")
    except BadSetup as problem:
        what, _, step = str(problem).removeprefix(f"mcp server {setup.name}: ").partition("; ")
        return Finding("WARN", name, what, step or "correct it there")
    program = meant.argv[0]
    if shutil.which(program, path=environment.get("PATH")) is None:
        step = "install it, or correct its command"
        return Finding("WARN", name, f"there is no program {program!r}", step)
    return Finding("OK", name, f"started as {program}")
