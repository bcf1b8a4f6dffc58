"""Models, as tables of the configuration. Only the shape is here, and what each kind needs."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

import msgspec

from holdfast.app.problems import ConfigurationError
from holdfast.app.source_settings import Seconds

ModelKind = Literal["openai", "openai_responses", "anthropic", "local", "scripted"]
KINDS: tuple[ModelKind, ...] = ("openai", "openai_responses", "anthropic", "local", "scripted")

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Price = Annotated[float, msgspec.Meta(ge=0, le=1e9)]

_OVER_HTTP = frozenset(
    {
        *("model", "base_url", "key_variable", "stream", "max_output_tokens", "window"),
        *("temperature", "headers", "first_byte_seconds", "idle_seconds", "reply_seconds"),
        *("prices", "extra", "proxy"),
    }
)
_TAKES: Mapping[ModelKind, frozenset[str]] = {
    "openai": _OVER_HTTP | {"notices_as"},
    "openai_responses": _OVER_HTTP,
    "anthropic": _OVER_HTTP | {"cache"},
    "local": frozenset({"model", "file", "max_output_tokens", "window", "temperature", "extra"}),
    "scripted": frozenset({"model", "file", "max_output_tokens", "window"}),
}
_NEEDS: Mapping[ModelKind, tuple[str, str]] = {
    "openai": ("model", 'model = "gpt-5"'),
    "openai_responses": ("model", 'model = "gpt-5"'),
    "anthropic": ("model", 'model = "claude-sonnet-4-5"'),
    "scripted": ("file", 'file = "turns.toml"'),
}
"""What a model of each kind cannot do without, and how to write it."""


class PriceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a million tokens cost, in any one currency."""

    input: _Price = 0.0
    """Of what is sent."""
    output: _Price = 0.0
    """Of what is replied."""
    cached: _Price | None = None
    """Of those read from the provider's cache; None: as any other."""
    cache_write: _Price | None = None
    """Of those written into it; None: as any other."""


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[model.NAME]` table."""

    kind: ModelKind
    """Which API it speaks, or what it is."""
    model: str | None = None
    """What its provider calls it."""
    base_url: str | None = None
    """Where the API begins, for servers other than the provider's own."""
    key_variable: str | None = None
    """The environment variable that holds the key; None: the provider's usual one, and none at all
    for another server."""
    stream: bool = True
    """Whether its words are taken as they come."""
    max_output_tokens: _Count | None = None
    """Of one reply."""
    window: _Count | None = None
    """How many tokens a request and its reply may hold together."""
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    """None: as its provider has it."""
    headers: dict[str, str] = {}
    """Further headers of every request."""
    first_byte_seconds: Seconds = 120.0
    """How long it may take until the answer begins."""
    idle_seconds: Seconds = 120.0
    """How long an answer may be silent in the middle."""
    reply_seconds: Seconds = 900.0
    """How long one reply may take as a whole."""
    proxy: str | None = None
    """Through which proxy it is asked; empty: none; None: as the environment says."""
    cache: bool = True
    """Whether Anthropic is told what to cache."""
    notices_as: Literal["system", "user"] = "system"
    """In whose name what is only for one step is told."""
    prices: PriceSettings | None = None
    """None: what it costs is not known."""
    extra: dict[str, Any] = {}
    """Further fields of every request."""
    file: str | None = None
    """The turns of a script; or weights, as a GGUF file."""

    def __repr__(self) -> str:
        """Without what may be secret."""
        return f"ModelSettings(kind={self.kind!r}, model={self.model!r})"


def check_models(table: Mapping[str, object], origin: str) -> None:
    """Raise ConfigurationError for the first model that lacks something, or has too much."""
    models = cast("dict[str, dict[str, object]]", table.get("model", {}))
    for name, one in models.items():
        kind = cast("ModelKind", one["kind"])
        where = f"{origin}: model.{name}"
        needed, example = _NEEDS.get(kind, ("", ""))
        if needed and not one.get(needed):
            raise ConfigurationError(
                f"{where}: a model of kind {kind!r} needs {needed}; write {example}"
            )
        for key in one:
            if key != "kind" and key not in _TAKES[kind]:
                raise ConfigurationError(
                    f"{where}: a model of kind {kind!r} has no {key}; remove it"
                )
        proxy = one.get("proxy")
        if proxy and not _is_address(cast("str", proxy)):
            raise ConfigurationError(
                f'{where}: proxy is no address of a proxy; write proxy = "http://127.0.0.1:3128";'
                " one that wants a password is named in the environment: HTTPS_PROXY"
            )
        url = one.get("base_url")
        if url is not None and not _is_address(cast("str", url)):
            raise ConfigurationError(
                f"{where}: base_url is no address of an API; write"
                ' base_url = "http://127.0.0.1:8080/v1"'
            )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    told_more = parts.query or parts.fragment or "@" in parts.netloc
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not told_more
