"""A program that runs agents when they are due: by their own wakes, and by what people say.

The agent looks at a build, and asks to be woken again as long as it is not done. Any number of
programs may run what is due, on any machine that shares the store; each session is run by one of
them at a time. The model follows a script, so that it runs anywhere.

Run it: python examples/due_sessions.py
"""

import tempfile

import anyio

from holdfast import Agent, Holdfast, tool
from holdfast.testing.scripts import ScriptedCall, ScriptedModel, Turn

BUILD = iter(["running", "running", "green"])
LOOKS = Turn(calls=(ScriptedCall(name="build"),))
AGAIN = """It is not done; I look again in a second.
<holdfast-session-loop>
{"outcome": "continue", "follow_up_seconds": 1, "summary": "waits for the build"}
</holdfast-session-loop>"""
DONE = """The build is green.
<holdfast-session-loop>
{"outcome": "sleep", "summary": "the build is green"}
</holdfast-session-loop>"""


@tool(read_only=True)
def build() -> str:
    """How the build stands."""
    return next(BUILD)


async def main() -> None:
    model = ScriptedModel([LOOKS, AGAIN, LOOKS, AGAIN, LOOKS, DONE])
    watcher = Agent(id="watcher", instructions="Watch the build.", directives=True)
    with tempfile.TemporaryDirectory() as folder:
        async with Holdfast(tools=[build], agent=watcher, model=model, workspace=folder) as hf:
            session = await hf.new_session()
            await session.send("Tell me when the build is done.")
            await session.close()  # nobody has it open: whoever runs what is due takes it up

            # A program that does nothing else waits in: await hf.run_due(forever=True)
            while len(model.requests) < 6:
                print("runs:", await hf.run_due())
                await anyio.sleep(0.5)

            session = await hf.new_session(session=session.id)
            print("and now:", (await session.wake()).reason)


if __name__ == "__main__":
    anyio.run(main)
