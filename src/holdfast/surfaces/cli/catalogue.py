"""Verbs with their modules and parsers. The lazy import table of the command line is used here."""

from argparse import Namespace
from collections.abc import Iterator
from importlib import import_module
from typing import Protocol, cast

from holdfast.surfaces.cli.exits import EXITS
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.verbs import VERBS, Verb


class VerbModule(Protocol):
    """What a module of a verb has."""

    def add_arguments(self, parser: Parser, /) -> None:
        """Declare the words it takes."""
        ...

    def run(self, arguments: Namespace, screen: Screen, /) -> int:
        """Answer; returns the exit status."""
        ...


def module_of(verb: Verb) -> VerbModule:
    """Load the module that answers a verb."""
    return cast("VerbModule", import_module(verb.module))


def parser_of(verb: Verb, module: VerbModule) -> Parser:
    """The parser of one verb."""
    parser = Parser(
        prog=f"holdfast {verb.name}",
        description=f"{verb.summary[0].upper()}{verb.summary[1:]}.",
    )
    module.add_arguments(parser)
    parser.exits = EXITS[verb.name]
    return parser


def parsers() -> Iterator[tuple[Verb, Parser]]:
    """The whole tree: every verb with its parser."""
    for verb in VERBS:
        yield verb, parser_of(verb, module_of(verb))
