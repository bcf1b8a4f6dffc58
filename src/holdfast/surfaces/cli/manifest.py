"""`holdfast manifest`: begin a tools.json, check one, and show what a model is told of its tools.

Exit status of `check` and `export`: 0 nothing is wrong, 1 something is. Nothing is started.
"""

import json
import shlex
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

from holdfast.app.manifest_check import CheckedTool, ManifestCheck, checked_manifest
from holdfast.app.manifest_start import FILE, TOOL, begin_manifest
from holdfast.app.spelling import advice
from holdfast.contract.json_value import JsonObject, JsonValue, plain
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.needs import in_words
from holdfast.surfaces.cli.parsing import After, Parser, UsageError
from holdfast.surfaces.cli.screen import Screen

_FAILED = 1
_EXAMPLES = """\
examples:
  holdfast manifest init                 tools.json here, with a program that works
  holdfast manifest check tools.json     all that is wrong with it, and what it declares
  holdfast manifest export tools.json    what a model is told, as OpenAI function tools
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("what", metavar="WHAT", nargs="?", help=", ".join(_ANSWERS))
    parser.offer("what", _ANSWERS)
    parser.add_argument(
        "words", metavar="FILE | DIR", nargs="*", default=[], help="what it is about"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    for name, (takes, says) in _SAYS.items():
        options = frozenset({"json", "help"})
        parser.after[name] = After(options=options, takes_path=True, takes=takes, says=says)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    what, words = arguments.what, arguments.words
    if what is None:
        raise UsageError(f"what about a manifest? write: holdfast manifest {' | '.join(_ANSWERS)}")
    answer = _ANSWERS.get(what)
    if answer is None:
        raise UsageError(f"manifest does not know {what!r}; {advice(what, _ANSWERS)}")
    if len(words) > 1:
        raise UsageError(f"manifest {what} takes one path, and not also {words[1]!r}")
    return answer(arguments, screen)


def _init(arguments: Namespace, screen: Screen) -> int:
    folder = Path(arguments.words[0]) if arguments.words else Path()
    manifest, program = begin_manifest(folder)
    following = _following(folder, manifest)
    if arguments.json:
        screen.document({"made": [str(manifest), str(program)], "next": following})
        return 0
    look = screen.look
    look.text(f"made {printable(str(manifest))} and {printable(str(program))}")
    look.text("next:")
    for command in following:
        look.text(f"  {printable(command)}")
    return 0


def _following(folder: Path, manifest: Path) -> list[str]:
    """What to do with what was begun."""
    file = shlex.quote(str(manifest))
    elsewhere = "" if folder == Path() else f" --workspace {shlex.quote(str(folder))}"
    return [
        *(f"holdfast manifest {what} {file}" for what in _READ),
        f"holdfast call {TOOL} path={FILE} --manifest {file}{elsewhere}",
    ]


def _check(arguments: Namespace, screen: Screen) -> int:
    path = _named(arguments)
    found = checked_manifest(path)
    if arguments.json:
        screen.document(_report(path, found))
    else:
        _show(found, screen)
    return _FAILED if found.problems else 0


def _export(arguments: Namespace, screen: Screen) -> int:
    found = checked_manifest(_named(arguments))
    if found.problems and not found.tools:
        for problem in found.problems:
            screen.remark(problem.text)
        if arguments.json:
            screen.document({"error": found.problems[0].text})
        return _FAILED
    # The order of keys is the manifest's: nothing is sorted here.
    definitions = [tool.definition for tool in found.tools]
    screen.raw(json.dumps(definitions, ensure_ascii=False, indent=2))
    return 0


def _named(arguments: Namespace) -> Path:
    if not arguments.words:
        raise UsageError(f"which file? write: holdfast manifest {arguments.what} tools.json")
    path = Path(arguments.words[0])
    return path / FILE if path.is_dir() else path


def _show(found: ManifestCheck, screen: Screen) -> None:
    look = screen.look
    if found.tools:
        look.table(("NAME", "ARGUMENTS", "PROGRAM", "LIMIT", "VARIABLES", "REQUIRES"), _rows(found))
    for problem in found.problems:
        look.text(f"problem: {printable(problem.text)}")
    for warning in found.warnings:
        look.text(f"warning: {printable(warning)}")
    tools, problems = len(found.tools), len(found.problems)
    look.text(
        f"{counted(tools, 'tool', zero='no')}, {counted(problems, 'problem', zero='no')},"
        f" {counted(len(found.warnings), 'warning', zero='no')}"
    )


def _rows(found: ManifestCheck) -> list[tuple[str, ...]]:
    return [
        (
            printable(tool.name),
            printable(", ".join(tool.parameters)) or "any",
            printable(shlex.join(tool.command)),
            f"{tool.seconds:g} s",
            ", ".join(tool.passed) or "-",
            printable(in_words(tool.requires)),
        )
        for tool in found.tools
    ]


def _report(path: Path, found: ManifestCheck) -> JsonObject:
    problems: list[JsonValue] = [
        {"index": one.index, "name": one.name, "message": one.text} for one in found.problems
    ]
    return {
        "file": str(path),
        "tools": [_told(tool) for tool in found.tools],
        "problems": problems,
        "warnings": [*found.warnings],
    }


def _told(tool: CheckedTool) -> JsonObject:
    return {
        "name": tool.name,
        "command": [*tool.command],
        "seconds": tool.seconds,
        "env": [*tool.passed],
        "requires": plain(tool.requires),
        "openai": plain(tool.definition),
    }


_READ = ("check", "export")
_SAYS = {
    "init": ("[DIR]", "Write a tools.json and a program that works; nothing is replaced."),
    "check": ("FILE | DIR", "Say all that is wrong with it, and what it declares. Exit status 1: a"
              " problem; warnings alone are 0. Nothing is started."),
    "export": ("FILE | DIR", "Print what a model is told of its tools, as OpenAI function tools."),
}  # fmt: skip
_ANSWERS: dict[str, Callable[[Namespace, Screen], int]] = {
    "init": _init,
    "check": _check,
    "export": _export,
}
