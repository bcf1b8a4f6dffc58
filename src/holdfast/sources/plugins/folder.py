"""A plugin's folder as a package of its own: what lies in it is imported from it and nowhere else.

Two folders may have files of the same names, so these are never known by them: `import texts` in
a plugin means the `texts.py` beside it, also when a body imports it later. What belongs to Python
comes first. What tools are is not known here.
"""

import builtins
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from holdfast.sources.module_tools import FreshSource, explained

_OURS = "holdfast"
_PREFIX = "holdfast_plugin_"


def load_folder(file: Path) -> ModuleType:
    """Load a file with its neighbours as they are now; raises ModuleProblem."""
    folder = file.absolute().parent
    package = f"{_PREFIX}{sha256(str(folder).encode()).hexdigest()[:12]}"
    _forget(package)
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    importlib.invalidate_caches()  # a file may have been made a moment ago
    whole = ModuleType(package)
    whole.__path__ = [str(folder)]
    sys.modules[package] = whole
    try:
        return importlib.import_module(f"{package}.{file.stem}")
    except (Exception, SystemExit) as error:
        _forget(package)
        raise explained(folder / file.name, error) from error


def _forget(package: str) -> None:
    for name in [one for one in sys.modules if one == package or one.startswith(f"{package}.")]:
        del sys.modules[name]


class _Finder:
    """Finds modules of plugins' folders, and of these alone."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As imports ask for it."""
        package, _, rest = fullname.partition(".")
        if not rest or not package.startswith(_PREFIX):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Neighbour(fullname, spec.loader.path)
        return spec


class _Neighbour(FreshSource):
    """Loads a module that sees the files of its plugin's folder."""

    def exec_module(self, module: ModuleType) -> None:
        """Run it with imports of its own."""
        package = module.__name__.partition(".")[0]
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _imports_of(package)}
        super().exec_module(module)


def _imports_of(package: str) -> Callable[..., ModuleType]:
    known: dict[str, bool] = {}

    def own_import(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        if not level and top not in known:
            known[top] = _is_neighbour(package, top)
        if level or not known[top]:
            return __import__(name, globals, locals, fromlist or (), level)
        found = __import__(f"{package}.{name}", globals, locals, fromlist or (), 0)
        return found if fromlist else sys.modules[f"{package}.{top}"]

    return own_import


def _is_neighbour(package: str, top: str) -> bool:
    """Whether the folder has it. What belongs to Python or to us it has not."""
    if top in sys.stdlib_module_names or top == _OURS:
        return False
    spec = PathFinder.find_spec(f"{package}.{top}", sys.modules[package].__path__)
    # A folder without a file of Python's for packages may hold anything.
    return spec is not None and (spec.origin is not None or PathFinder.find_spec(top) is None)
