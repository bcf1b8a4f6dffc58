"""What to say of a path that is not there: which one like it is, as far as may be seen."""

import posixpath
from collections.abc import Generator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice

from holdfast.contract.errors import FileNotFound, ToolError
from holdfast.contract.files import Files

_MOST_COMPARED = 1_000
_ALIKE = 0.7


@contextmanager
def hinting(files: Files, path: str) -> Generator[None]:
    """A file that is not found is told with the one that may be meant."""
    try:
        yield
    except FileNotFound as problem:
        near = nearest(files, path)
        hint = f"Did you mean {near}?" if near else "Look for it with glob."
        raise FileNotFound(f"{problem} {hint}") from None


def nearest(files: Files, path: str) -> str | None:
    """The entry beside it whose name is most like it; None: there is none, or it is not seen."""
    folder, _, name = path.rstrip("/").rpartition("/")
    try:
        beside = files.list(folder or ("/" if path.startswith("/") else "."))
    except ToolError:
        return None
    names = [one.name for one in islice(beside, _MOST_COMPARED)]
    folded = {one.lower(): one for one in reversed(names)}
    found = get_close_matches(name.lower(), folded, n=1, cutoff=_ALIKE)
    return posixpath.join(folder, folded[found[0]]) if found else None
