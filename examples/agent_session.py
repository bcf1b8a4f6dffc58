"""An agent with two tools: one that a person has to allow, one that only this program can do.

What the model says is printed as it comes. The model here follows a script, so that it runs
anywhere; give a name instead, such as model="anthropic:claude-sonnet-4-5", and one is asked.

Run it: python examples/agent_session.py
"""

import tempfile

import anyio

from holdfast import AgentSession, Answer, Ask, Event, Holdfast, TextDelta, tool
from holdfast.testing.scripts import ScriptedCall, ScriptedModel, Turn


@tool(read_only=False, permission_policy="always_ask")
def deploy(place: str) -> str:
    """Deploy to a place, e.g. place='north'."""
    return f"deployed to {place}"


@tool(ownership="custom")
def order(item: str) -> str:
    """Order something from the shop, e.g. item='tea'."""
    raise NotImplementedError  # this program does it, whenever it can


def calls(name: str, **arguments: str) -> ScriptedCall:
    return ScriptedCall(name=name, arguments=dict(arguments))


MODEL = ScriptedModel(
    [
        Turn(text="I deploy first.", calls=(calls("deploy", place="north"),)),
        Turn(text="Now the tea.", calls=(calls("order", item="tea"),)),
        "North is deployed, and tea is on its way.",
    ]
)


async def agrees(ask: Ask) -> Answer:
    """Stands for a person, and for a window with two buttons."""
    allowed = ask.prepared.arguments["place"] == "north"
    return Answer(allowed=allowed, by="ada", note=None if allowed else "only the north")


async def shown(session: AgentSession, message: str | None = None) -> None:
    """Run it until it rests, and print what happens meanwhile."""
    async for one in session.run(message):
        if isinstance(one, TextDelta):
            print(one.text, end="", flush=True)
        elif isinstance(one, Event) and one.type in {"approval.answered", "call.settled"}:
            print(f"\n  [{one.type}]")
    print()


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Holdfast(
            tools=[deploy, order], workspace=folder, approver=agrees, application="elsewhere"
        ) as hf:
            session = await hf.new_session(model=MODEL)
            await shown(session, "Deploy everywhere, and order tea.")
            request = await session.request()
            if request is not None:  # it may be given hours later, and by another program
                print("asked for:", request.name, request.input)
                await session.give(request, "ordered, number 4711")
                await shown(session)
            if session.last is not None:
                print("ended:", session.last.ended)


if __name__ == "__main__":
    anyio.run(main)
