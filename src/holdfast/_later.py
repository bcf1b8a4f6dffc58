"""Modules that are run when something of them is first used: their names, and how that is done.

Whoever needs one imports it as every other module, at the top and as a whole, and reaches what it
holds by its name: ``from holdfast.execution.processes import hand``, then ``hand.SessionHand``.
So readers, the type checker and the import law see the import, and only running it is put off.
``from ... import SessionHand`` works, too, and loads it at once. What they hold must not be used
while another module is being loaded: that would be at once as well.

This must know nothing of holdfast but names, and load nothing by itself.
"""

import sys
from _thread import RLock  # threading itself costs more than all of this
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

NAMES = frozenset(
    {
        "holdfast.app.manifests",
        "holdfast.app.plugins",
        "holdfast.app.server_words",
        "holdfast.app.servers",
        "holdfast.execution.artifacts",
        "holdfast.execution.extraction.parsers",
        "holdfast.execution.files.changes",
        "holdfast.execution.files.undo",
        "holdfast.execution.hook_program",
        "holdfast.execution.language_servers.call_servers",
        "holdfast.execution.language_servers.known",
        "holdfast.execution.language_servers.server",
        "holdfast.execution.language_servers.session_servers",
        "holdfast.execution.processes.aftermath",
        "holdfast.execution.processes.call_programs",
        "holdfast.execution.processes.call_shell",
        "holdfast.execution.processes.hand",
        "holdfast.execution.processes.views",
        "holdfast.execution.search.file_search",
        "holdfast.policy.shell.analysis",
        "holdfast.record.postgres.door",
        "holdfast.sources.mcp.reading",
        "holdfast.tools.code",
        "holdfast.tools.host",
        "holdfast.tools.locked",
        "holdfast.tools.search.brave",
        "holdfast.tools.search.searxng",
        "holdfast.tools.search.static_index",
    }
)
"""What a call that needs no sandbox, no command and no server can do without."""


class Later(ModuleType):
    """A module that has not been run yet."""

    def __getattr__(self, name: str) -> object:
        # Asked for what is not there. Whoever looks through all modules asks for such names.
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        _run(self)
        return ModuleType.__getattribute__(self, name)


class _Unrun:
    """How to run a module, and who does."""

    def __init__(self, loader: "Loader") -> None:
        self.loader = loader
        self.lock = RLock()
        self.is_run = False


_unrun: dict[str, _Unrun] = {}


def _run(module: Later) -> None:
    """Run it, once; other threads wait. Where it fails, the next one tries again."""
    waiting = _unrun.get(module.__name__)
    if waiting is None:
        return  # another thread was faster
    with waiting.lock:
        if waiting.is_run:
            return  # or it asks for its own names before it has them
        waiting.is_run = True
        try:
            waiting.loader.exec_module(module)
        except BaseException:
            waiting.is_run = False
            raise
        ModuleType.__setattr__(module, "__class__", ModuleType)
        _unrun.pop(module.__name__, None)


class _LaterLoader:
    """Makes the module, and leaves running it to its first use."""

    def __init__(self, loader: "Loader") -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Later(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        # From here on it looks like any other: whoever asks for its source or files finds them.
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        _unrun[module.__name__] = _Unrun(self._loader)


class _LaterFinder:
    """Finds the modules named above as everybody would, and has them run later."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the import system asks; None: not ours."""
        if name not in NAMES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Loader", _LaterLoader(spec.loader))
        return spec


def install() -> None:
    """Have those modules run at their first use, from here on."""
    if _LaterFinder not in sys.meta_path:
        sys.meta_path.insert(0, _LaterFinder)
