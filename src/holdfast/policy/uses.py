"""What a call does: the capabilities it uses, each with its target.

Which argument names a path, a host or a command is declared by the tool. What a tool requires and
names in no argument is used as declared. An argument that is a command may be named for files, too:
then what its text redirects is used, and the kernel holds the rest to what is required. Paths are
taken as written; where they lead is asked elsewhere.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain, islice
from typing import cast

import msgspec

from holdfast.contract.json_value import JsonObject
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.rules import TargetKind, Use
from holdfast.contract.tool import ArgumentUse, NamedUse, Tool
from holdfast.policy.host_rules import spelled_hosts
from holdfast.policy.paths import normal_text
from holdfast.policy.shell import analysis, characters
from holdfast.policy.shell.canonical import canonical
from holdfast.policy.shell.values import Command, ShellText

MOST_USES = 1_000
"""How much one call may name. Each of them is looked up, weighed and shown to every hook."""

_TOO_MANY = (
    f"It names more than {MOST_USES} paths, hosts or commands, and no call is judged with more:"
    " split it into several calls."
)
_NOT_READ = (
    "It is not read: {}, and what is not read is not judged: make it shorter and plainer, or put it"
    " into a script and run that."
)

NO_CAPABILITY = Use(capability=None, kind="name", target="")


@lru_cache(maxsize=256)
def analysed(text: str) -> ShellText:
    """Take a command text apart: that is pure, and one decision needs it more than once."""
    return analysis.analyse(text)


class Unjudged(msgspec.Struct, frozen=True):
    """Why a call is refused before anything of it is judged: no part of it stands for the rest."""

    use: Use
    """What it is about."""
    reason: str


def argument_uses(tool: Tool, arguments: JsonObject) -> list[Use] | Unjudged:
    """What the arguments of a call name."""
    uses: list[Use] = []
    commands = {one.argument for one in tool.uses if one.capability == "shell.run"}
    for declared in tool.uses:
        if declared.argument in commands and declared.capability in _FILES:
            continue  # a command names what it opens itself: its redirections are among its uses
        found = _of_argument(declared, given_argument(tool, arguments, declared.argument))
        if not isinstance(found, list):
            return found
        uses += found
        if len(uses) > MOST_USES:
            return Unjudged(_unnamed(declared), _TOO_MANY)
    return uses if tool.uses_of is None else _with_named(uses, tool.uses_of(arguments))


def _with_named(uses: list[Use], named: Iterable[NamedUse]) -> list[Use] | Unjudged:
    """Beside what single arguments name, what they say together."""
    for one in named:
        declared = ArgumentUse(argument="", capability=one.capability)
        found = _of_argument(declared, one.target)
        if not isinstance(found, list):
            return found
        uses += found
        if len(uses) > MOST_USES:
            return Unjudged(_unnamed(declared), _TOO_MANY)
    return uses


def declared_uses(tool: Tool) -> Iterator[Use]:
    """What the tool requires and no argument names: the same for every call."""
    named = {declared.capability for declared in tool.uses}
    if tool.uses_of is not None:
        named |= _KIND_OF.keys()
    return (use for use in uses_of_requirements(tool.requires) if use.capability not in named)


def given_argument(tool: Tool, arguments: Mapping[str, object], name: str) -> object:
    """What the body will get: what was sent, or else the default."""
    if name in arguments:
        return arguments[name]
    properties = tool.input_schema.get("properties")
    declared = properties.get(name) if isinstance(properties, dict) else None
    return declared.get("default") if isinstance(declared, dict) else None


def uses_of_requirements(requires: RequirementSet) -> Iterator[Use]:
    """What a tool says it needs, without saying in which argument: all of it is used."""
    for pattern in requires.fs.read:
        yield Use(capability="fs.read", kind="path", target=pattern, declared=True)
    for pattern in requires.fs.write:
        yield Use(capability="fs.write", kind="path", target=pattern, declared=True)
    for host in chain.from_iterable(map(spelled_hosts, requires.net.hosts)):
        yield Use(capability="net.fetch", kind="host", target=host, declared=True)
    for command in requires.shell:
        yield Use(capability="shell.run", kind="command", target=command.cmd, declared=True)
    for name in requires.capabilities:
        yield Use(capability=name, kind="name", target="")


def _of_argument(declared: ArgumentUse, value: object) -> list[Use] | Unjudged:
    if declared.find is not None and isinstance(value, str):
        found = islice(declared.find(value, declared.capability), MOST_USES + 1)
        return [_of_one(declared, one) for one in found] or [_unnamed(declared)]
    if not isinstance(value, list):
        if declared.capability == "shell.run" and isinstance(value, str):
            return _of_command_text(value)
        return [_of_one(declared, value)]
    items = cast("list[object]", value)
    if declared.capability == "shell.run" and items:
        # A list is one command, word by word.
        return _of_command_text(shlex.join(map(str, items)))
    named = islice(_leaves(items), MOST_USES + 1)
    return [_of_one(declared, item) for item in named] or [_unnamed(declared)]


def _leaves(items: list[object]) -> Iterator[object]:
    for item in items:
        if isinstance(item, list):
            yield from _leaves(cast("list[object]", item))
        else:
            yield item


def _of_command_text(text: str) -> list[Use] | Unjudged:
    problem = characters.unreadable(text)
    if problem is None:
        return uses_of_command(text)
    whole = Use(capability="shell.run", kind="command", target=text, within=text, doubt=problem)
    return Unjudged(whole, _NOT_READ.format(problem))


def _of_one(declared: ArgumentUse, value: object) -> Use:
    capability = declared.capability
    kind = _KIND_OF.get(capability, "name")
    if isinstance(value, str):
        target = "." if kind == "path" and not value else value
        return Use(capability=capability, kind=kind, target=target)
    if value is None:
        nothing = kind == "path"
        return Use(capability=capability, kind=kind, target=".") if nothing else _unnamed(declared)
    doubt = f"the argument {declared.argument!r} is no text, and what it names is not known"
    target = "." if kind == "path" else ""
    return Use(capability=capability, kind=kind, target=target, doubt=doubt)


_FILES = ("fs.read", "fs.write")

_KIND_OF: dict[str, TargetKind] = {
    "fs.read": "path",
    "fs.write": "path",
    "shell.run": "command",
    "net.fetch": "host",
}


def _unnamed(declared: ArgumentUse) -> Use:
    """Nothing was named: rules about the capability still count; there is nothing to look up."""
    kind = _KIND_OF.get(declared.capability, "name")
    return Use(capability=declared.capability, kind=kind, target="", declared=True)


def uses_of_command(text: str) -> list[Use]:
    """Every simple command in the text, every redirection, and a doubt about what is left."""
    found = analysed(text)
    uses = [
        Use(
            capability="shell.run",
            kind="command",
            target=command.text,
            spellings=_spellings(command),
            within=text,
        )
        for command in found.commands
    ]
    uses += _redirected(found, text)
    if found.doubts or not found.commands:
        doubt = "; ".join(found.doubts) or "it runs no command"
        uses.append(
            Use(capability="shell.run", kind="command", target=text, within=text, doubt=doubt)
        )
    return uses


_BEND = late_pattern(r"//|\./|/\.|/(?: |$)")
"""What a path holds that could be written in a straighter way."""


def _spellings(command: Command) -> tuple[str, ...]:
    """The one spelling of a command; a second one, where an operand winds its way to its path."""
    if _BEND.search(command.canonical) is None:
        return (command.canonical,)
    program, *words = command.argv
    straight = canonical([program, *map(_straight, words)])
    return tuple(dict.fromkeys((command.canonical, straight)))


def _straight(word: str) -> str:
    name, equals, value = word.rpartition("=")
    if "://" in word or value.startswith("-") or _BEND.search(value) is None:
        return word
    return f"{name}{equals}{normal_text(value)}"


def _redirected(found: ShellText, text: str) -> Iterator[Use]:
    for redirection in found.redirections:
        capability = "fs.read" if redirection.mode == "read" else "fs.write"
        target = redirection.target
        yield Use(
            capability=capability,
            kind="path",
            target="" if target is None else target,
            within=text,
            doubt="where it is redirected is only known when it runs" if target is None else None,
        )
