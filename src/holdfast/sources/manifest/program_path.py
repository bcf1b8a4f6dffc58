"""Which file the program of an entry is, by its text alone. Nothing is looked up on the disk.

An absolute path is taken as it is written. A relative one has to be written below ./tools/bin/ and
to stay there; it is meant from the manifest's folder.
"""

from holdfast.sources.manifest.quoting import quoted

TOOLS_FOLDER = "tools"
_BIN = "./tools/bin/"
_BIN_SEGMENTS = ["tools", "bin"]
_SEPARATOR = "/"

OUTSIDE = f"relative command[0] must start with {_BIN}"


class PathFault(ValueError):
    """Why a program's path is refused."""


def program_path(written: str, folder: str) -> str:
    """The absolute path of a program; PathFault says what is wrong with it."""
    if written.startswith(_SEPARATOR):
        return written
    slashed = written.replace("\\", _SEPARATOR)
    cleaned = clean(slashed)
    if cleaned == ".." or cleaned.startswith("../"):
        raise PathFault(
            f"command[0] must not start with '..' or escape tools/bin (got {quoted(written)})"
        )
    if not _written_below_bin(slashed):
        raise PathFault(OUTSIDE)
    shown = f"./{cleaned}" if cleaned.split(_SEPARATOR)[0] == TOOLS_FOLDER else cleaned
    if not shown.startswith(_BIN):
        raise PathFault(
            "command[0] escapes ./tools/bin after normalization"
            f" (got {quoted(written)} -> {quoted(shown)})"
        )
    return clean(f"{folder}/{cleaned}")


def clean(path: str) -> str:
    """The shortest path of the same meaning: no empty segments, no ``.``, no ``..`` inside.

    The empty path is ``.``; a leading ``..`` stays, but not behind the root.
    """
    rooted = path.startswith(_SEPARATOR)
    kept: list[str] = []
    for segment in path.split(_SEPARATOR):
        if segment in ("", "."):
            continue
        if segment != "..":
            kept.append(segment)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not rooted:
            kept.append(segment)
    text = _SEPARATOR.join(kept)
    return f"{_SEPARATOR}{text}" if rooted else text or "."


def _written_below_bin(slashed: str) -> bool:
    """Whether it begins with ./tools/bin, doubled separators and single dots aside."""
    named = [segment for segment in slashed.split(_SEPARATOR) if segment not in ("", ".")]
    return slashed.startswith("./") and named[:2] == _BIN_SEGMENTS
