"""Tools that the tests of the server call."""

TOOLS = '''
from pathlib import Path

import anyio

from holdfast import Image, Limits, OutputBound, Progress, Runtime, tool
from holdfast.contract.artifacts import Artifacts
from holdfast.contract.person import Choice, Person, PersonQuestion


@tool
def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers."""
    print("this belongs to nobody")
    return {"sum": a + b}


@tool(read_only=False, permission_policy="always_ask")
def chosen(number: float, also: object = None) -> str:
    """Ask for leave with a number."""
    return f"{number}"


@tool
def crash() -> None:
    """Fail."""
    raise RuntimeError("boom")


@tool(read_only=False, destructive=True, permission_policy="always_ask")
def wipe(path: str) -> str:
    """Remove a thing."""
    return f"wiped {path}"


@tool
async def count(rt: Runtime, to: int) -> int:
    """Count, with signs of life."""
    for number in range(to):
        rt.progress(Progress(done=number, total=to, message=f"at {number}"))
        await anyio.sleep(0)
    return to


@tool
def count_in_a_thread(rt: Runtime, to: int) -> int:
    """Count, with signs of life from another thread."""
    for number in range(to):
        rt.progress(Progress(message=f"at {number}"))
    return to


@tool(limits=Limits(wall_seconds=None), interrupt_behavior="cancel")
async def hang(marks: str) -> None:
    """Wait until it is stopped, and leave marks."""
    Path(marks, "began").touch()
    try:
        await anyio.sleep_forever()
    finally:
        Path(marks, "ended").touch()


@tool(limits=Limits(wall_seconds=None), interrupt_behavior="cancel")
async def shout(rt: Runtime, marks: str, size: int = 10_000) -> None:
    """Give signs of life until it is stopped, and leave a mark."""
    try:
        while True:
            rt.progress(Progress(message="x" * size))
            await anyio.sleep(0)
    finally:
        Path(marks, "ended").touch()


@tool
async def ask(person: Person, several: bool = False) -> list[str]:
    """Ask a person."""
    options = (Choice("red", "like a rose"), Choice("blue"))
    asked = PersonQuestion("Which colour?", "colour", options, several)
    said = await person.ask([asked])
    return ["nothing"] if said.skipped else list(said.answers[0])


@tool
def leave(artifacts: Artifacts, name: str, text: str) -> str:
    """Leave an artifact."""
    return artifacts.write(name, text.encode()).name


@tool
def picture(size: int = 8) -> Image:
    """A picture, or what says that it is one."""
    return Image(b"P" * size, "image/png")


@tool(output_schema={"type": "object", "required": ["parts"]})
def parted() -> dict[str, object]:
    """Several parts, as the protocol writes them."""
    return {"parts": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}


@tool(limits=Limits(output=OutputBound(max_bytes=200)))
def flood() -> str:
    """More than is shown."""
    return "water " * 1000
'''

STUBBORN = '''
import asyncio
from pathlib import Path
from holdfast import Limits, tool

@tool(limits=Limits(wall_seconds=None))
async def stay(marks: str, times: int) -> None:
    """Stay, however often it is cancelled."""
    Path(marks, "began").touch()
    for number in range(times):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            Path(marks, f"cancelled-{number}").touch()
    Path(marks, "left").touch()
'''
"""A tool that is cancelled as often as it is told before it leaves."""
