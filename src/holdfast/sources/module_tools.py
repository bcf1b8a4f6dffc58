"""Tools in Python modules: a file is loaded, and what of its globals is a tool is collected.

Loading runs the file, so only files a person named may come here. A problem says what to do, and
not where: whoever named the file knows that.
"""

import sys
import traceback
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from holdfast.contract.tool import Tool, ToolDefinitionError
from holdfast.sources.functions import FunctionTool
from holdfast.sources.intake import to_tool

_FIELDS = (
    ("id", "name"),
    ("description",),
    ("parameters", "input_schema"),
    ("requires",),
    ("execute",),
)
"""What an object has to have, each in its spellings."""
_NEAR = 2
"""With so many of them something was probably meant as a tool: many things have one."""


class ModuleProblem(ValueError):
    """A module cannot be loaded, or holds no tools."""

    def __init__(self, said: str, line: int | None = None) -> None:
        super().__init__(said)
        self.line = line
        """Of the file, where it is known."""


def tools_in_module(module: ModuleType) -> list[object]:
    """Its tools in the order they are defined; raises ModuleProblem.

    Every global whose name has no leading underscore counts, imported ones included.
    """
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    found: list[object] = []
    for name, value in public.items():
        if is_tool(value):
            found += [] if any(value is one for one in found) else [value]
        elif type(value).__module__ == module.__name__ and _fields_of(value) == len(_FIELDS) - 1:
            # Of a class of this file's own: it was meant as a tool, and must not get lost.
            raise ModuleProblem(_almost(name, value))
    if not found:
        meant = _meant_as_tool(public, module.__name__)
        advice = meant or "mark a function with @holdfast.tool"
        raise ModuleProblem(f"there are no tools in it; {advice}")
    return found


def is_tool(value: object) -> bool:
    """Whether it is one, and not merely could be made one."""
    if isinstance(value, (FunctionTool, Tool)):
        return True
    return _fields_of(value) == len(_FIELDS) and callable(getattr(value, "execute", None))


def _fields_of(value: object) -> int:
    """How many of the published fields an object has; what is no plain object has none."""
    return 0 if isinstance(value, (type, ModuleType, FunctionType)) else _fields_on(value)


def _fields_on(value: object) -> int:
    return sum(any(_has(value, name) for name in names) for names in _FIELDS)


def _has(value: object, name: str) -> bool:
    try:
        return hasattr(value, name)
    except Exception:  # noqa: BLE001 - a foreign object may raise anything at all when asked
        return False


def _almost(name: str, value: object) -> str:
    """What an object lacks that was meant as a tool, in the words of who makes tools of objects."""
    try:
        to_tool(value)
    except ToolDefinitionError as problem:
        return f"{name!r} is almost a tool: {problem}; correct that"
    return f"{name!r} is almost a tool; give it every field of one"


def _meant_as_tool(public: dict[str, object], module: str) -> str | None:
    """What to do about the global that comes nearest to a tool; None when none comes near."""
    for name, value in public.items():
        if _fields_of(value) >= _NEAR:
            return _almost(name, value)
    own = {name: value for name, value in public.items() if _module_of(value) == module}
    for name, value in own.items():
        if isinstance(value, type) and _fields_on(value) >= _NEAR:
            return f"{name!r} is a class; add an instance of it: {name.lower()} = {name}()"
    for name, value in own.items():
        if isinstance(value, FunctionType):
            return f"mark the function {name!r} with @holdfast.tool"
    return None


def _module_of(value: object) -> str | None:
    return value.__module__ if isinstance(value, (type, FunctionType)) else None


class FreshSource(SourceFileLoader):
    """Compiles every time: a stale cache would run what the person has just changed."""

    def get_code(self, fullname: str) -> CodeType | None:
        """Compile the file as it is now."""
        source = self.get_filename(fullname)
        return self.source_to_code(self.get_data(source), source)


def load_module(path: Path) -> ModuleType:
    """Load a file as it is now; raises ModuleProblem."""
    name = f"holdfast_tool_file_{sha256(str(path.absolute()).encode()).hexdigest()[:12]}"
    loader = FreshSource(name, str(path))
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ModuleProblem("it cannot be loaded; give the path of a Python file")
    module = module_from_spec(spec)
    # Annotations are looked up in the module by its name; neighbours can be imported, last in line.
    sys.modules[name] = module
    before = list(sys.path)
    sys.path.append(str(path.absolute().parent))
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise explained(path, error) from error
    finally:
        sys.path[:] = before
    return module


def explained(path: Path, error: BaseException) -> ModuleProblem:
    """Why a file could not be loaded, at the line of it that was running."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return ModuleProblem(f"{error.msg}; correct that line", error.lineno or 1)
    line = _line_in(path, error)
    if line is not None:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return ModuleProblem(f"loading it failed with {said}; correct that line", line)
    if isinstance(error, FileNotFoundError):
        return ModuleProblem("there is no such file; check the path")
    if isinstance(error, OSError):
        return ModuleProblem(
            f"it cannot be read ({error.strerror}); give the path of a Python file"
        )
    return ModuleProblem(f"it cannot be loaded ({error}); give the path of a Python file")


def _line_in(path: Path, error: BaseException) -> int | None:
    """The line of the file that was running, however deep the error came from."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return lines[-1] if lines else None
