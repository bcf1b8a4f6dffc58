"""Servers out of the JSON that other programs keep them in: one value in, setups and remarks out.

The common shapes are read: ``mcpServers`` (Claude Code, Cursor), ``servers`` (VS Code) and
``mcp_servers`` (Codex). A server that cannot be used is left out with the reason; the others stay.
Whether a server is trusted is never read from such a file. No variable is read here.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue, type_name
from holdfast.sources.mcp.setup import BadSetup, ServerSetup

TOP_KEYS = ("mcpServers", "servers", "mcp_servers")
_HTTP = ("http", "streamable-http", "streamable_http", "streamableHttp")
_KNOWN = frozenset(
    {
        *("type", "command", "args", "env", "cwd", "url", "serverUrl", "headers", "http_headers"),
        *("env_http_headers", "bearer_token_env_var", "env_vars", "disabled", "enabled"),
        *("enabled_tools", "disabled_tools", "startup_timeout_sec", "tool_timeout_sec"),
        *("includeTools", "excludeTools", "transport"),
    }
)
_IN_TABLES = {
    **dict.fromkeys(("timeout", "seconds", "timeout_sec", "timeout_seconds"), "seconds"),
    **{key: key for key in ("startup_seconds", "token_file", "era", "requires", "allow", "deny")},
}
"""What people write into such a file, and how a table of the configuration says it."""
_NO_SERVERS = 'there is no "mcpServers" in it'
_NOT_WRAPPED = f'{_NO_SERVERS}, and it has servers; wrap it in {{"mcpServers": ...}}'
_SSE = (
    "the transport sse has been replaced: give the address of its streamable HTTP endpoint with"
    ' "type": "http"'
)


class ReadServers(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of servers says."""

    setups: tuple[ServerSetup, ...] = ()
    remarks: tuple[str, ...] = ()
    """What was read over."""
    problems: tuple[str, ...] = ()
    """Servers that were left out, and why."""
    about: Mapping[str, tuple[str, ...]] = {}
    """The same by server, for those who are concerned with one of them."""


def read_servers(document: JsonValue) -> ReadServers:
    """Read all servers of a document; never raises."""
    if not isinstance(document, dict):
        return ReadServers(problems=(f"the servers must be an object, not {type_name(document)}",))
    top = next((key for key in TOP_KEYS if key in document), None)
    if top is None:
        return ReadServers(problems=(_NOT_WRAPPED if _has_servers(document) else _NO_SERVERS,))
    servers = document[top]
    if not isinstance(servers, dict):
        return ReadServers(problems=(f"{top} must be an object, not {type_name(servers)}",))
    setups: list[ServerSetup] = []
    remarks: list[str] = []
    problems: list[str] = []
    about: dict[str, tuple[str, ...]] = {}
    for name, given in servers.items():
        told = len(remarks)
        left_out: tuple[str, ...] = ()
        try:
            setups.append(_server(name, given, remarks))
        except BadSetup as problem:
            left_out = (_named(name, str(problem)),)
        problems += left_out
        if said := (*left_out, *remarks[told:]):
            about[name] = said
    return ReadServers(
        setups=tuple(setups), remarks=tuple(remarks), problems=tuple(problems), about=about
    )


def _has_servers(document: JsonObject) -> bool:
    """Whether its values look like servers themselves."""
    return any(
        isinstance(one, dict) and ("command" in one or "url" in one) for one in document.values()
    )


def _named(name: str, said: str) -> str:
    return said if said.startswith(f"mcp server {name}:") else f"mcp server {name}: {said}"


def _server(name: str, given: JsonValue, remarks: list[str]) -> ServerSetup:
    if not isinstance(given, dict):
        raise BadSetup(f"it must be an object, not {type_name(given)}")
    fields = _Fields(given)
    remarks += [_named(name, _unknown(name, key)) for key in given if key not in _KNOWN]
    kind = fields.text("type") or fields.text("transport")
    url = fields.text("url") or fields.text("serverUrl")
    if kind == "sse":
        raise BadSetup(_SSE)
    if kind is not None and kind not in ("stdio", *_HTTP):
        raise BadSetup(f"there is no type {kind!r}; write stdio or http")
    if kind == "stdio" and url is not None:
        raise BadSetup("its type is stdio and it has a url; take one of them away")
    if kind in _HTTP and fields.text("command") is not None:
        raise BadSetup(f"its type is {kind} and it has a command; take one of them away")
    enabled = fields.flag("enabled", default=True) and not fields.flag("disabled", default=False)
    return ServerSetup(
        name=name,
        command=fields.text("command"),
        args=fields.texts("args") or (),
        env={**{key: f"${{{key}}}" for key in fields.texts("env_vars") or ()}, **fields.map("env")},
        cwd=fields.text("cwd"),
        url=url,
        headers=_headers(fields),
        disabled=not enabled,
        seconds=fields.number("tool_timeout_sec", 30.0),
        startup_seconds=fields.number("startup_timeout_sec", 30.0),
        allow=_either(fields, "enabled_tools", "includeTools"),
        deny=_either(fields, "disabled_tools", "excludeTools") or (),
    )


def _headers(fields: "_Fields") -> dict[str, str]:
    headers = {**fields.map("http_headers"), **fields.map("headers")}
    for header, variable in fields.map("env_http_headers").items():
        headers[header] = f"${{{variable}}}"
    token = fields.text("bearer_token_env_var")
    return headers if token is None else {**headers, "Authorization": f"Bearer ${{{token}}}"}


def _either(fields: "_Fields", *keys: str) -> tuple[str, ...] | None:
    return next((found for key in keys if (found := fields.texts(key)) is not None), None)


def _unknown(server: str, key: str) -> str:
    if key in ("trust", "alwaysAllow", "autoApprove"):
        return f"{key!r} is not read from such a file: a rule of yours says what may run unasked"
    said = _IN_TABLES.get(key)
    if said is not None:
        return f"{key!r} is not known here and was left out; write {said} in [mcp.{server}]"
    near = difflib.get_close_matches(key, sorted(_KNOWN), n=1)
    return f"{key!r} is not known and was left out" + (f"; {near[0]!r} is" if near else "")


class _Fields:
    """The fields of one server, each read as what it has to be."""

    def __init__(self, given: JsonObject) -> None:
        self._given = given

    def text(self, key: str) -> str | None:
        found = self._given.get(key)
        if found is not None and not isinstance(found, str):
            raise BadSetup(f"{key} must be a text, not {type_name(found)}")
        return found

    def flag(self, key: str, *, default: bool) -> bool:
        found = self._given.get(key, default)
        if not isinstance(found, bool):
            raise BadSetup(f"{key} must be true or false, not {type_name(found)}")
        return found

    def number(self, key: str, default: float) -> float:
        found = self._given.get(key, default)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise BadSetup(f"{key} must be a number, not {type_name(found)}")
        try:
            return float(found)
        except OverflowError:
            raise BadSetup(f"{key} is too large") from None

    def texts(self, key: str) -> tuple[str, ...] | None:
        found = self._given.get(key)
        if found is None:
            return None
        if not isinstance(found, list) or not _all_texts(found):
            raise BadSetup(f"{key} must be a list of texts")
        return tuple(cast("list[str]", found))

    def map(self, key: str) -> dict[str, str]:
        found = self._given.get(key)
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise BadSetup(f"{key} must be an object, not {type_name(found)}")
        written = {name: _written(value) for name, value in found.items()}
        if not _all_texts(written.values()):
            raise BadSetup(f"every value of {key} must be a text")
        return cast("dict[str, str]", written)


def _written(value: JsonValue) -> JsonValue:
    """Numbers and truth values, which people write into variables, as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else value


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)
