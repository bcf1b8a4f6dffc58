"""When two calls are the same call, and two paths the same path. Texts alone: no disk is asked."""

import hashlib
import posixpath
from collections.abc import Mapping
from typing import TypeAlias, cast

import msgspec

from holdfast.agent.roles import PATH_ARGUMENTS, READ_LIKE, Role
from holdfast.contract.json_value import JsonObject, JsonValue, clean_text, decode_json, encode_json
from holdfast.contract.paths import is_within

Arguments: TypeAlias = Mapping[str, object] | str
"""As a tool takes them, or as a model wrote them."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A call as a loop compares it."""

    name: str
    role: Role
    key: bytes
    """Equal for calls of the same name and arguments, in whatever order these stand."""
    path: str | None
    """The one path it names, in canonical form."""


def asked(name: str, arguments: Arguments, role: Role) -> Asked:
    """Look at a call. Of a call that reads, paths are compared in canonical form."""
    given = read_arguments(arguments)
    if given is None:
        written = str(arguments).encode("utf-8", "surrogatepass")
        return Asked(name=name, role=role, key=_key(name, written, 0), path=None)
    field, path = _path_in(given)
    if field is not None and path is not None and role in READ_LIKE:
        given = {**given, field: path}
    return Asked(name=name, role=role, key=_key(name, encode_json(given), 1), path=path)


def read_arguments(arguments: Arguments) -> JsonObject | None:
    """The arguments as an object; None: a model wrote something else."""
    if not isinstance(arguments, str):
        return cast("JsonObject", dict(arguments))
    try:
        read: JsonValue = decode_json(clean_text(arguments))
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def _key(name: str, written: bytes, form: int) -> bytes:
    whole = b"%d\0%b\0%b" % (form, name.encode("utf-8", "surrogatepass"), written)
    return hashlib.blake2b(whole, digest_size=16).digest()


def _path_in(given: JsonObject) -> tuple[str | None, str | None]:
    for field in PATH_ARGUMENTS:
        path = given.get(field)
        if isinstance(path, str):
            return field, canonical_path(path)
    return None, None


def canonical_path(path: str) -> str:
    """Blanks around it trimmed, `.` and `..` and double slashes collapsed, no slash at its end."""
    while (collapsed := _collapsed(path.strip())) != path:
        path = collapsed
    return path


def _collapsed(path: str) -> str:
    collapsed = posixpath.normpath(path)
    return collapsed[1:] if collapsed.startswith("//") else collapsed


def may_be_same(one: str, other: str) -> bool:
    """Whether two canonical paths may name one file. Where the workspace lies is not known here, so
    an absolute path may be that of any relative one it ends with."""
    if one.startswith("/") == other.startswith("/"):
        return one == other
    absolute, relative = (one, other) if one.startswith("/") else (other, one)
    return relative.startswith("..") or relative == "." or absolute.endswith(f"/{relative}")


def may_hold(folder: str, path: str) -> bool:
    """Whether a path may lie in a folder, or below it, by the same measure."""
    if folder.startswith("/") != path.startswith("/") or folder.startswith(".."):
        return True
    return folder == "." or is_within(path, folder)
