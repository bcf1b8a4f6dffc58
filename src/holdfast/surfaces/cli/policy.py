"""`holdfast policy`: why a call would run or not, which rules there are, and are they right.

Exit status of `explain`: 0 allowed, 3 asked or denied; of `check`: 0 all examples hold, 1 not.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

import anyio

from holdfast.app.holdfast import Holdfast
from holdfast.app.policy_files import read_policy_file
from holdfast.contract.call import RawArguments
from holdfast.contract.failure import Failure
from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.policy import rule_notes
from holdfast.policy.explain import Explanation, RuleCited, UseExplained
from holdfast.policy.rule_file import RuleFile
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import chosen, own_rules
from holdfast.surfaces.cli.pairs import arguments_from
from holdfast.surfaces.cli.parsing import TOOL_OPTIONS, After, Parser, UsageError, add_tool_options
from holdfast.surfaces.cli.remembered import list_grants, revoke
from holdfast.surfaces.cli.rule_list import list_rules
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.tool_names import name_here

_REFUSED = 3
_EXAMPLES = """\
examples:
  holdfast policy explain bash 'command=git push'   why it would run or not
  holdfast policy check rules.toml                  is it a file of rules, and do its examples hold?
  holdfast policy list                              every rule in force, and where it is from
  holdfast policy grants                            which answers are remembered
  holdfast policy revoke 3f2a91c0                   take one back; --all takes back every one
"""
_TAKES = {
    "explain": {*TOOL_OPTIONS, "arguments"},
    "check": (),
    "list": ("profile", "agent", "workspace", "overrides"),
    "grants": ("workspace", "overrides"),
    "revoke": ("workspace", "overrides", "all"),
}
_SAYS = {
    "explain": ("TOOL key=value...", "Say why a call would run or not. Exit status 3: it would be"
                " asked about or denied."),
    "check": ("FILE", "Check a file of rules, and every example in it."),
    "list": ("", "Show every rule in force, and where it is from."),
    "grants": ("", "Show the answers that are remembered."),
    "revoke": ("ID...", "Take remembered answers back, or with --all every one."),
}  # fmt: skip


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument(
        "what",
        nargs="?",
        choices=tuple(_ANSWERS),
        help="explain a call, check a file, list all rules, show or take back remembered answers",
    )
    parser.add_argument(
        "words",
        metavar="TOOL key=value | FILE | ID",
        nargs="*",
        default=[],
        help="explain: the tool and its arguments; check: the file; revoke: ids of grants",
    )
    parser.add_argument("--arguments", metavar="JSON", help="all arguments as one JSON object")
    parser.add_argument("--all", action="store_true", help="revoke: every remembered answer")
    add_tool_options(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    for name, (takes, says) in _SAYS.items():
        options = frozenset({*_TAKES[name], "json", "help"})
        parser.after[name] = After((), options, name == "check", takes, says)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    answer = _ANSWERS.get(arguments.what)
    if answer is None:
        raise UsageError(f"what about policy? write: holdfast policy {_one_of(list(_ANSWERS))}")
    if arguments.all and arguments.what != "revoke":
        raise UsageError("--all is for revoke; see holdfast policy --help")
    if arguments.words and arguments.what in _TAKE_NO_WORDS:
        raise UsageError(
            f"policy {arguments.what} takes no {arguments.words[0]!r}; see holdfast policy --help"
        )
    return answer(arguments, screen)


def _one_of(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _explain(arguments: Namespace, screen: Screen) -> int:
    if not arguments.words:
        raise UsageError("which call? write: holdfast policy explain TOOL key=value")
    tool, *pairs = arguments.words
    if pairs and arguments.arguments is not None:
        raise UsageError("arguments are given twice; use either key=value or --arguments")
    sent = arguments_from(pairs) if arguments.arguments is None else arguments.arguments
    opened = chosen(arguments, screen)
    holdfast = Holdfast(
        tools=opened.tools,
        profile=opened.profile,
        workspace=arguments.workspace,
        configuration=opened.configuration,
        **opened.sources_of(tool),
    )
    found = anyio.run(_explained, holdfast, tool, sent)
    if isinstance(found, Failure):
        raise UsageError(f"the call is refused before it is judged: {found.message}")
    if arguments.json:
        screen.document(plain(found))
    else:
        _show(found, screen)
    return 0 if found.verdict == "allow" else _REFUSED


async def _explained(holdfast: Holdfast, tool: str, sent: RawArguments) -> Explanation | Failure:
    """What is a server's tool is known once the server was asked."""
    if not holdfast.waits_for_servers:
        return await holdfast.explain(tool, sent)
    async with holdfast:
        return await holdfast.explain(name_here(tool, holdfast.tools, holdfast.servers), sent)


def _show(found: Explanation, screen: Screen) -> None:
    look = screen.look
    look.heading(f"{found.tool}: {found.verdict}")
    look.text(printable(found.reason))
    look.fields({"decided by": found.stage, "unattended": found.unattended})
    for use in found.uses:
        look.text("")
        look.fields(_fields(use))


def _fields(use: UseExplained) -> dict[str, str]:
    fields = {
        "uses": use.capability or "nothing",
        "on": printable(use.target) or "-",
        "also written": ", ".join(map(printable, use.spellings)),
        "in doubt": printable(use.doubt or ""),
        "within reach": "yes" if use.within_reach else "no",
        "verdict": use.verdict or "not judged",
        "decided by": _decided_by(use),
        "also fit": "; ".join(_cited(rule) for rule in use.also_fitting),
        "otherwise": printable(use.otherwise or ""),
    }
    return {name: value for name, value in fields.items() if value}


def _decided_by(use: UseExplained) -> str:
    if use.decided_by is not None:
        return _cited(use.decided_by)
    return "no rule" if use.within_reach and use.verdict is not None else ""


def _cited(rule: RuleCited) -> str:
    kind = "remembered" if rule.remembered else rule.scope
    why = f": {rule.reason}" if rule.reason else ""
    said = f"{rule.permission} {rule.pattern!r} {rule.action} ({kind}, {rule.source}){why}"
    return printable(said)


def _check(arguments: Namespace, screen: Screen) -> int:
    if len(arguments.words) != 1:
        raise UsageError(f"which file? write for example: holdfast policy check {own_rules()}")
    path = Path(arguments.words[0])
    found = read_policy_file(path)
    if found is None:
        raise UsageError(f"{path}: there is no such file; check the path")
    if arguments.json:
        screen.document(_report(path, found))
    else:
        for problem in found.problems:
            screen.raw(f"{path}:{problem.line}: {problem.message}")
        for note in rule_notes.notes(found.rules):
            screen.raw(note)
        screen.raw(_summed_up(found))
    return 1 if found.problems else 0


def _summed_up(found: RuleFile) -> str:
    held, given = sum(example.holds for example in found.examples), len(found.examples)
    examples = f"{held} of {counted(given, 'example')} hold{'s' if given == 1 else ''}"
    return ", ".join(
        (
            counted(len(found.rules), "rule", zero="no"),
            examples if given else "no examples",
            counted(len(found.problems), "problem", zero="no"),
        )
    )


def _report(path: Path, found: RuleFile) -> JsonObject:
    problems: list[JsonValue] = [
        {"line": problem.line, "message": problem.message} for problem in found.problems
    ]
    return {
        "file": str(path),
        "rules": plain(found.rules),
        "examples": len(found.examples),
        "problems": problems,
        "notes": [*rule_notes.notes(found.rules)],
    }


_ANSWERS: dict[str, Callable[[Namespace, Screen], int]] = {
    "explain": _explain,
    "check": _check,
    "list": list_rules,
    "grants": list_grants,
    "revoke": revoke,
}
_TAKE_NO_WORDS = frozenset({"list", "grants"})
