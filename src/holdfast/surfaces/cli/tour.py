"""`holdfast tour`: four tools, a good dozen of calls, and what holdfast makes of each; then a piece
of work with the built-in tools, and an agent that does one by itself.

It keeps its files in a temporary directory, reads no configuration, and leaves nothing behind.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Literal, NamedTuple

import anyio

from holdfast.app.holdfast import Holdfast as AsyncHoldfast
from holdfast.app.options import Options
from holdfast.app.settings import Settings, Surroundings
from holdfast.blocking import Holdfast
from holdfast.contract.envelope import Envelope, Repair
from holdfast.contract.json_value import decode_json
from holdfast.contract.rules import Rule
from holdfast.contract.tool import Limits, OutputBound
from holdfast.envelope.render import render
from holdfast.policy.explain import Explanation, UseExplained
from holdfast.sources.functions import tool
from holdfast.surfaces.cli import tour_agent
from holdfast.surfaces.cli.layout import laid_out
from holdfast.surfaces.cli.looks import Scene
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.tour_agent import run_agent
from holdfast.surfaces.cli.tour_work import IDS, TITLE, WELCOME, work

_WIDTH = 84
_STATIONS = {"Oslo": 4, "Rome": 17, "Quito": 14}

_WELCOME = (
    "A model asks for a tool in text, and the text is often a little wrong. Holdfast takes each\n"
    "call to exactly one envelope: repaired where the meaning is plain, refused with a reason\n"
    "where it is not, and run only within what its tool requires and your rules say.\n"
    "Four small tools are at hand:"
)
_GOODBYE = (
    "Now yours: put @holdfast.tool over a typed function in tools.py, then try\n"
    "  holdfast tools --from tools.py\n"
    "  holdfast call NAME key=value --from tools.py --pretty\n"
    '  holdfast run "what is to be done" --model anthropic:claude-sonnet-4-5'
)


@tool(limits=Limits(output=OutputBound(max_bytes=70)))
def weather(city: str, unit: Literal["c", "f"] = "c", days: int = 1) -> dict[str, object]:
    """The forecast for a city. days: how many, from today on."""
    station = _STATIONS[city]
    degrees = [station + (day * 7) % 5 for day in range(days)]
    if unit == "f":
        degrees = [round(celsius * 9 / 5 + 32) for celsius in degrees]
    return {"city": city, "unit": unit, "degrees": degrees}


@tool(read_only=False)
def note(text: str, tags: Sequence[str] = (), pinned: bool = False) -> dict[str, object]:  # noqa: FBT001, FBT002 - a model names its arguments
    """Keep a note. tags: words to find it by."""
    return {"kept": text, "tags": sorted(tags), "pinned": pinned}


@tool(read_only=False, requires={"fs": {"write": ["notes/**"]}}, uses={"path": "fs.write"})
def save(path: str, text: str) -> dict[str, object]:
    """Write a text to a file. It requires leave to write below notes/."""
    return {"would_write": path, "characters": len(text)}


@tool(read_only=False, requires={"shell": [{"cmd": "git"}]}, uses={"command": "shell.run"})
def shell(command: str) -> dict[str, object]:
    """Run a command. It requires git; a rule denies `git push`."""
    return {"would_run": command}


TOOLS = (weather, note, save, shell)
RULES = (
    Rule(
        permission="shell",
        pattern="git push *",
        action="deny",
        scope="project",
        source="the tour",
        reason="Publishing is for people.",
    ),
)


class Stop(NamedTuple):
    """One call of the tour."""

    title: str
    explanation: str
    tool: str
    sent: str
    explained: bool = False
    """Whether what policy says of each part is shown."""


STOPS = (
    Stop(
        "A good call",
        "Nothing to repair: one compiled check, then the tool runs.",
        "weather",
        '{"city": "Oslo", "unit": "c", "days": 2}',
    ),
    Stop(
        "A number written as text",
        "The schema wants an integer and the text is one.",
        "weather",
        '{"city": "Rome", "days": "3"}',
    ),
    Stop(
        "Another spelling of a choice",
        "Only one declared choice differs by nothing but its case.",
        "weather",
        '{"city": "Quito", "unit": "F"}',
    ),
    Stop(
        "Arguments in a wrapper",
        "Models like to repeat the word `properties` from the schema. It is lifted.",
        "weather",
        '{"properties": {"city": "Oslo"}}',
    ),
    Stop(
        "A list and a truth value written as text",
        "Each is read as what the schema says it must be, and each repair is reported.",
        "note",
        '{"text": "buy rope", "tags": "[\\"errand\\", \\"boat\\"]", "pinned": "true"}',
    ),
    Stop(
        "An empty filler",
        "An optional text that is empty says nothing; the default is used.",
        "weather",
        '{"city": "Rome", "unit": ""}',
    ),
    Stop(
        "A missing argument",
        "Nothing is guessed. The answer names the field, and a retry can succeed.",
        "weather",
        '{"days": 2}',
    ),
    Stop(
        "The same mistake again",
        "The second time the answer brings a call that would be accepted.",
        "weather",
        '{"days": 2}',
    ),
    Stop(
        "A stray key",
        "Tools are closed: an argument nobody declared is refused, not ignored.",
        "note",
        '{"text": "buy rope", "colour": "red"}',
    ),
    Stop(
        "A tool that does not exist",
        "No other names are offered: a model would try them one after the other.",
        "wether",
        '{"city": "Oslo"}',
    ),
    Stop(
        "A crash inside the tool",
        "Whatever a body raises is an answer, never an exception in the loop.",
        "weather",
        '{"city": "Atlantis"}',
    ),
    Stop(
        "More than a model should read",
        "The beginning stays, the end is in `tail`, and the whole is kept in a file.",
        "weather",
        '{"city": "Oslo", "days": 45}',
    ),
    Stop(
        "More than the tool requires",
        "What a tool may touch is declared. The answer names the requirement that is missing.",
        "save",
        '{"path": "src/main.py", "text": "print()"}',
    ),
    Stop(
        "One part of a command is denied",
        "A command text is taken apart and every part is judged, however it is spelled.",
        "shell",
        '{"command": "git status && git -C . push -fq origin"}',
        explained=True,
    ),
)
_EXAMPLES = """\
examples:
  holdfast tour             every step with its answer; nothing of yours is touched
  holdfast tour --plain     for a file, or for a terminal without colours
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("--plain", action="store_true", help="text only, no boxes or colours")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    if arguments.plain:
        screen.be_plain()
    look = screen.look
    look.heading("Holdfast, call by call")
    look.text(_WELCOME)
    for one in TOOLS:
        look.text(_signature(one.tool.name, one.tool.description))
    look.text("")
    for scene in scenes():
        look.scene(scene)
    look.heading(TITLE)
    look.text(WELCOME)
    for told in work():
        look.text(f"\n{told.says}")
        if told.asked is not None:
            look.text("\n".join(wrap(told.asked, _WIDTH)))
        look.card(told.card)
    look.text("")
    look.heading(tour_agent.TITLE)
    look.text(tour_agent.WELCOME)
    for line in run_agent().lines:
        look.text(line)
    look.text("")
    look.text(_GOODBYE)
    return 0


def _signature(name: str, description: str | None) -> str:
    return f"  {name:9} {(description or '').partition(chr(10))[0]}"


def scenes() -> Iterator[Scene]:
    """Make the calls. Everything shown comes from the real pipeline."""
    with TemporaryDirectory() as folder:
        options = Options(
            settings=Settings(), surroundings=Surroundings(data_home=Path(folder)), rules=RULES
        )
        with Holdfast(tools=TOOLS, workspace=folder, **options) as holdfast:
            for number, stop in enumerate(STOPS, 1):
                envelope = holdfast.settle(stop.tool, stop.sent)
                yield Scene(
                    title=f"{number}. {stop.title}",
                    explanation=stop.explanation,
                    sent=f"{stop.tool} {stop.sent}",
                    repairs=[_said(repair) for repair in envelope.metadata.repairs],
                    envelope=_shown(envelope, folder),
                    ok=envelope.ok,
                    judged=_judged(stop, folder, options) if stop.explained else (),
                )


def _judged(stop: Stop, folder: str, options: Options) -> list[str]:
    """What policy says of each part of the call."""
    holdfast = AsyncHoldfast(tools=TOOLS, workspace=folder, **options)
    found = anyio.run(holdfast.explain, stop.tool, stop.sent)
    uses = found.uses if isinstance(found, Explanation) else ()
    return [f"{use.target}: {use.verdict}{_by(use)}" for use in uses]


def _by(use: UseExplained) -> str:
    rule = use.decided_by
    return "" if rule is None else f", by {rule.permission} {rule.pattern!r} ({rule.source})"


def _said(repair: Repair) -> str:
    return f"{repair.repair} at {repair.field or 'the arguments'}"


def _shown(envelope: Envelope, folder: str) -> str:
    """The envelope without what differs from run to run."""
    wire = IDS.sub(r"\1_…", render(envelope)).replace(folder, "…")
    return laid_out(decode_json(wire), _WIDTH)
