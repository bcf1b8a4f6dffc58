"""What the `[web]` table makes of a session: its search provider, and what that requires.

Which provider it is depends on the session's id alone, so that it is the same after a restart.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import msgspec

from holdfast.app.keys import Table
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import SearchSettings, Surroundings, WebSettings
from holdfast.contract.errors import MissingSystemPermission, Unavailable
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.contract.searching import NotSearched, SearchProvider
from holdfast.contract.tool import Tool
from holdfast.runtime.searching import SessionSearch
from holdfast.tools.locked.web_search import web_search
from holdfast.tools.search import brave, searxng, static_index

_NEEDS = {
    "searxng": ("url", 'url = "https://search.example.com"'),
    "brave": ("key_variable", 'key_variable = "BRAVE_API_KEY"'),
    "static": ("file", 'file = "documents.json"'),
}
"""What a provider of each kind cannot do without, and how to write it."""
_TAKES = {"searxng": {"url"}, "brave": {"url", "key_variable"}, "static": {"file"}}
_MOST_INDEX_BYTES = 64 * 1024 * 1024


def chosen_provider(web: WebSettings, session_id: str) -> SearchSettings | None:
    """The provider of a session; None without any."""
    if not web.search:
        return None
    # Not hash(): that differs from process to process.
    number = int.from_bytes(hashlib.sha256(session_id.encode("utf-8", "replace")).digest())
    return web.search[number % len(web.search)]


def with_provider(tool: Tool, web: WebSettings, session_id: str) -> Tool:
    """`web_search` requires the host of its provider; every other tool stays as it is."""
    if tool.name != web_search.name:
        return tool
    chosen = chosen_provider(web, session_id)
    return tool if chosen is None else msgspec.structs.replace(tool, requires=_requires(chosen))


def session_search(web: WebSettings, session_id: str, around: Surroundings) -> SessionSearch:
    """The searches of a session. Nothing is read or asked before the first one."""
    chosen = chosen_provider(web, session_id)
    make = None if chosen is None else _maker(chosen, around)
    return SessionSearch(make, web.search_calls, web.search_seconds)


def check_web(table: Table, origin: str) -> None:
    """Raise ConfigurationError for the first provider that lacks something, or has too much."""
    listed = cast("Table", table.get("web", {})).get("search", [])
    for place, one in enumerate(cast("list[Table]", listed), 1):
        given = msgspec.convert(one, SearchSettings)
        where = f"{origin}: web.search #{place}"
        needed, example = _NEEDS[given.kind]
        if not one.get(needed):
            raise ConfigurationError(
                f"{where}: a provider of kind {given.kind!r} needs {needed}; write {example}"
            )
        for name in one:
            if name != "kind" and name not in _TAKES[given.kind]:
                raise ConfigurationError(
                    f"{where}: a provider of kind {given.kind!r} has no {name}; remove it"
                )
        if given.url is not None and _host_of(given.url) is None:
            raise ConfigurationError(
                f"{where}: {given.url!r} is no address to ask; write"
                ' url = "https://search.example.com"'
            )


def index_files(table: Table) -> list[Table]:
    """The tables of providers that name a file."""
    listed = cast("Table", table.get("web", {})).get("search", [])
    return [one for one in cast("list[Table]", listed) if one.get("file")]


def _requires(chosen: SearchSettings) -> RequirementSet:
    url = _url_of(chosen)
    host = None if url is None else _host_of(url)
    return requirement_set({} if host is None else {"net": {"hosts": [host]}})


def _url_of(chosen: SearchSettings) -> str | None:
    return chosen.url or (brave.USUAL_URL if chosen.kind == "brave" else None)


def _host_of(url: str) -> str | None:
    """Host and port as a requirement names them; None when the URL is none of the web."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (ValueError, KeyError):
        return None
    name = parts.hostname
    if not name or "@" in parts.netloc or "*" in name or "{" in name:
        return None
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _maker(chosen: SearchSettings, around: Surroundings) -> Callable[[], SearchProvider]:
    if chosen.kind == "searxng":
        return partial(searxng.SearXng, cast("str", chosen.url))
    if chosen.kind == "brave":
        return partial(_brave, chosen, around)
    return partial(_index, cast("str", chosen.file))


def _brave(chosen: SearchSettings, around: Surroundings) -> "brave.Brave":
    key = around.search_keys.get(chosen.key_variable or "")
    if not key:
        raise MissingSystemPermission(
            "web_search is not available: its provider needs a key, and the environment variable"
            f" {chosen.key_variable} is not set where this host was started."
        )
    return brave.Brave(chosen.url or brave.USUAL_URL, key)


def _index(file: str) -> "static_index.StaticIndex":
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(_MOST_INDEX_BYTES + 1)
    except OSError as problem:
        raise Unavailable(
            "web_search is not available: its documents cannot be read"
            f" (web.search file: {problem.strerror})."
        ) from None
    if len(content) > _MOST_INDEX_BYTES:
        raise NotSearched(f"its file of documents is larger than {_MOST_INDEX_BYTES:,} bytes")
    return static_index.StaticIndex(content)
