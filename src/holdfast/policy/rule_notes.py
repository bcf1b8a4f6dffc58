"""What rules hold less of than one may think, for whoever checks a file of them.

A tool that opens a file names it, and a redirection does. A program opens what it likes: the kernel
keeps it out of places, and nobody can be asked while it runs.
"""

from collections.abc import Iterator, Sequence

from holdfast.contract.rules import Rule
from holdfast.policy.denied_places import without_a_place
from holdfast.policy.globs import compile_glob

_FILES = ("fs.read", "fs.write")
_WITHOUT_A_PLACE = (
    "binds tools that open files, not the programs that a command starts: it names no fixed place."
    " Name one, such as 'secrets/' or '.env', or deny the commands, too"
)
_ASKS = (
    "asks about tools and redirections, not about what the programs of a command do: 'bash x.sh'"
    " {0} there unasked. Deny the place, and the kernel keeps programs out, too; or be asked about"
    " commands: permission = 'shell.run', pattern = '*', action = 'ask'"
)


def notes(rules: Sequence[Rule]) -> list[str]:
    """A line for each rule that programs are not bound by."""
    return [f"{rule.source}: note: {said}" for rule in rules for said in _notes(rule, rules)]


def _notes(rule: Rule, rules: Sequence[Rule]) -> Iterator[str]:
    named = f"{rule.permission} {rule.pattern!r}"
    if without_a_place(rule):
        yield f"{named} {_WITHOUT_A_PLACE}"
    if rule.action == "ask" and not any(map(_holds_commands, rules)):
        speaks_of = compile_glob(rule.permission, "text")
        does = [one.removeprefix("fs.") + "s" for one in _FILES if speaks_of(one)]
        if does:
            yield f"{named} {_ASKS.format(' and '.join(does))}"


def _holds_commands(rule: Rule) -> bool:
    """Whether no command runs without somebody having said so."""
    about = compile_glob(rule.permission, "text")("shell.run")
    return about and rule.action != "allow" and not rule.pattern.strip("*")
