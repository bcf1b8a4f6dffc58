"""An agent hands work to two others: to one it waits for, to the other in the background.

Each works in a session of its own, under its own instructions, and never with more than the agent
above it has. The models follow scripts, so that it runs anywhere.

Run it: python examples/subagents.py
"""

import tempfile

import anyio

from holdfast import Agent, Holdfast, tool
from holdfast.contract.model import ModelRequest
from holdfast.testing.scripts import ScriptedCall, ScriptedModel, Turn


@tool(read_only=True)
def count(text: str) -> int:
    """Count the words of a text, e.g. text='one two'."""
    return len(text.split())


def calls(tool_name: str, **arguments: str | bool) -> Turn:
    return Turn(calls=(ScriptedCall(name=tool_name, arguments=dict(arguments)),))


LINES = {
    "You divide the work.": [
        calls("task", subagent_type="counter", prompt="How many words has 'to be or not to be'?"),
        calls("task", subagent_type="critic", prompt="Is it a good line?", background=True),
    ],
    "You count.": [calls("count", text="to be or not to be"), "Six."],
    "You judge.": ["It will be remembered."],
}


def whose_line(request: ModelRequest) -> Turn | str:
    """One model speaks for all of them; who is asked stands in the instructions."""
    told = request.rows[0].content or ""
    lines = next(lines for begin, lines in LINES.items() if begin in told)
    turn = lines.pop(0) if lines else in_the_end(request)
    print(f"{told.splitlines()[0]} -> {turn if isinstance(turn, str) else turn.calls[0].name}")
    return turn


def in_the_end(request: ModelRequest) -> str:
    """The leader hears of the critic when the critic is done, and is run again for it."""
    heard = any("remembered" in (row.content or "") for row in request.rows)
    return "Six words, and the critic likes them." if heard else "Six words; the critic thinks."


AGENTS = [
    Agent(id="leader", instructions="You divide the work.", profile="locked"),
    Agent(id="counter", instructions="You count.", description="Counts.", mode="subagent"),
    Agent(id="critic", instructions="You judge.", description="Judges.", mode="subagent"),
]


async def main() -> None:
    model = ScriptedModel([whose_line] * 7)
    with tempfile.TemporaryDirectory() as folder:
        async with Holdfast(tools=[count], profile="locked", workspace=folder, agents=AGENTS) as hf:
            session = await hf.new_session(agent="leader", model=model)
            async for _told in session.run("Tell me about 'to be or not to be'."):
                pass
            assert session.last is not None
            print("in the end:", session.last.response)


if __name__ == "__main__":
    anyio.run(main)
