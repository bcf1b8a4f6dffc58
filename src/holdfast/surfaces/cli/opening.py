"""From a command line to settings and tools: what `tools` and `call` begin with."""

from argparse import Namespace
from pathlib import Path

import msgspec

from holdfast.app.configuration import load_configuration
from holdfast.app.settings import DEFAULT_PROFILE, Settings
from holdfast.app.tool_files import tools_in
from holdfast.surfaces.cli.parsing import overrides_in, workspace_in
from holdfast.surfaces.cli.screen import Screen


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What a command line stands for."""

    settings: Settings
    profile: str
    tools: tuple[object, ...]


def chosen(arguments: Namespace, screen: Screen) -> Chosen:
    """Read the configuration and load the tool files, the configured ones first."""
    loaded = load_configuration(workspace_in(arguments), overrides=overrides_in(arguments))
    for notice in loaded.notices:
        screen.remark(f"note: {notice}")
    named = [*loaded.settings.tools.files, *arguments.files]
    files = dict.fromkeys(Path(name).absolute() for name in named)
    tools = tuple(tool for file in files for tool in tools_in(file))
    profile = arguments.profile or DEFAULT_PROFILE
    return Chosen(settings=loaded.settings, profile=profile, tools=tools)
