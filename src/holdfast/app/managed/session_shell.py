"""The shell of one managed session in its parts: who knows it, who keeps it, who reads it."""

from collections.abc import Callable

from holdfast.app.surroundings import looks_secret
from holdfast.contract.shell import LiveCommands
from holdfast.execution.path_facts import DiskPaths
from holdfast.runtime.managed.artifact_folder import ArtifactFolder
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.shell_book import Places, ShellBook
from holdfast.runtime.managed.shell_keeper import ShellKeeper
from holdfast.runtime.managed.shell_reader import ShellReader


class SessionShell:
    """Put together once a session is opened; nothing is read or started before it is asked for."""

    def __init__(
        self,
        ground: Ground,
        workspace: str | None,
        commands: Callable[[], LiveCommands],
        whole: Callable[[str, str], str | None],
        folder: ArtifactFolder | None = None,
    ) -> None:
        """``whole``: keeps a text under a name, and says where; ``folder``: where the shell is
        shown, None: nowhere."""
        self.book = ShellBook(ground, Places(workspace, (), DiskPaths()), looks_secret, folder)
        self.keeper = ShellKeeper(self.book, whole)
        self.reader = ShellReader(self.book, commands)
