"""The second part of the tour: a piece of work with the built-in tools, in a real sandbox.

A script with a wrong sign is found, mended and tested. What a model would say is written down here;
every answer comes from the real pipeline.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from holdfast.app.options import Options
from holdfast.app.settings import Settings, Surroundings
from holdfast.blocking import Holdfast
from holdfast.contract.call import Ask
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.ports import Answer
from holdfast.surfaces.cli.layout import on_a_line
from holdfast.surfaces.cli.looks import Card, printable

TITLE = "A piece of work"
WELCOME = (
    "The built-in tools work in a workspace, and commands run confined by the kernel: this one is\n"
    "a folder with two scripts, and the total of a till comes out wrong."
)
_WIDTH = 92
_MOST_LINES = 9

WHOLE_OUTPUT = "(the file that the answer before names)"

FILES = {
    "total.sh": (
        "# The total of a receipt: a price on each line.\n"
        "sum=0\n"
        "while read -r price; do sum=$((sum - price)); done\n"
        'echo "$sum"\n'
    ),
    "test.sh": (
        "got=$(printf '4\\n5\\n' | bash total.sh)\n"
        'if [ "$got" = 9 ]; then echo "passed"; else echo "expected 9, got $got"; exit 1; fi\n'
    ),
    "build/old.txt": "left over\n",
}


class Step(NamedTuple):
    """What the agent does next, and why."""

    says: str
    tool: str
    arguments: JsonObject


class Told(NamedTuple):
    """A step with its answer, for a person to look at."""

    says: str
    card: Card
    asked: str | None
    """What a person was asked meanwhile, and said."""


STEPS = (
    Step("First the test.", "bash", {"command": "bash test.sh"}),
    Step("Where is the total added up?", "grep", {"pattern": r"sum=\$\(\("}),
    Step("The whole script.", "read", {"path": "total.sh"}),
    Step(
        "The sign is wrong.",
        "edit",
        {
            "path": "total.sh",
            "old_string": "sum - price",
            "new_string": "sum + price",
        },
    ),
    Step("And the test again.", "bash", {"command": "bash test.sh"}),
    Step(
        "Tidying up: this takes files away, so a person is asked.",
        "bash",
        {"command": "rm -rf build"},
    ),
    Step(
        "A look at the machine's passwords is refused: it lies outside of the workspace.",
        "read",
        {"path": "/etc/shadow"},
    ),
    Step(
        "More output than a model should read: the beginning is shown, the whole is kept.",
        "bash",
        {"command": "seq 1 200000"},
    ),
    Step(
        "Its end, read back from where it is kept.",
        "read",
        {"path": WHOLE_OUTPUT, "tail_lines": 2},
    ),
)


def work() -> Iterator[Told]:
    """Do it, step by step."""
    with TemporaryDirectory() as folder:
        workspace = Path(folder, "till")
        _furnish(workspace)
        person = _Person()
        options = Options(
            settings=Settings(),
            surroundings=Surroundings(data_home=Path(folder, "data")),
            approver=person,
        )
        with Holdfast(profile="code", workspace=workspace, **options) as holdfast:
            whole: str | None = None
            for step in STEPS:
                arguments = {
                    name: whole if value == WHOLE_OUTPUT else value
                    for name, value in step.arguments.items()
                }
                envelope = holdfast.settle(step.tool, arguments)
                whole = envelope.metadata.output_path
                yield Told(step.says, _card(step.tool, arguments, envelope, folder), person.heard())


def _furnish(workspace: Path) -> None:
    for name, text in FILES.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


class _Person:
    """Says yes, once, and what to."""

    def __init__(self) -> None:
        self._asked: str | None = None

    async def __call__(self, ask: Ask, /) -> Answer | None:
        self._asked = f"A person is asked: {ask.reason} They allow it once."
        return Answer(allowed=True, by="the tour")

    def heard(self) -> str | None:
        """What was asked since the last time."""
        said, self._asked = self._asked, None
        return said


def _card(tool: str, arguments: JsonObject, envelope: Envelope, folder: str) -> Card:
    failed = envelope.failure
    answer: JsonValue = decode_json(envelope.result_json) if failed is None else failed.message
    lines = _lines(answer)
    if envelope.metadata.truncated:
        lines.append(f"output_path: {envelope.metadata.output_path}")
    return Card(
        title=tool,
        state="done" if failed is None else failed.kind.value,
        status="OK" if failed is None else "FAIL",
        sent=_told_shorter(_lines(arguments), folder),
        answer=_told_shorter(lines, folder),
    )


def _lines(value: JsonValue) -> list[str]:
    """The first lines of a value; a text in it is shown as it reads."""
    text = value if isinstance(value, str) else on_a_line(value, _WIDTH)
    return text.splitlines()


def _told_shorter(lines: Sequence[str], folder: str) -> list[str]:
    shown = [printable(line.replace(folder, "…"))[:_WIDTH] for line in lines]
    more = len(shown) - _MOST_LINES
    return [*shown[:_MOST_LINES], f"… {more} more lines"] if more > 1 else shown
