"""A program whose agent asks real weights over HTTP, and is killed.

Started with: home, the URL of the API, the form that is spoken there, where it ends, and a session
to go on with. It ends when its run rests; with `waits` it does not even then, and with `speaks` it
kills itself when the model has begun to speak.
"""

import os
import signal
import sys
from pathlib import Path

import anyio

from holdfast import Agent, Holdfast, RunLimits, Visibility, tool
from holdfast.agent.models import anthropic, openai_chat
from holdfast.agent.models.http_model import HttpModel
from holdfast.agent.models.setup import ModelSetup
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.model import TextDelta

KEY = "key-of-a-test"
FORMS = {"openai_chat": openai_chat.FORM, "anthropic": anthropic.FORM}
AGENT = Agent(
    id="deployer",
    instructions="Deploy.",
    tools=Visibility(allow=("deploy",)),
    limits=RunLimits(rounds=3),
    guidance=False,
)


def deploying(home: Path) -> object:
    @tool(permission_policy="always_ask")
    async def deploy() -> str:
        """Deploy it."""
        with (home / "effects").open("a", encoding="utf-8") as file:
            file.write("deployed\n")
        return "Deployed."

    return deploy


async def run(home: Path, url: str, form: str, until: str, session: str | None) -> None:
    setup = ModelSetup(model="smollm2", url=url, key=KEY, max_output_tokens=48, temperature=0)
    model = HttpModel(setup, FORMS[form])
    async with Holdfast(
        tools=[deploying(home)],
        profile="bare",
        settings=Settings(),
        surroundings=Surroundings(data_home=home / "data", state_home=home / "state"),
        approver="elsewhere",
    ) as holdfast:
        opened = await holdfast.new_session(agent=AGENT, model=model, session=session)
        async for one in opened.run(None if session else "Deploy it, please."):
            if until == "speaks" and isinstance(one, TextDelta):
                os.kill(os.getpid(), signal.SIGKILL)
        if until == "waits":
            await anyio.sleep_forever()  # whoever started it ends it
    await model.close()


if __name__ == "__main__":
    home, url, form, until, *session = sys.argv[1:]
    anyio.run(run, Path(home), url, form, until, session[0] if session else None)
