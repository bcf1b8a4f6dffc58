"""The second part of the tour: a piece of work with the built-in tools, in a real sandbox.

A script with a wrong sign is found, mended and tested. What a model would say is written down here;
every answer comes from the real pipeline.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import NamedTuple

from holdfast.app.options import Options
from holdfast.app.settings import Settings, Surroundings
from holdfast.blocking import Holdfast
from holdfast.contract.call import Ask
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject, JsonValue, decode_json
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule
from holdfast.surfaces.cli.layout import on_a_line
from holdfast.surfaces.cli.looks import Card, printable

TITLE = "A piece of work"
WELCOME = (
    "The built-in tools work in a workspace, and commands run confined by the kernel: this one is\n"
    "a folder with two scripts, and the total of a till comes out wrong."
)
_WIDTH = 92
_ANY_WIDTH = 10_000
_FEW_LINES = 3
IDS = re.compile(r"\b(ses|cal)_[0-9a-f]{12}[0-9A-Za-z]{14}")
"""Names of sessions and calls: others in each run."""

RULES = (
    Rule(
        permission="bash",
        pattern="rm *",
        action="ask",
        scope="project",
        source="the tour",
        reason="Taking files away is a person's decision.",
    ),
)

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
            rules=RULES,
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
    lines = [failed.message] if failed else _readable(decode_json(envelope.result_json))
    if envelope.metadata.truncated:
        lines = [*lines[:_FEW_LINES], "…", f"all of it: {envelope.metadata.output_path}"]
    return Card(
        title=tool,
        state="done" if failed is None else failed.kind.value,
        status="OK" if failed is None else "FAIL",
        sent=_shown([on_a_line(arguments, _ANY_WIDTH)], folder),
        answer=_shown(lines, folder),
    )


def _readable(result: JsonValue) -> list[str]:
    """The part of a result that a person looks for first."""
    match result:
        case {"matches": [*matches]}:
            return [f"{one['path']}:{one['line']}: {one['text']}" for one in map(_object, matches)]
        case {"kind": "file", "text": str(text)}:
            return text.splitlines()
        case {"stdout": str(out), "stderr": str(err), "exit_code": code}:
            return [*f"{out}{err}".splitlines(), f"exit code {code}"]
        case {"head": str(head)}:
            return head.splitlines()
        case _:
            return [on_a_line(result, _ANY_WIDTH)]


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _shown(lines: Sequence[str], folder: str) -> list[str]:
    """Without what differs from run to run, and no wider than a screen."""
    return [
        part
        for line in lines
        for part in wrap(printable(IDS.sub(r"\1_…", line.replace(folder, "…"))), _WIDTH) or [""]
    ]
