"""One run of the command: find the verb, parse its words, answer, word every error.

Errors are one line: what is wrong; what to do. A traceback is shown only when asked for.
"""

import traceback
from collections.abc import Sequence

from holdfast._version import __version__
from holdfast.app.environment import DEBUG_VARIABLE, debugging
from holdfast.app.problems import ConfigurationError, ToolFileError
from holdfast.app.spelling import advice
from holdfast.contract.tool import ToolDefinitionError
from holdfast.surfaces.cli.catalogue import module_of, parser_of
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen, screen_of_this_process
from holdfast.surfaces.cli.verbs import BY_NAME, VERBS

DONE = 0
FAILED = 1
USAGE = 2
INTERRUPTED = 130

_HELP = {"-h", "--help", "help"}


def run(words: Sequence[str]) -> int:
    """Answer a command line; returns the exit status."""
    screen = screen_of_this_process()
    try:
        return _answer(list(words), screen)
    except (UsageError, ConfigurationError, ToolFileError, ToolDefinitionError) as problem:
        return _complain(screen, str(problem), USAGE)
    except KeyboardInterrupt:
        screen.remark("interrupted")
        return INTERRUPTED
    except Exception as problem:
        # Without a file's name it is the answer that cannot be written: the door's business.
        if isinstance(problem, OSError) and problem.filename is None:
            raise
        advised = f"run it again with {DEBUG_VARIABLE}=1 to see where, and report it"
        said = f"unexpected {type(problem).__name__}: {problem}; {advised}"
        return _complain(screen, said, FAILED)


def _complain(screen: Screen, message: str, status: int) -> int:
    screen.remark(message)
    if debugging():
        traceback.print_exc()
    return status


def _answer(words: list[str], screen: Screen) -> int:
    if not words or (words[0] in _HELP and len(words) == 1):
        screen.raw(help_text())
        return DONE
    if words[0] in _HELP:
        words = [words[1], "--help"]
    verb = BY_NAME.get(words[0])
    if verb is None:
        what = "option" if words[0].startswith("-") else "verb"
        raise UsageError(f"there is no {what} {words[0]!r}; {advice(words[0], BY_NAME)}")
    module = module_of(verb)
    try:
        arguments = parser_of(verb, module).parse_intermixed_args(words[1:])
    except SystemExit:
        return DONE  # argparse has shown the help
    return module.run(arguments, screen)


def help_text() -> str:
    """What there is, by group."""
    width = max(len(verb.name) for verb in VERBS) + 2
    lines = [
        f"holdfast {__version__}: the tool runtime for AI agents",
        "",
        "usage: holdfast VERB [OPTIONS]",
    ]
    for group in dict.fromkeys(verb.group for verb in VERBS):
        lines += ["", group]
        lines += [f"  {v.name:{width}}{v.summary}" for v in VERBS if v.group == group]
    lines += [
        "",
        "holdfast VERB --help says more about one; holdfast --version says which this is.",
    ]
    return "\n".join(lines)
