"""Reading command lines: argparse, with errors as values for `program` to word.

The options that several verbs share are here.
"""

import math
import re
from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from holdfast.app.spelling import nearest
from holdfast.surfaces.cli.exits import Exits, told

_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)$")
_WORD = re.compile(r"[\w-]+")
_OPTION = re.compile(r"unrecognized arguments: (--?[\w-]+)")
"""As argparse words them."""


class UsageError(ValueError):
    """The command line cannot be understood; the message says what is wrong and what to do."""


class HelpAsked(Exception):
    """Somebody wants to know what can be given."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


TOOL_OPTIONS = frozenset(
    {
        *("files", "manifests", "tool_timeout", "timeout"),
        *("profile", "agent", "workspace", "overrides"),
    }
)
"""What `add_tool_options` adds."""


class After(NamedTuple):
    """What can follow one of a verb's first words; for completion and for its own help."""

    words: tuple[str, ...] = ()
    options: frozenset[str] | None = None
    """The names of what may be given; None: all that the verb has."""
    takes_path: bool = False
    takes: str = ""
    """What is written after the word, beside options."""
    says: str = ""
    """What it does, in a sentence."""


class Parser(ArgumentParser):
    """An argument parser that raises instead of leaving, and can be looked into."""

    def __init__(self, prog: str | None = None, description: str | None = None) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)
        self._offers: dict[str, tuple[str, ...]] = {}
        self.after: dict[str, After] = {}
        """By the first word; one that is not in it narrows nothing."""
        self.exits = Exits({})
        """How it ends."""

    @property
    def declared(self) -> list[Action]:
        """Everything that can be given."""
        return list(self._actions)

    @property
    def spellings(self) -> list[str]:
        """Every option there is."""
        return [spelling for action in self._actions for spelling in action.option_strings]

    def offer(self, dest: str, words: Iterable[str]) -> None:
        """Name the usual words of an argument that takes others too; for completion."""
        self._offers[dest] = tuple(words)

    def offered(self, action: Action) -> tuple[str, ...]:
        """The words a shell can complete an argument with."""
        choices = tuple(str(choice) for choice in action.choices or ())
        return choices or self._offers.get(action.dest, ())

    def print_help(self, file: object = None) -> NoReturn:  # noqa: ARG002 - argparse decides
        """Hand the text out instead of writing it."""
        raise HelpAsked(self._with_ends(self.format_help(), None))

    def help_about(self, word: str) -> str | None:
        """The help of one of its first words; None: it has none of its own."""
        after = self.after.get(word)
        if after is None or not after.says:
            return None
        formatter = self._get_formatter()
        usage = " ".join(filter(None, ("usage:", self.prog, word, after.takes, "[OPTIONS]")))
        formatter.add_text(usage)
        formatter.add_text(after.says)
        formatter.start_section("options")
        formatter.add_arguments(
            action
            for action in self._actions
            if action.option_strings and (after.options is None or action.dest in after.options)
        )
        formatter.end_section()
        examples = [line for line in (self.epilog or "").splitlines() if _shows(line, word)]
        if examples:
            formatter.add_text("\n".join(("examples:", *examples)))
        return self._with_ends(formatter.format_help(), word)

    def _with_ends(self, text: str, word: str | None) -> str:
        ends = self.exits.of(word)
        return "\n\n".join((text.rstrip("\n"), *([told(ends)] if ends else [])))

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        raise UsageError("; ".join((message, *self._meant(message), f"see {self.prog} --help")))

    def _meant(self, message: str) -> Iterator[str]:
        """What was probably meant, where one word is not known."""
        if choice := _CHOICE.search(message):
            near = nearest(choice[1], _WORD.findall(choice[2]))
        elif option := _OPTION.match(message):
            near = nearest(option[1], self.spellings)
        else:
            near = None
        if near is not None:
            yield f"did you mean {near!r}?"


def _shows(line: str, word: str) -> bool:
    """Whether a line of examples is about one of a verb's first words."""
    return line.split()[:1] == ["holdfast"] and line.split()[2:3] == [word]


def add_tool_options(parser: ArgumentParser) -> None:
    """Which tools, seen how."""
    add_tool_files(parser)
    parser.add_argument(
        "--manifest",
        dest="manifests",
        metavar="tools.json",
        action="append",
        default=[],
        help="a file that declares programs as tools; may be given several times",
    )
    parser.add_argument(
        "--tool-timeout",
        metavar="SECONDS",
        type=number_above_zero,
        help="for programs of manifests that have no time of their own",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=number_above_zero,
        help="the same, where neither --tool-timeout nor a configuration says more; 30 by default",
    )
    parser.add_argument(
        "--profile", metavar="NAME", help="which tools are visible; code by default"
    )
    parser.add_argument(
        "--agent",
        metavar="NAME",
        help="as this agent of the configuration would be; none by default",
    )
    add_settings_options(parser)


def number_above_zero(text: str) -> float:
    """A number as somebody wrote it behind an option; argparse words the error."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"give a number above 0, not {text!r}")
    return number


def add_settings_options(parser: ArgumentParser) -> None:
    """Where the configuration comes from."""
    parser.add_argument(
        "--workspace", metavar="DIR", default=".", help="the project to work in; here by default"
    )
    add_overrides(parser)


def add_tool_files(parser: ArgumentParser, when: str = "") -> None:
    """Where tools are written down, beside the configured places."""
    parser.add_argument(
        "--from",
        dest="files",
        metavar="FILE.py",
        action="append",
        default=[],
        help=f"{when}a Python file with tools; may be given several times",
    )


def add_overrides(parser: ArgumentParser) -> None:
    """Settings for this once."""
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
