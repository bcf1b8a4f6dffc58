"""Tools that say what they need: a call that wants more is refused before the body runs.

`requires` is what a tool may touch at most, `uses` says which argument names it.

Run it:             python examples/guarded_tools.py
Or from a shell:    holdfast call shell "command=git status" --from examples/guarded_tools.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from holdfast import Holdfast, Inspection, Opinion, Rule, Runtime, tool


@tool(read_only=False, requires={"fs": {"write": ["notes/**"]}}, uses={"path": "fs.write"})
def save(runtime: Runtime, path: str, text: str) -> dict[str, object]:
    """Write a note, e.g. path='notes/today.md' text='buy milk'."""
    # A relative path begins at the workspace: that is how it was judged.
    target = Path(runtime.session.workspace or ".") / path
    target.parent.mkdir(parents=True, exist_ok=True)
    return {"path": path, "characters": target.write_text(text, "utf-8")}


@tool(requires={"net": {"hosts": ["*.example.com"]}}, uses={"url": "net.fetch"})
def fetch(url: str) -> dict[str, object]:
    """Say which page would be fetched, e.g. url='https://api.example.com/towns'."""
    return {"would_fetch": url}


@tool(
    read_only=False,
    requires={"shell": [{"cmd": "git"}, {"cmd": "ls", "args": [{"prefix": "-"}]}]},
    uses={"command": "shell.run"},
)
def shell(command: str) -> dict[str, object]:
    """Say which command would be run, e.g. command='git status'."""
    return {"would_run": command}


NO_PUSH = Rule(
    permission="shell",
    pattern="git push *",
    action="deny",
    scope="project",
    source="guarded_tools.py",
    reason="Publishing is for people.",
)


def no_drafts(inspection: Inspection, /) -> Opinion:
    """A hook of the watchdog: it sees every call that capabilities and rules let pass."""
    if "draft" in str(inspection.arguments.get("path", "")):
        return Opinion("deny", "Drafts are written by hand.")
    return Opinion()


async def main() -> None:
    with TemporaryDirectory() as folder:
        async with Holdfast(
            tools=[save, fetch, shell], workspace=folder, rules=[NO_PUSH], hooks=[no_drafts]
        ) as hf:
            for name, arguments in (
                ("save", {"path": "notes/today.md", "text": "buy milk"}),
                ("save", {"path": "src/main.py", "text": "print()"}),
                ("save", {"path": "notes/draft.md", "text": "..."}),
                ("fetch", {"url": "https://api.example.com/towns"}),
                ("fetch", {"url": "https://example.com.evil.net/"}),
                ("shell", {"command": "git status && ls -l"}),
                ("shell", {"command": "git status && git push --force"}),
            ):
                envelope = await hf.settle(name, arguments)
                failure = envelope.failure
                print(envelope.result if failure is None else f"{failure.kind}: {failure.message}")


if __name__ == "__main__":
    anyio.run(main)
