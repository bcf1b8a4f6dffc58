"""Judges a path a model wrote, by its text alone: may it name something under the allowed roots?

Two guards. A sandbox path (`guard_path`) is strict, because it may end up in a command line: no two
dots anywhere, none of the characters a shell reads. A host folder path (`guard_folder_path`) may be
any text that stays below the folder. Neither looks at a file: whoever opens the path checks again
where its links lead.
"""

import posixpath
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from holdfast.contract.arguments import require_string
from holdfast.contract.builders import failure
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.late_pattern import late_pattern

SHARED_ROOT = "/workspace/shared"
"""The sandbox folder all agents share."""

Reason: TypeAlias = Literal["empty", "traversal", "nul", "dangerous_char", "outside_roots"]

_DANGEROUS = late_pattern(r"""[;|&$`'"<>(){}\\\x00-\x1f\x7f-\x9f\ud800-\udfff]""")
_LONGEST_SHOWN = 200


class PathRefusal(msgspec.Struct, frozen=True):
    """Why a path is not taken."""

    reason: Reason
    explanation: str
    """The reason in words for a model."""
    path: str

    def message(self, argument: str = "path") -> str:
        """The whole sentence, about the argument that held the path."""
        return f"Argument `{argument}` rejected: {self.explanation}. Got `{_shown(self.path)}`."


def guard_path(path: str, home: str, shared_root: str | None = SHARED_ROOT) -> str | PathRefusal:
    """The absolute sandbox path, or why it is refused.

    The first of these that holds: it is empty; it has two dots; a NUL; a character a shell reads;
    it is absolute and neither under the home nor under the shared root.
    """
    roots = [_root(home)] if shared_root is None else [_root(home), _root(shared_root)]
    if not path:
        return PathRefusal("empty", "the path is empty", path)
    if ".." in path:
        return PathRefusal("traversal", "path traversal (`..`) is not allowed", path)
    if "\0" in path:
        return PathRefusal("nul", "the path contains a NUL byte", path)
    dangerous = _DANGEROUS.search(path)
    if dangerous:
        said = f"the path contains the dangerous character `{_shown(dangerous[0])}`"
        return PathRefusal("dangerous_char", said, path)
    if not path.startswith("/"):
        return _joined(roots[0], path)
    if any(_is_under(_joined("/", path), root) for root in roots):
        return path
    return _outside(path, roots)


def guard_folder_path(path: str, root: str) -> str | PathRefusal:
    """The absolute host path below the folder, or why it is refused."""
    folder = _root(root)
    if not path:
        return PathRefusal("empty", "the path is empty", path)
    if "\0" in path:
        return PathRefusal("nul", "the path contains a NUL byte", path)
    resolved = _joined(folder, path)
    return resolved if _is_under(resolved, folder) else _outside(path, [folder])


def require_path(
    arguments: Mapping[str, object],
    key: str = "path",
    *,
    home: str,
    shared_root: str | None = SHARED_ROOT,
    tool: str | None = None,
) -> str | Envelope:
    """Take a sandbox path that must be there: the absolute path, or a ready failure envelope.

    path = require_path(arguments, home="/workspace/agents/ada", tool="reader")
    if isinstance(path, Envelope):
        return path
    """
    expected = f"a path relative to `{home}`, or an absolute one under it"
    if shared_root is not None:
        expected += f" or under `{shared_root}`"
    written = require_string(arguments, key, expected=expected, tool=tool, allow_empty=True)
    if isinstance(written, Envelope):
        return written
    guarded = guard_path(written, home, shared_root)
    if isinstance(guarded, str):
        return guarded
    message = guarded.message(key)
    return failure(FailureKind.INVALID_ARGS, message, field=key, expected=expected, tool=tool)


def _root(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"a root is an absolute path, not {path!r}")
    return _joined("/", path)


def _joined(root: str, path: str) -> str:
    resolved = posixpath.normpath(posixpath.join(root, path))
    return "/" + resolved.lstrip("/")  # two leading slashes are kept by normpath


def _is_under(path: str, root: str) -> bool:
    """Whether it is the root or below it; a sibling whose name begins the same is neither."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def _outside(path: str, roots: list[str]) -> PathRefusal:
    named = " and ".join(f"`{root}`" for root in roots)
    return PathRefusal("outside_roots", f"the path is outside the allowed roots {named}", path)


def _shown(path: str) -> str:
    """What a model can read back: without control characters, and not longer than useful."""
    shown = path if len(path) <= _LONGEST_SHOWN else path[:_LONGEST_SHOWN] + "…"
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in shown
    )
