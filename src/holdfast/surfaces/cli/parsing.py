"""Reading command lines: argparse, with errors as values for `program` to word.

The options that several verbs share are here.
"""

from argparse import Action, ArgumentParser, Namespace
from pathlib import Path
from typing import NoReturn


class UsageError(ValueError):
    """The command line cannot be understood; the message says what is wrong and what to do."""


class Parser(ArgumentParser):
    """An argument parser that raises instead of leaving, and can be looked into."""

    @property
    def declared(self) -> list[Action]:
        """Everything that can be given."""
        return list(self._actions)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        raise UsageError(f"{message}; see {self.prog} --help")


def add_tool_options(parser: ArgumentParser) -> None:
    """Which tools, seen how."""
    parser.add_argument(
        "--from",
        dest="files",
        metavar="FILE.py",
        action="append",
        default=[],
        help="a Python file with tools; may be given several times",
    )
    parser.add_argument(
        "--profile", metavar="NAME", help="which tools are visible; code by default"
    )
    add_settings_options(parser)


def add_settings_options(parser: ArgumentParser) -> None:
    """Where the configuration comes from."""
    parser.add_argument(
        "--workspace", metavar="DIR", default=".", help="the project to work in; here by default"
    )
    parser.add_argument(
        "--set",
        dest="overrides",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override a setting, e.g. limits.argument_bytes=1000",
    )


def overrides_in(arguments: Namespace) -> dict[str, str]:
    """What `--set` says."""
    chosen: dict[str, str] = {}
    for pair in arguments.overrides:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair}: there is no value; write --set {pair}=VALUE")
        chosen[key] = value
    return chosen


def workspace_in(arguments: Namespace) -> str:
    """What `--workspace` says; it has to be there."""
    workspace: str = arguments.workspace
    if not Path(workspace).is_dir():
        raise UsageError(f"--workspace {workspace}: there is no such directory; check the path")
    return workspace
