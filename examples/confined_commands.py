"""Commands and files of a tool: confined by the kernel, bounded, and taken back if you like.

python examples/confined_commands.py
"""

import tempfile

import anyio

from holdfast import Holdfast, Runtime, tool
from holdfast.contract.shell import CommandLimits, denial_of

COMMANDS = (
    "printf 'one\\ntwo\\n' >notes.txt; wc -l <notes.txt",
    "true | cat",
    "cat /etc/shadow",
)
WORKSPACE = {"read": ["**"], "write": ["**"]}


@tool(requires={"fs": WORKSPACE, "shell": [{"cmd": "*"}]})
async def run(rt: Runtime, command: str) -> dict[str, object]:
    """Run a shell command in the workspace, e.g. command='wc -l *.txt'."""
    report = await rt.shell.run(command, limits=CommandLimits(wall=60, idle=10))
    refused = denial_of(report)
    if refused is not None:
        raise refused
    return {
        "exit_code": report.exit_code,
        "stdout": report.stdout.text(),
        "stderr": report.stderr.text(),
        "warnings": list(report.warnings),
    }


@tool(requires={"fs": WORKSPACE})
def shout(rt: Runtime, path: str) -> str:
    """Put a text file into capitals, e.g. path='notes.txt'."""
    rt.fs.edit(path, str.upper)
    return rt.fs.read_text(path).text


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Holdfast(tools=[run, shout], workspace=folder) as hf:
            for command in COMMANDS:
                envelope = await hf.settle("run", {"command": command})
                print(envelope.result if envelope.ok else envelope.failure)
            print((await hf.settle("shout", {"path": "notes.txt"})).result)


if __name__ == "__main__":
    anyio.run(main)
