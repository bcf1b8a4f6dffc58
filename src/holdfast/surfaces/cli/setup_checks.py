"""What `holdfast doctor` says of what the configuration names for built-in tools: is it there?"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.app import language_servers
from holdfast.app.environment import variables
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import SearchSettings, Settings
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.model_checks import check_models
from holdfast.surfaces.cli.source_checks import check_sources
from holdfast.surfaces.cli.telemetry_checks import check_telemetry


def check_setup(settings: Settings) -> Iterator[Finding]:
    """Programs, keys, files and folders that are named and not there."""
    environment = variables()
    for place, hook in enumerate(settings.hooks.after_edit, 1):
        yield from check_named_program(f"hooks.after_edit #{place}", hook.command[0], environment)
    yield from check_language_servers(settings, environment)
    for place, provider in enumerate(settings.web.search, 1):
        yield check_provider(f"web.search #{place}", provider, environment)
    yield from check_sources(settings, environment)
    yield check_telemetry(settings, environment)
    yield from check_models(settings.model, environment)
    for path in settings.skills.paths:
        if not Path(path).is_dir():
            step = "make the folder, or take it out of [skills] paths"
            yield Finding("WARN", "skills.paths", f"{path}: there is no such folder", step)


def check_named_program(
    name: str, program: str, environment: Mapping[str, str]
) -> Iterator[Finding]:
    """Is there such a program?"""
    if shutil.which(program, path=environment.get("PATH")) is None:
        detail = f"there is no program {program!r}"
        yield Finding("WARN", name, detail, "install it, or correct its name")


def check_language_servers(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Whom `lsp` can ask."""
    try:
        servers = language_servers.language_servers(settings.lsp, environment)
    except ConfigurationError as problem:
        what, _, step = str(problem).partition("; ")
        yield Finding("FAIL", "lsp", what, step)
        return
    for server in servers:
        yield from check_named_program(f"lsp.{server.name}", server.command[0], environment)
    if not servers:
        step = "run: pip install basedpyright, or name a server under [lsp.LANGUAGE]"
        yield Finding("WARN", "lsp", "no language server is there", step)
    else:
        yield Finding("OK", "lsp", ", ".join(server.name for server in servers))


def check_provider(name: str, provider: SearchSettings, environment: Mapping[str, str]) -> Finding:
    """Has it what it needs? Nobody is asked: that would be a search."""
    key, file = provider.key_variable, provider.file
    if key is not None and not environment.get(key):
        step = "set it where holdfast is started"
        return Finding("WARN", name, f"{provider.kind}: the variable {key} is not set", step)
    if file is not None:
        try:
            json.loads(Path(file).read_bytes())
        except (OSError, ValueError) as problem:
            step = "correct the path, or the file"
            return Finding("WARN", name, f"{file}: it cannot be read ({problem})", step)
    return Finding("OK", name, provider.kind)
