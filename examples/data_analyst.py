"""An agent that looks at a table, draws charts and shares a report; it changes no file of yours.

Charts and the report are artifacts: they lie beside the session and outlive it. Numbers come from
programs that the agent runs, confined by the kernel and without a network. Without --model the
model follows a script, on a small table that is made for it.

Run it:          python examples/data_analyst.py
With a model:    python examples/data_analyst.py --model openai:gpt-5 --data ~/sales \\
                     --question "Which month was best, and why?"
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import anyio
import msgspec

from holdfast import Agent, Event, Holdfast, ManifestRule, Visibility
from holdfast.contract.agents import RunLimits
from holdfast.contract.events import CallSettled
from holdfast.contract.json_value import JsonValue
from holdfast.contract.model import ChatModel
from holdfast.testing.scripts import ScriptedCall, ScriptedModel, Turn

ANALYST = Agent(
    id="analyst",
    instructions="Answer the question from the files of the workspace. Compute with programs, never"
    " in your head. Draw a chart where it helps (render_chart), and share a short report as"
    " Markdown (share_artifact): the answer first, then how you found it, then what is doubtful.",
    profile="host",
    tools=Visibility(
        allow=("read", "glob", "grep", "todo", "bash", "render_chart", "share_artifact")
    ),
    rules=(ManifestRule(permission="fs.write", pattern="*", action="deny"),),
    limits=RunLimits(rounds=40, seconds=900),
)
TABLE = "month,sold,returned\nMay,120,4\nJune,180,9\nJuly,95,2\n"
BEST = "sort -t, -k2 -nr sales.csv | head -n 1"
REPORT = (
    "# Best month\n\nJune, with 180 sold.\n\nFound by sorting sales.csv by the column `sold`.\n"
)


def calls(name: str, **arguments: JsonValue) -> Turn:
    return Turn(calls=(ScriptedCall(name=name, arguments=arguments),))


SCRIPT = (
    calls("read", path="sales.csv"),
    calls("bash", command=BEST),
    calls("render_chart", data=TABLE, chartType="bar", series=["sold"], title="Sold by month"),
    calls("share_artifact", content=REPORT, filename="report.md"),
    "June was best: 180 sold. The report and a chart are shared.",
)


def shared(said: dict[str, Any]) -> str | None:
    """Where an artifact is, as its block says: one line of JSON between two markers."""
    text = said["result"].get("text", "") if said["ok"] else ""
    if "_START---" not in text:
        return None
    block = next(line for line in text.splitlines() if line.startswith("{"))
    return msgspec.json.decode(block)["host_path"]


async def analyse(data: Path, question: str, model: str | ChatModel) -> None:
    async with Holdfast(profile="host", workspace=data) as hf:
        session = await hf.new_session(agent=ANALYST, model=model)
        async for one in session.run(question):
            if isinstance(one, Event) and isinstance(one.payload, CallSettled):
                said = msgspec.json.decode(one.payload.envelope)
                print(f"  {one.payload.tool}: {said.get('message', 'done')}")
                if (place := shared(said)) is not None:
                    print(f"  shared: {place}")
        print(session.last and (session.last.response or session.last.problem))


def main() -> None:
    words = argparse.ArgumentParser(description="Answer a question from a folder of data.")
    words.add_argument("--model", help="kind:model or a configured one; a script without it")
    words.add_argument("--data", type=Path, help="a folder with tables")
    words.add_argument("--question", default="Which month was best?")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.data is None:
            (Path(folder) / "sales.csv").write_text(TABLE, "utf-8")
        model = given.model or ScriptedModel(SCRIPT)
        anyio.run(analyse, given.data or Path(folder), given.question, model)


if __name__ == "__main__":
    main()
