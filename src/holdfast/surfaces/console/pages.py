"""The files of the console: each with its bytes, its media type and a mark of what it holds.

A file is called by its path below `static`, such as `lib/dom.js`; `index.html` is the page that all
addresses of the console show, and asks for the others below `/console/static/`. What a request is,
and who may ask, is not known here.
"""

import functools
import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

INDEX = "index.html"
"""The page for every address that names no file."""

_MEDIA_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the console."""

    name: str
    content: bytes
    media_type: str
    etag: str
    """In quotes; another content has another one."""


def page(name: str) -> Page | None:
    """The file of that name; None: there is none, whatever the disk holds."""
    return _pages().get(name)


def names() -> tuple[str, ...]:
    """What there is, sorted."""
    return tuple(sorted(_pages()))


@functools.cache
def _pages() -> dict[str, Page]:
    """All of them, read once: nothing is opened because of what somebody asks for."""
    found: dict[str, Page] = {}
    _collect(files("holdfast.surfaces.console") / "static", "", found)
    return found


def _collect(folder: Traversable, path: str, found: dict[str, Page]) -> None:
    for entry in folder.iterdir():
        name = path + entry.name
        if entry.is_dir():
            _collect(entry, f"{name}/", found)
            continue
        media_type = _MEDIA_TYPES.get(entry.name.rpartition(".")[2])
        if media_type is not None:
            content = entry.read_bytes()
            mark = hashlib.sha256(content).hexdigest()[:32]
            found[name] = Page(name=name, content=content, media_type=media_type, etag=f'"{mark}"')
