"""The third part of the tour: an agent does a piece of work by itself, in a real sandbox.

Its model plays turns that are written down here, so that no key is needed; all else is as ever.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import anyio

from holdfast.agent.models.scripted import ScriptedCall, ScriptedModel, Turn
from holdfast.app.agent_work import Work, opened_agent
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.telling import Told
from holdfast.contract.call import Ask
from holdfast.contract.events import ApprovalAnswered, CallAsked, CallSettled, Event, ModelReplied
from holdfast.contract.json_value import JsonObject, decode_json
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule
from holdfast.contract.wakes import WakeEnd
from holdfast.surfaces.cli.call_cards import Card, card_of, result_lines

TITLE = "An agent at work"
WELCOME = (
    "`holdfast run` gives a task to an agent. Its model is a script here, so that nothing goes\n"
    'over a network. The task: "The greeting is wrong; mend it and run the test."'
)
TASK = "The greeting is wrong; mend it and run the test."
FILES = {
    "greet.sh": 'echo "Hullo"\n',
    "test.sh": '[ "$(bash greet.sh)" = Hello ] && echo "passed"\n',
}
_ASKED = Rule(
    permission="edit",
    pattern="*",
    action="ask",
    scope="project",
    source="the tour",
    reason="Changes are a person's decision.",
)
TURNS = (
    Turn(text="I look at it.", calls=(ScriptedCall(name="read", arguments={"path": "greet.sh"}),)),
    Turn(
        text="One letter is wrong.",
        calls=(
            ScriptedCall(
                name="edit",
                arguments={"path": "greet.sh", "old_string": "Hullo", "new_string": "Hello"},
            ),
        ),
    ),
    Turn(calls=(ScriptedCall(name="bash", arguments={"command": "bash test.sh"}),)),
    Turn(text="The greeting is right now, and the test passes."),
)


class Run(NamedTuple):
    """How it went."""

    lines: list[str]
    end: WakeEnd | None


def run_agent() -> Run:
    """Have it done."""
    with TemporaryDirectory() as folder:
        workspace = Path(folder, "greeting")
        workspace.mkdir()
        for name, text in FILES.items():
            (workspace / name).write_text(text, "utf-8")
        return anyio.run(_run, workspace, Path(folder, "data"))


async def _run(workspace: Path, data_home: Path) -> Run:
    lines: list[str] = []
    told = _Teller(lines.append)
    work = Work(profile="code", workspace=workspace, model=ScriptedModel(TURNS))
    async with opened_agent(
        work,
        settings=Settings(),
        surroundings=Surroundings(data_home=data_home),
        approver=_agree,
        rules=(_ASKED,),
    ) as opened:
        async for one in opened.session.run(TASK):
            told(one)
        return Run(lines, opened.session.last)


async def _agree(_ask: Ask, /) -> Answer:
    return Answer(allowed=True, by="the tour")


class _Teller:
    """Tells what happens, without what differs from run to run."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._cards: dict[str, Card] = {}

    def __call__(self, told: Told) -> None:
        match told.payload if isinstance(told, Event) else None:
            case ModelReplied(reply={"text": str(text)}):
                self._say(f"\n{text}")
            case CallAsked(call_id=call_id, tool=tool, arguments=arguments):
                card = self._cards[call_id] = card_of(tool, arguments)
                self._say(f"  * {card.title}")
            case ApprovalAnswered():
                self._say("    a person is asked, and allows it once")
            case CallSettled(call_id=call_id, envelope=envelope):
                document = decode_json(bytes(envelope))
                answered: JsonObject = document if isinstance(document, dict) else {}
                answered.pop("metadata", None)
                for line in result_lines(self._cards[call_id], answered):
                    self._say(f"    {line.text}")
            case _:
                pass
