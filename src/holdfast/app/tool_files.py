"""Python files that hold tools, named by the operator: loaded, and their tools collected.

Loading runs the file, so only files a person named may come here. What a tool is made of is not
known here; the sources decide that.
"""

import sys
import traceback
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType

from holdfast.app.problems import ToolFileError
from holdfast.contract.tool import Tool
from holdfast.sources.functions import FunctionTool

__all__ = ["ToolFileError", "tools_in"]

_FIELDS = (("id", "name"), ("description",), ("parameters", "input_schema"))


def tools_in(path: Path) -> list[object]:
    """Load the file and collect its tools in the order they are defined.

    Every global whose name has no leading underscore counts, imported ones included.
    """
    module = _load(path)
    found: list[object] = []
    for name, value in vars(module).items():
        known = any(value is one for one in found)
        if not name.startswith("_") and not known and _is_tool(value):
            found.append(value)
    if not found:
        raise ToolFileError(
            f"{path}: there are no tools in it; mark a function with @holdfast.tool"
        )
    return found


def _is_tool(value: object) -> bool:
    if isinstance(value, (FunctionTool, Tool)):
        return True
    if isinstance(value, (type, ModuleType)) or not hasattr(value, "requires"):
        return False
    described = all(any(hasattr(value, name) for name in names) for names in _FIELDS)
    return described and callable(getattr(value, "execute", None))


class _FreshSource(SourceFileLoader):
    """Compiles every time: a stale cache would run what the person has just changed."""

    def get_code(self, fullname: str) -> CodeType | None:
        """Compile the file as it is now."""
        source = self.get_filename(fullname)
        return self.source_to_code(self.get_data(source), source)


def _load(path: Path) -> ModuleType:
    name = f"holdfast_tool_file_{sha256(str(path.absolute()).encode()).hexdigest()[:12]}"
    loader = _FreshSource(name, str(path))
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ToolFileError(f"{path}: it cannot be loaded; give the path of a Python file")
    module = module_from_spec(spec)
    # Annotations are looked up in the module by its name; neighbours can be imported, last in line.
    sys.modules[name] = module
    before = list(sys.path)
    sys.path.append(str(path.absolute().parent))
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise ToolFileError(_explained(path, error)) from error
    finally:
        sys.path[:] = before
    return module


def _explained(path: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}:{error.lineno or 1}: {error.msg}; correct that line"
    line = _line_in(path, error)
    if line is not None:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return f"{path}:{line}: loading it failed with {said}; correct that line"
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file; check the path"
    if isinstance(error, OSError):
        return f"{path}: it cannot be read ({error.strerror}); give the path of a Python file"
    return f"{path}: it cannot be loaded ({error}); give the path of a Python file"


def _line_in(path: Path, error: BaseException) -> int | None:
    """The line of the file that was running, however deep the error came from."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return lines[-1] if lines else None
