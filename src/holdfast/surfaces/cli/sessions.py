"""`holdfast sessions`: what is written down of sessions, listed, read, searched, handed on.

Exit status: 0 done, 1 it failed or something differs, 2 it was not understood.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio

from holdfast.app.control.client import RefusedRequest, Unreachable
from holdfast.app.spelling import advice
from holdfast.contract.archive import LAST
from holdfast.contract.journal import JournalError, UnknownSession
from holdfast.record.codec import UnreadableEvent
from holdfast.record.importing import UnreadableExport
from holdfast.surfaces.cli.parsing import After, Parser, UsageError, add_settings_options
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.session_answer import answer, questions
from holdfast.surfaces.cli.session_compact import compact
from holdfast.surfaces.cli.session_events import TYPES, show_events
from holdfast.surfaces.cli.session_keeping import delete, export, import_, rebuild
from holdfast.surfaces.cli.session_list import STATUSES, list_sessions, search
from holdfast.surfaces.cli.session_say import commands, event, interrupt, send, terminate
from holdfast.surfaces.cli.session_show import show
from holdfast.surfaces.cli.session_trace import show_trace
from holdfast.surfaces.cli.session_watch import watch

_FAILED = 1
_ANY = 2**31
_FORMS = ("events", "chat", "folder")
_EXAMPLES = """\
examples:
  holdfast sessions                                 the last active first
  holdfast sessions list --status waiting_on_approval   those that wait for a person
  holdfast sessions show last                       where it stands, and the conversation
  holdfast sessions events last --type call.settled --limit 5
  holdfast sessions events ses_019 --follow         what happens, as it happens
  holdfast sessions watch last                      live, from another window
  holdfast sessions send last 'use the other file'  to an agent at work, or for later
  holdfast sessions interrupt last --note 'wait'    stop what runs
  holdfast sessions event last '{"type": "user.message", "message": "go on"}'
  holdfast sessions commands last                   what it runs now, and what was printed last
  holdfast sessions terminate last cal_019          end one of these; the agent goes on
  holdfast sessions trace last                      what took how long, inside of what
  holdfast sessions search timeout --session last
  holdfast sessions questions                       what waits for a person's answer
  holdfast sessions answer ses_019 --deny --note 'not on a Friday'
  holdfast sessions answer ses_019 --reply SQLite   to what a tool asks
  holdfast sessions compact last 'keep the names'   a summary for the model from here on
  holdfast sessions export last --to run.jsonl      to be read back by import
  holdfast sessions import run.jsonl --as-new       what was exported, under an id of its own
  holdfast sessions delete ses_019 --yes            for good, and without a question
  holdfast sessions rebuild last                    add the events up again, and compare

A session is named by its id, the beginning of it, or last: the last one of this workspace.
"""


class _Answer(NamedTuple):
    """What one of the words does, and which options it takes."""

    do: Callable[[Namespace, Screen], Awaitable[int]]
    options: tuple[str, ...] = ()
    wants: str | None = None
    """What has to follow it."""
    least: int = 1
    """How many words of that."""
    most: int = 1


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument(
        "what", metavar="WHAT", nargs="?", help=f"{', '.join(_ANSWERS)}; list by default"
    )
    parser.offer("what", _ANSWERS)
    parser.add_argument(
        "words", metavar="ID | WORDS | PATH", nargs="*", default=[], help="what it is about"
    )
    _add_filters(parser)
    parser.add_argument(
        "--full", action="store_true", help="show, events, watch: not folded or cut"
    )
    parser.add_argument("--allow", action="store_true", help="answer: it may run")
    parser.add_argument("--deny", action="store_true", help="answer: it must not")
    parser.add_argument(
        "--note", metavar="TEXT", help="answer: a refusal tells the model this; interrupt: why"
    )
    parser.add_argument(
        "--call", action="store_true", help="interrupt: only the calls that run; the agent goes on"
    )
    parser.add_argument(
        "--reply", metavar="TEXT", action="append", help="answer: to what a tool asks, once each"
    )
    parser.add_argument("--skip", action="store_true", help="answer: none of what a tool asks")
    parser.add_argument("--form", choices=_FORMS, help="export: events by default")
    parser.add_argument("--to", metavar="FILE", help="export: a new file or folder")
    parser.add_argument(
        "--as-new", action="store_true", help="import: under a new id, also if it is there"
    )
    parser.add_argument(
        "--model", metavar="NAME", help="compact: who is asked; the session's model by default"
    )
    parser.add_argument("--yes", action="store_true", help="delete: do not ask; for scripts")
    parser.add_argument(
        "--repair", action="store_true", help="rebuild: put right what the events say otherwise"
    )
    parser.add_argument(
        "--json", action="store_true", help="JSON, for programs; events, watch, search: a line each"
    )
    add_settings_options(parser)
    parser.offer("words", [LAST])
    parser.offer("types", TYPES)
    for name, word in _ANSWERS.items():
        names_one = (word.wants or "").startswith("ID")
        parser.after[name] = After(
            words=(LAST,) if names_one else (),
            options=frozenset({*word.options, *_OF_ALL, "help"}),
            takes_path=word.wants == "PATH",
            takes=(word.wants or "") if word.least else f"[{word.wants}]",
            says=_SAYS[name],
        )
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def _add_filters(parser: Parser) -> None:
    parser.add_argument("--agent", metavar="ID", help="list: of this agent")
    parser.add_argument("--status", choices=STATUSES, help="list: in this state")
    parser.add_argument("--parent", metavar="ID", help="list: made by this session")
    parser.add_argument("--session", metavar="ID", help="search: in this session alone")
    parser.add_argument("--limit", metavar="N", help="list, events, search: at most N")
    for name, what in (("after", "behind"), ("before", "before"), ("around", "around")):
        parser.add_argument(f"--{name}", metavar="EVENT", help=f"events: {what} this id or number")
    parser.add_argument("--before-limit", metavar="N", help="events: so many before --around; 10")
    parser.add_argument("--after-limit", metavar="N", help="events: so many behind --around; 10")
    parser.add_argument(
        "--type", dest="types", metavar="TYPE", action="append", help="events: of this type"
    )
    parser.add_argument("--wake", metavar="ID", help="events, trace: of this wake")
    parser.add_argument("--pending", action="store_true", help="events: not taken into account yet")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="events, watch: go on until it is closed or you interrupt",
    )


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    what = arguments.what or "list"
    word = _ANSWERS.get(what)
    if word is None:
        raise UsageError(f"sessions does not know {what!r}; {advice(what, _ANSWERS)}")
    _check(what, word, arguments)
    try:
        return anyio.run(word.do, arguments, screen)
    except UnknownSession as problem:
        raise UsageError(str(problem)) from None
    except _PROBLEMS as problem:
        screen.remark(str(problem))
        if arguments.json:
            screen.json_line({"error": str(problem)})
        return _FAILED


def _check(what: str, word: _Answer, arguments: Namespace) -> None:
    words: list[str] = arguments.words
    if word.wants is not None and len(words) < word.least:
        raise UsageError(f"which? write: holdfast sessions {what} {word.wants}")
    if words and word.wants is None:
        raise UsageError(f"sessions {what} takes no {words[0]!r}; see holdfast sessions --help")
    if len(words) > word.most:
        more = words[word.most]
        raise UsageError(f"sessions {what} takes one {word.wants}, and not also {more!r}")
    for name, value in vars(arguments).items():
        if value and name not in {*_OF_ALL, *word.options}:
            option = "type" if name == "types" else name.replace("_", "-")
            takers = [taker for taker, one in _ANSWERS.items() if name in one.options]
            raise UsageError(f"--{option} is for {' and '.join(takers)}, not for {what}")


_PROBLEMS = (JournalError, UnreadableEvent, UnreadableExport, Unreachable, RefusedRequest)
_OF_ALL = frozenset({"what", "words", "json", "workspace", "overrides"})
_STRETCH = ("after", "before", "around", "before_limit", "after_limit")
_SAYS = {
    "list": "List sessions, the last active first.",
    "show": "Show where a session stands, and its conversation.",
    "events": "Show what was written down of a session, event by event.",
    "watch": "Show what happens in a session as it happens, wherever it runs on this machine.",
    "send": "Say something to the agent of a session.",
    "event": "Give a session an event of a person, as JSON.",
    "interrupt": "Stop what a session is doing.",
    "commands": "Show the commands that run in a session now.",
    "terminate": "End a command that runs in a session.",
    "trace": "Show what took how long, inside of what.",
    "search": "Search what was written down for words.",
    "questions": "Show what waits for a person's answer.",
    "answer": "Answer what waits for a person: whether a call may run, or what a tool asks.",
    "export": "Write a session to a file or folder.",
    "import": "Read a session that was exported.",
    "compact": "Have the conversation summarised for the model; what was written down stays whole.",
    "delete": "Remove a session and all that was kept of it.",
    "rebuild": "Add the events up again, and compare.",
}
_ANSWERS = {
    "list": _Answer(list_sessions, ("agent", "status", "parent", "limit")),
    "show": _Answer(show, ("full",), "ID"),
    "events": _Answer(
        show_events, (*_STRETCH, "types", "wake", "pending", "limit", "follow", "full"), "ID"
    ),
    "watch": _Answer(watch, ("follow", "full"), "ID"),
    "send": _Answer(send, (), "ID TEXT", least=2, most=2),
    "event": _Answer(event, (), "ID JSON", least=2, most=2),
    "interrupt": _Answer(interrupt, ("note", "call"), "ID"),
    "commands": _Answer(commands, (), "ID"),
    "terminate": _Answer(terminate, (), "ID COMMAND", least=2, most=2),
    "trace": _Answer(show_trace, ("wake",), "ID"),
    "search": _Answer(search, ("session", "limit"), "WORDS", most=_ANY),
    "questions": _Answer(questions, (), "ID", least=0),
    "answer": _Answer(
        answer, ("allow", "deny", "note", "reply", "skip"), "ID [APPROVAL | CALL]", most=2
    ),
    "export": _Answer(export, ("to", "form"), "ID"),
    "import": _Answer(import_, ("as_new",), "PATH"),
    "compact": _Answer(compact, ("model",), "ID [WISH]", most=2),
    "delete": _Answer(delete, ("yes",), "ID"),
    "rebuild": _Answer(rebuild, ("repair",), "ID"),
}
