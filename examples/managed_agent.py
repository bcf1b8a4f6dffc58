"""An agent that says what it is to achieve, works, is held back, gets there, and shares its work.

Whether the outcome is reached is found in what its tools answered, and never in what it says: until
then nothing is shared with the agent's other sessions. The model here follows a script, so that it
runs anywhere, and `agrees` stands for a person who confirms what writes in a shell or is shared.

Run it: python examples/managed_agent.py
"""

import tempfile
from pathlib import Path

import anyio
import msgspec

from holdfast import Agent, Answer, Ask, Event, Holdfast
from holdfast.contract.events import CallSettled
from holdfast.contract.json_value import JsonValue
from holdfast.testing.scripts import ScriptedCall, ScriptedModel, Turn


def calls(name: str, **arguments: JsonValue) -> Turn:
    return Turn(calls=(ScriptedCall(name=name, arguments=arguments),))


SHARE = calls("resources_promote_to_substrate", source_path="tea.txt")
MODEL = ScriptedModel(
    [
        calls(
            "outcome_define",
            title="The recipe is complete",
            success_criteria=['The check prints "3 steps"'],
        ),
        calls("write", path="tea.txt", content="Boil water.\nAdd tea.\n"),
        SHARE,
        "I may not share it yet: nothing shows that it is complete.",
        calls("write", path="tea.txt", content="Boil water.\nAdd tea.\nWait.\n"),
        calls("shell_run", command='echo "$(wc -l < tea.txt) steps"'),
        "Now it has all of its steps.",
        calls("outcome_evaluate"),
        SHARE,
        "It is shared.",
    ]
)


async def agrees(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="ada")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shared, workspace = Path(folder) / "shared", Path(folder) / "work"
        shared.mkdir()
        workspace.mkdir()
        cook = Agent(id="cook", instructions="Keep the recipes.", substrate=str(shared))
        async with Holdfast(profile="managed", workspace=workspace, approver=agrees) as hf:
            session = await hf.new_session(agent=cook, model=MODEL)
            for message in ("Write the recipe.", "Complete it.", "Share it."):
                async for one in session.run(message):
                    if isinstance(one, Event) and isinstance(one.payload, CallSettled):
                        said = msgspec.json.decode(one.payload.envelope)
                        print(f"  {one.payload.tool}: {said.get('message', 'done')}")
                print(session.last and session.last.response)
        print(len((shared / "tea.txt").read_text("utf-8").splitlines()), "steps are shared")


if __name__ == "__main__":
    anyio.run(main)
