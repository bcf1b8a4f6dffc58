"""TOML read with care: a file that may be anything, one value, one dotted key.

Every failure is a ConfigurationError that names the file and the line. It knows no settings.
"""

import os
import stat
import tomllib
from pathlib import Path
from typing import cast

from holdfast.app.keys import Table
from holdfast.app.problems import ConfigurationError
from holdfast.contract.late_pattern import late_pattern

MAX_FILE_BYTES = 1024 * 1024

_PLACE = late_pattern(r" \(at line (\d+), column \d+\)$")
_AT_END = " (at end of document)"


def parse_toml(text: str, named: Path) -> Table:
    """The table in a text; messages name the file it is from."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigurationError(f"{named}: it nests too deeply; make it flatter") from None
    except ValueError as problem:
        said, line = _line_of(str(problem), text)
        raise ConfigurationError(
            f"{named}:{line}: not valid TOML: {said}; correct that line"
        ) from None


def read_text(path: Path, copy_of: Path | None = None) -> str | None:
    """What a small text file holds, whoever wrote it; None when there is no file."""
    named = copy_of or path
    try:
        content = _content(path, named)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ConfigurationError(
            f"{named}: it cannot be read ({reason}); correct its permissions or remove it"
        ) from None
    return decode_text(content, named)


def decode_text(content: bytes, named: Path) -> str:
    """The text in a file's content; a mistake names file and line."""
    try:
        # Some editors begin a file with a mark that nobody sees.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise ConfigurationError(f"{named}:{line}: not UTF-8 text; save it as UTF-8") from None


def _content(path: Path, named: Path) -> bytes:
    # Not blocking: in a stranger's project the file may be a pipe that nobody writes to.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigurationError(f"{named}: it is not an ordinary file; replace it by one")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    finally:
        os.close(handle)
    if len(content) > MAX_FILE_BYTES:
        raise ConfigurationError(f"{named}: it is larger than {MAX_FILE_BYTES:,} bytes; shorten it")
    return content


def _line_of(said: str, text: str) -> tuple[str, int]:
    place = _PLACE.search(said)
    if place is not None:
        return said[: place.start()], int(place.group(1))
    return said.removesuffix(_AT_END), text.rstrip("\n").count("\n") + 1


def value_in(text: str) -> object:
    """One value written as TOML; text that is none stands for itself."""
    try:
        table = tomllib.loads(f"value = {text}\n")
    except (ValueError, RecursionError):
        return text
    return table["value"] if table.keys() == {"value"} else text


def path_in(key: str) -> tuple[str, ...] | None:
    """The parts of a dotted key, quoted parts included; None when it is not one."""
    try:
        here: object = tomllib.loads(f"{key} = 0\n")
    except (ValueError, RecursionError):
        return None
    parts: list[str] = []
    while isinstance(here, dict):
        table = cast("Table", here)
        if len(table) != 1:
            return None
        name, here = next(iter(table.items()))
        parts.append(name)
    return tuple(parts) if here == 0 else None


def nested(path: tuple[str, ...], value: object) -> Table:
    """A table that holds one value at a path."""
    for name in reversed(path):
        value = {name: value}
    return cast("Table", value)
