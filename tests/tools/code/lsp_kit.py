"""What tests of `lsp` share: a session with a server that misbehaves as it is told."""

import shutil
import sys
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
from tool_kit import opened, result

from holdfast.app.holdfast import Holdfast
from holdfast.app.settings import LanguageServerSettings, Settings, StoreSettings

FAKE = Path(__file__).with_name("fake_server.py")


def with_server(
    workspace: Path,
    mode: str,
    *command: str,
    targets: Iterable[Path] = (),
    tools: Iterable[object] = (),
) -> AbstractAsyncContextManager[Holdfast]:
    shutil.copy(FAKE, workspace / "server.py")
    (workspace / "a.odd").write_text("a😀b😀c\n", encoding="utf-8")
    program = command or (
        sys.executable,
        str(workspace / "server.py"),
        mode,
        *(target.as_uri() for target in targets),
    )
    odd = LanguageServerSettings(command=program, extensions=(".odd",))
    settings = Settings(store=StoreSettings(kind="none"), lsp={"odd": odd})
    return opened(workspace, "code", tools=tools, settings=settings)


async def hover(hf: Holdfast, column: int = 1, path: str = "a.odd") -> str:
    return (await result(hf, "lsp", action="hover", path=path, line=1, column=column))["text"]


async def noted(hf: Holdfast, text: str) -> None:
    """The server has said so where nobody takes it for an answer."""
    with anyio.fail_after(15):
        while not any(text in one.stderr_tail for one in hf.commands.all()):  # noqa: ASYNC110 - a process
            await anyio.sleep(0.01)
