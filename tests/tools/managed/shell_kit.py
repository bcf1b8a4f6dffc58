"""What tests of the shell and the sandbox tools share: a session whose person says yes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tool_kit import opened

from holdfast import Holdfast
from holdfast.app.managed.session import ManagedSession
from holdfast.app.settings import Settings
from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.runtime.managed.artifact_folder import ArtifactFolder


class Yes:
    """Says yes to everything, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    async def __call__(self, ask: Ask, /) -> Answer | None:
        self.asked.append(ask)
        return Answer(allowed=True, by="a person")


@asynccontextmanager
async def managed(
    workspace: Path, person: Yes | None = None, **options: Any
) -> AsyncGenerator[Holdfast]:
    """A session of the managed profile whose shell is shown in a folder."""
    given: dict[str, Any] = {"settings": Settings(), "approver": person or Yes(), **options}
    async with opened(workspace, "managed", **given) as hf:
        folder = ArtifactFolder(workspace, (".shown",), lambda text: text)
        session_of(hf).shells.book.folder = folder
        yield hf


def session_of(hf: Holdfast) -> ManagedSession:
    found = hf.parts.own.managed
    assert found is not None
    return found
