"""Modules that are run when something of them is first used: their names, and how that is done.

Whoever needs one imports it as every other module, at the top and as a whole, and reaches what it
holds by its name: ``from holdfast.execution.processes import hand``, then ``hand.SessionHand``.
So readers, the type checker and the import law see the import, and only running it is put off.
``from ... import SessionHand`` works, too, and loads it at once. What they hold must not be used
while another module is being loaded: that would be at once as well.

This must know nothing of holdfast but names, and load nothing by itself.
"""

import sys
from collections.abc import Sequence
from importlib import _bootstrap
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.abc import Loader
    from typing import Protocol

    class _Lock(Protocol):
        def acquire(self) -> object: ...
        def release(self) -> object: ...


NAMES = frozenset(
    {
        "holdfast.app.agent_session",
        "holdfast.app.agent_sessions",
        "holdfast.app.answering",
        "holdfast.app.any_session",
        "holdfast.app.bringing",
        "holdfast.app.carrying",
        "holdfast.app.children",
        "holdfast.app.copies",
        "holdfast.app.doubts",
        "holdfast.app.fleet",
        "holdfast.app.inquiring",
        "holdfast.app.language_servers",
        "holdfast.app.managed.basis",
        "holdfast.app.managed.mounts",
        "holdfast.app.managed.session",
        "holdfast.app.manifests",
        "holdfast.app.opened_under",
        "holdfast.app.plugins",
        "holdfast.app.project_folder",
        "holdfast.app.restoring",
        "holdfast.app.server_words",
        "holdfast.app.servers",
        "holdfast.app.session_store",
        "holdfast.app.shown_commands",
        "holdfast.app.telemetry",
        "holdfast.app.tenures",
        "holdfast.app.undo",
        "holdfast.app.vault_places",
        "holdfast.contract.bus",
        "holdfast.contract.carried",
        "holdfast.contract.kept_report",
        "holdfast.contract.outbox",
        "holdfast.contract.vectors",
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
        "holdfast.execution.processes.tenure",
        "holdfast.execution.processes.views",
        "holdfast.execution.search.file_search",
        "holdfast.execution.timed_hook",
        "holdfast.policy.approval",
        "holdfast.policy.command_gate",
        "holdfast.policy.containment",
        "holdfast.policy.denied_places",
        "holdfast.policy.explain",
        "holdfast.policy.hooks.destructive",
        "holdfast.policy.hooks.exfiltration",
        "holdfast.policy.hooks.profile_commands",
        "holdfast.policy.managed_bash",
        "holdfast.policy.offers",
        "holdfast.policy.path_guard",
        "holdfast.policy.plain_command",
        "holdfast.policy.read_only",
        "holdfast.policy.sandbox_look",
        "holdfast.policy.sandbox_policy",
        "holdfast.policy.shell.analysis",
        "holdfast.policy.shell.characters",
        "holdfast.preflight.copying",
        "holdfast.preflight.explain",
        "holdfast.preflight.repair",
        "holdfast.record.audit_lines",
        "holdfast.record.brief_listing",
        "holdfast.record.brief_step",
        "holdfast.record.due_step",
        "holdfast.record.indexing",
        "holdfast.record.learned",
        "holdfast.record.nearness",
        "holdfast.record.postgres.door",
        "holdfast.record.rebuilding",
        "holdfast.record.searching",
        "holdfast.record.streaming",
        "holdfast.record.sqlite.carried",
        "holdfast.record.sqlite.versions",
        "holdfast.runtime.after_edit",
        "holdfast.runtime.applications",
        "holdfast.runtime.child_sessions",
        "holdfast.runtime.guarding",
        "holdfast.runtime.plans",
        "holdfast.runtime.recovery",
        "holdfast.sources.converters",
        "holdfast.sources.lint",
        "holdfast.sources.mcp.reading",
        "holdfast.sources.misfit",
        "holdfast.sources.objects",
        "holdfast.sources.pydantic_schema",
        "holdfast.tools.code",
        "holdfast.tools.code.ignore_rules",
        "holdfast.tools.code.overview_tree",
        "holdfast.tools.content_kinds",
        "holdfast.tools.files.editing",
        "holdfast.tools.files.line_counts",
        "holdfast.tools.files.reading",
        "holdfast.tools.host",
        "holdfast.tools.locked",
        "holdfast.tools.managed",
        "holdfast.tools.patch.applying",
        "holdfast.tools.patch.diff",
        "holdfast.tools.patch.outcome",
        "holdfast.tools.patch.sections",
        "holdfast.tools.patch.writing",
        "holdfast.tools.search.brave",
        "holdfast.tools.search.searxng",
        "holdfast.tools.search.static_index",
    }
)
"""What a call that needs no sandbox, no command and no server can do without."""


# Not public, and there in every Python from 3.3 on: no other lock knows who waits for an import.
_lock_of: "Callable[[str], _Lock]" = vars(_bootstrap)["_get_module_lock"]
_Circle: "type[Exception]" = vars(_bootstrap)["_DeadlockError"]


class Later(ModuleType):
    """A module that has not been run to its end yet."""

    def __getattribute__(self, name: str) -> object:
        # Whoever looks through all modules asks for names with two underscores.
        if not name.startswith("__"):
            own = ModuleType.__getattribute__(self, "__dict__")
            unrun = _unrun.get(own["__name__"])
            # What is there before it is run does not come from it: a package's modules.
            if unrun is not None and (unrun.has_begun or name not in own):
                _run(self, own["__name__"])
        return ModuleType.__getattribute__(self, name)


class _Unrun:
    """How to run a module, and how far that has come."""

    def __init__(self, loader: "Loader") -> None:
        self.loader = loader
        self.has_begun = False
        """And is under way, or has failed: what it holds is not all of it."""
        self.is_running = False


_unrun: dict[str, _Unrun] = {}


def _run(module: Later, name: str) -> None:
    """Run it, once; other threads wait. Where it fails, the next one tries again.

    The lock is the import system's own for this module, so that whoever waits for it is seen by
    whoever waits for an import: of threads that wait for each other in a circle one goes on, with
    what there is, as with imports in a circle.
    """
    lock = _lock_of(name)
    try:
        lock.acquire()
    except _Circle:
        return
    try:
        unrun = _unrun.get(name)
        if unrun is None or unrun.is_running:
            return  # another thread was faster; or it asks for its own names before it has them
        unrun.has_begun = unrun.is_running = True
        try:
            unrun.loader.exec_module(module)
        finally:
            unrun.is_running = False
        ModuleType.__setattr__(module, "__class__", ModuleType)
        del _unrun[name]
    finally:
        lock.release()


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
