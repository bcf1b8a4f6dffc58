"""What the agents of these rounds do: the same for a seed, whoever asks and however often.

A reply follows from the conversation alone, so an agent that is taken up goes on where it was. Each
call has a key that no other has, and its effect is a line with that key.
"""

import json
import random
from pathlib import Path
from typing import NamedTuple

import msgspec

from holdfast.agent.models.replaying import tell
from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    Chunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.model import Heard, ModelReply, ModelRequest, ModelUsage

CHILD = "child "
NOTED = "Noted."
SLEEPER = "sleep 300.0{0}"
"""What goes on in the background, told apart from everything else that runs on this machine."""
_DIRECTIVE = (
    '<holdfast-session-loop>{"outcome": "sleep", "queued_wakes":'
    ' [{"reason": "look again", "delay_seconds": 1}]}</holdfast-session-loop>'
)


class Plan(NamedTuple):
    """The script of one seed."""

    seed: int
    marker: str

    def replies(self) -> list[ModelReply]:
        """Of the agent that a person speaks with; a text among them ends a run, not the work."""
        dice = random.Random(self.seed)
        steps = [*_STEPS] if dice.random() < 0.3 else [*_ALWAYS, *dice.sample(_SOMETIMES, 6)]
        dice.shuffle(steps)
        if dice.random() < 0.7:
            steps.insert(0, "job")  # it goes on, whatever else is under way
        made = [self._reply(number, step, dice) for number, step in enumerate(steps)]
        return [*made, ModelReply(text="All done.")]

    def background(self) -> frozenset[str]:
        """The keys of what subagents do while the agent goes on."""
        asked = (json.loads(call.arguments) for reply in self.replies() for call in reply.calls)
        return frozenset(
            one["prompt"].removeprefix(CHILD)
            for one in asked
            if one.get("background") and "prompt" in one
        )

    def _reply(self, number: int, step: str, dice: random.Random) -> ModelReply:
        if step == "wake":
            return ModelReply(text=f"More later. {_DIRECTIVE}")
        names = _CALLS.get(step) or dice.choices(["mark", "slow", "thread", "look"], k=3)
        made = [self._call(f"{self.seed}.{number}.{at}", name) for at, name in enumerate(names)]
        return asking(made)

    def _call(self, key: str, name: str) -> tuple[str, dict[str, object]]:
        match name:
            case "question":
                return name, {"questions": [{"question": f"Which, {key}?"}]}
            case "task" | "background":
                prompt = f"{CHILD}{key}"
                work: dict[str, object] = {"subagent_type": "worker", "prompt": prompt}
                return "task", {**work, **({"background": True} if name == "background" else {})}
            case "bash":
                sleeper = SLEEPER.format(self.marker)
                return name, {"command": f"echo {key} >> effects; {sleeper} & echo started"}
            case "sandbox_exec":
                return name, {"command": SLEEPER.format(self.marker), "background": True}
            case _:
                return name, {"key": key}


_CALLS: dict[str, list[str]] = {
    "ask": ["ask"],
    "asks": ["mark", "ask", "ask"],
    "custom": ["order", "mark"],
    "question": ["question"],
    "task": ["task", "look"],
    "background": ["background", "mark"],
    "job": ["sandbox_exec", "mark"],
    "shell": ["bash"],
    "overlap": ["look", "look", "slow", "look", "look"],
    "broken": ["mark", "nobody"],
}
_ALWAYS = ["task", "background"]
_STEPS = [*_CALLS, "any", "wake"]
_SOMETIMES = [one for one in _STEPS if one not in _ALWAYS]


def asking(calls: list[tuple[str, dict[str, object]]]) -> ModelReply:
    made = [AskedCall(f"c{at}", name, json.dumps(one)) for at, (name, one) in enumerate(calls)]
    return ModelReply(calls=tuple(made), finish="tool_calls")


def child_replies(key: str) -> list[ModelReply]:
    """Of a subagent: effects that take a while, and for some one that a person is asked about."""
    first = [asking([("slow", {"key": f"{key}.c{at}"})]) for at in range(2)]
    second = [asking([("ask", {"key": f"{key}.a"})])] if int(key.split(".")[1]) % 2 else []
    return [*first, *second, ModelReply(text=f"Did {key}.")]


def key_of(tool: str, arguments: str) -> str | None:
    """The key of a call that has an effect."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return None
    if tool == "bash":
        return str(given["command"]).split()[1]
    return given.get("key") if tool in {"mark", "slow", "thread", "look", "ask"} else None


class PlannedModel:
    """Replies as the plan says, and writes down what is wrong with what it is told."""

    name, provider = "planned", "scripted"
    window, max_output_tokens = 128_000, 8_192

    def __init__(self, plan: Plan, problems: Path) -> None:
        self._plan = plan
        self._problems = problems

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        if (problem := malformed(request.rows)) is not None:
            with self._problems.open("a", encoding="utf-8") as file:
                file.write(f"{problem}: {request.rows}\n")
        first = next((row.content for row in request.rows if isinstance(row, UserChunk)), "")
        child = first.startswith(CHILD)
        replies = child_replies(first.removeprefix(CHILD)) if child else self._plan.replies()
        number = sum(isinstance(row, AssistantChunk) for row in request.rows)
        reply = replies[number] if number < len(replies) else ModelReply(text=NOTED)
        tell(reply, heard)
        return msgspec.structs.replace(reply, usage=ModelUsage(output_tokens=1))

    async def close(self) -> None:
        """Nothing is held."""


def malformed(rows: tuple[Chunk, ...]) -> str | None:
    """What no provider would take: a call without its one answer, right behind it, in order."""
    wanted: list[str] = []
    for row in rows:
        if isinstance(row, ToolResultChunk):
            if not wanted or wanted.pop(0) != row.tool_call_id:
                return f"an answer for {row.tool_call_id} stands where none belongs"
        elif wanted:
            return f"calls {wanted} have no answer"
        elif isinstance(row, AssistantChunk):
            wanted = [call.id for call in row.tool_calls or ()]
    return f"calls {wanted} have no answer" if wanted else None
