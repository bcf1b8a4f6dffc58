"""One run of the command: find the verb, parse its words, answer, word every error.

Errors are one line: what is wrong; what to do. A traceback is shown only when asked for.
"""

import gc
import signal
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from importlib import import_module

from holdfast._version import __version__
from holdfast.app.environment import DEBUG_VARIABLE, debugging
from holdfast.app.problems import ConfigurationError, MissingProgramError, ToolFileError
from holdfast.app.spelling import advice
from holdfast.contract.tool import ToolDefinitionError
from holdfast.surfaces.cli.aside import tools_speak_aside
from holdfast.surfaces.cli.catalogue import module_of, parser_of
from holdfast.surfaces.cli.parsing import HelpAsked, UsageError
from holdfast.surfaces.cli.screen import Screen, one_line, screen_of_this_process
from holdfast.surfaces.cli.verbs import BY_NAME, VERBS, Verb

DONE = 0
FAILED = 1
USAGE = 2
INTERRUPTED = 130

_RUN_VIEW = "holdfast.surfaces.cli.run_view"
_HELP = {"-h", "--help", "help"}
_GLOBAL = ("--help", "--version")


def run(words: Sequence[str], *, ends_the_process: bool = False) -> int:
    """Answer a command line; returns the exit status."""
    screen = screen_of_this_process()
    verb = BY_NAME.get(words[0]) if words else None
    with ExitStack() as streams:
        if verb is not None and verb.loads_tools:
            streams.enter_context(tools_speak_aside(screen, for_good=ends_the_process))
        return _answered_or_worded(list(words), screen, as_json=_for_a_program(words, verb))


def _for_a_program(words: Sequence[str], verb: Verb | None) -> bool:
    """Whether whoever asks reads JSON, so that an error has to be JSON too."""
    return "--json" in words and not (verb is not None and verb.json_is_input)


def _answered_or_worded(words: list[str], screen: Screen, *, as_json: bool) -> int:
    complain = partial(_complain, screen, BY_NAME.get(words[0]) if words else None, as_json)
    try:
        return _answer(words, screen)
    except MissingProgramError as problem:
        complain(f"error: {problem}", FAILED, problem.step)
        screen.remark(problem.step)
        return FAILED
    except (UsageError, ConfigurationError, ToolFileError, ToolDefinitionError) as problem:
        complain(str(problem), USAGE)
        return USAGE
    except KeyboardInterrupt:
        complain("interrupted", INTERRUPTED)
        return INTERRUPTED
    except Exception as problem:
        # Some verbs answer to such a word; nothing can be called by it.
        odd = next((word for word in words if not _is_text(word)), None)
        if isinstance(problem, UnicodeEncodeError) and odd is not None:
            complain(f"{odd!r} is no UTF-8 text; use a name that is, and say it again", USAGE)
            return USAGE
        # Without a file's name it is the answer that cannot be written: the door's business.
        if isinstance(problem, OSError) and problem.filename is None:
            raise
        advised = f"run it again with {DEBUG_VARIABLE}=1 to see where, and report it"
        complain(f"unexpected {type(problem).__name__}: {problem}; {advised}", FAILED)
        return FAILED


def _complain(
    screen: Screen,
    verb: Verb | None,
    as_json: bool,  # noqa: FBT001 - bound before it is called
    message: str,
    status: int,
    step: str | None = None,
) -> None:
    """Say what went wrong; to a program on one line, as lines may be what it reads."""
    screen.remark(message)
    if debugging() and status != INTERRUPTED:
        traceback.print_exc()
    if not as_json:
        return
    if verb is not None and verb.tells_its_end:
        import_module(_RUN_VIEW).tell_no_run(one_line(message), status, screen)
    elif status != INTERRUPTED:
        document = {"error": one_line(message)}
        screen.json_line(document if step is None else {**document, "next": one_line(step)})


def _answer(words: list[str], screen: Screen) -> int:
    if not words or (words[0] in _HELP and len(words) == 1):
        screen.raw(help_text())
        return DONE
    if words[0] in _HELP:
        words = [*words[1:], "--help"]
    verb = BY_NAME.get(words[0])
    if verb is None:
        raise UsageError(_not_a_verb(words))
    module = module_of(verb)
    _collect_from_here()
    parser = parser_of(verb, module)
    try:
        arguments = parser.parse_intermixed_args(words[1:])
    except HelpAsked as asked:
        screen.raw(parser.help_about(words[1]) or asked.text)
        return DONE
    _hear_interrupts()
    # The parser takes the two hyphens away; whether words were set apart can matter.
    arguments.set_apart = "--" in words
    return module.run(arguments, screen)


def _hear_interrupts() -> None:
    """From here on Ctrl-C is worded, where the door left it to the system until all was loaded."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_text(word: str) -> bool:
    """Bytes that are no text come as halves of characters, which nothing can be called."""
    return not any("\ud800" <= one <= "\udfff" for one in word)


def _collect_from_here() -> None:
    """Have what is made from here on looked through for garbage, where the door put that off."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _not_a_verb(words: list[str]) -> str:
    """What to say to a first word that is none."""
    given = words[0]
    if not given.startswith("-"):
        return f"there is no verb {given!r}; {advice(given, BY_NAME)}"
    verb = next((BY_NAME[word] for word in words if word in BY_NAME), None)
    if verb is None:
        return f"there is no option {given!r}; {advice(given, _GLOBAL)}"
    option = given.partition("=")[0]
    if option in parser_of(verb, module_of(verb)).spellings:
        return f"{option} goes after the verb; write: holdfast {verb.name} {option}"
    return f"there is no option {option!r}; see holdfast {verb.name} --help"


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
