"""`holdfast tour`: two tools, a dozen calls, and what holdfast makes of each.

It keeps its files in a temporary directory, reads no configuration, and leaves nothing behind.
"""

import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from holdfast.app.settings import Settings, Surroundings
from holdfast.blocking import Holdfast
from holdfast.contract.envelope import Envelope, Repair
from holdfast.contract.json_value import decode_json
from holdfast.contract.tool import Limits, OutputBound
from holdfast.envelope.render import render
from holdfast.sources.functions import tool
from holdfast.surfaces.cli.layout import laid_out
from holdfast.surfaces.cli.looks import Scene
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.screen import Screen

_ID = re.compile(r"\b(ses|cal)_[0-9a-f]{12}[0-9A-Za-z]{14}")
_WIDTH = 84
_STATIONS = {"Oslo": 4, "Rome": 17, "Quito": 14}

_WELCOME = (
    "A model asks for a tool in text, and the text is often a little wrong. Holdfast takes each\n"
    "call to exactly one envelope: repaired where the meaning is plain, refused with a reason\n"
    "where it is not. Two small tools are at hand:"
)
_GOODBYE = (
    "Now yours: put @holdfast.tool over a typed function in tools.py, then try\n"
    "  holdfast tools --from tools.py\n"
    "  holdfast call NAME key=value --from tools.py --pretty"
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


class Stop(NamedTuple):
    """One call of the tour."""

    title: str
    explanation: str
    tool: str
    sent: str


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
)


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("--plain", action="store_true", help="text only, no boxes or colours")


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    if arguments.plain:
        screen.be_plain()
    look = screen.look
    look.heading("Holdfast in a dozen calls")
    look.text(_WELCOME)
    look.text(_signature(weather.tool.name, weather.tool.description))
    look.text(_signature(note.tool.name, note.tool.description) + "\n")
    for scene in scenes():
        look.scene(scene)
    look.text(_GOODBYE)
    return 0


def _signature(name: str, description: str | None) -> str:
    return f"  {name:9} {(description or '').partition(chr(10))[0]}"


def scenes() -> Iterator[Scene]:
    """Make the calls. Everything shown comes from the real pipeline."""
    with TemporaryDirectory() as folder:
        surroundings = Surroundings(data_home=Path(folder))
        holdfast = Holdfast(tools=[weather, note], settings=Settings(), surroundings=surroundings)
        with holdfast:
            for number, stop in enumerate(STOPS, 1):
                envelope = holdfast.settle(stop.tool, stop.sent)
                yield Scene(
                    title=f"{number}. {stop.title}",
                    explanation=stop.explanation,
                    sent=f"{stop.tool} {stop.sent}",
                    repairs=[_said(repair) for repair in envelope.metadata.repairs],
                    envelope=_shown(envelope, folder),
                    ok=envelope.ok,
                )


def _said(repair: Repair) -> str:
    return f"{repair.repair} at {repair.field or 'the arguments'}"


def _shown(envelope: Envelope, folder: str) -> str:
    """The envelope without what differs from run to run."""
    wire = _ID.sub(r"\1_…", render(envelope)).replace(folder, "…")
    return laid_out(decode_json(wire), _WIDTH)
