"""An agent that makes failing tests pass, in a project of yours; it may change no test.

The program looks at the tests itself when the agent is done: what an agent says of its work is not
what counts. Without --model the model follows a script, in a small project that is made for it.

Run it:          python examples/code_fixer.py
With a model:    python examples/code_fixer.py --model anthropic:claude-sonnet-4-5 --project ~/till
Take it back:    holdfast undo SESSION --workspace ~/till
"""

import argparse
import sys
import tempfile
from pathlib import Path

import anyio
import msgspec

from holdfast import Agent, Answer, Ask, Event, Holdfast, ManifestRule
from holdfast.contract.agents import RunLimits
from holdfast.contract.events import CallSettled
from holdfast.contract.json_value import JsonValue
from holdfast.contract.model import ChatModel
from holdfast.testing.scripts import ScriptedCall, ScriptedModel, Turn

TESTS = "python3 -m unittest --quiet"
FIXER = Agent(
    id="fixer",
    instructions=f"Make the tests pass: {TESTS}. Run them first, change as little as needed, and"
    " run them again. A test that is wrong is told of, never changed.",
    profile="code",
    rules=(
        ManifestRule(
            permission="fs.write",
            pattern="**/test_*",
            action="deny",
            reason="Tests say what is right.",
        ),
    ),
    limits=RunLimits(rounds=30, seconds=900),
)

PROJECT = {
    "till.py": "def total(prices):\n    return sum(prices) - 1\n",
    "test_till.py": (
        "import unittest\n\nfrom till import total\n\n\nclass TillTest(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([2, 3]), 5)\n"
    ),
}


def calls(name: str, **arguments: JsonValue) -> Turn:
    return Turn(calls=(ScriptedCall(name=name, arguments=arguments),))


SCRIPT = (
    calls("bash", command=TESTS),
    calls("read", path="till.py"),
    calls("edit", path="test_till.py", old_string="5)", new_string="4)"),
    calls("edit", path="till.py", old_string="sum(prices) - 1", new_string="sum(prices)"),
    calls("bash", command=TESTS),
    "total() took one off; it does not any more.",
)


async def ask(question: Ask) -> Answer:
    """A person at the terminal; where nobody is, no."""
    if not sys.stdin.isatty():
        return Answer(allowed=False, by="nobody")
    print(f"\n{question.reason}\n{question.prepared.arguments}")
    said = await anyio.to_thread.run_sync(input, "allow it once? [y/N] ")
    return Answer(allowed=said.strip().lower() == "y", by="terminal")


async def fix(project: Path, model: str | ChatModel) -> bool:
    async with Holdfast(profile="code", workspace=project, approver=ask) as hf:
        session = await hf.new_session(agent=FIXER, model=model)
        async for one in session.run("The tests fail. Make them pass."):
            if isinstance(one, Event) and isinstance(one.payload, CallSettled):
                said = msgspec.json.decode(one.payload.envelope)
                print(f"  {one.payload.tool}: {said.get('message', 'done')}")
        print(session.last and (session.last.response or session.last.problem))
        checked = await hf.settle("bash", {"command": TESTS})
        passed = isinstance(checked.result, dict) and checked.result["exit_code"] == 0
        print(f"the tests {'pass' if passed else 'fail'}; session {session.id}")
        return passed


def main() -> None:
    words = argparse.ArgumentParser(description="Make failing tests pass.")
    words.add_argument("--model", help="kind:model or a configured one; a script without it")
    words.add_argument("--project", type=Path, help="a folder with tests of unittest")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.project is None:
            for name, text in PROJECT.items():
                (Path(folder) / name).write_text(text, "utf-8")
        model = given.model or ScriptedModel(SCRIPT)
        if not anyio.run(fix, given.project or Path(folder), model):
            sys.exit(1)


if __name__ == "__main__":
    main()
