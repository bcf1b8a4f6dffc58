"""What a server is: vouched for as a whole, shown without what is secret. Values in, values out."""

import hashlib
import shlex
from urllib.parse import urlsplit

from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.sources.mcp.secrets import secrets_of
from holdfast.sources.mcp.setup import ServerSetup

_SECRET = "***"
_SHOWN, _WHOLE = "server", "sha256"


def identity_of(setup: ServerSetup, written: ServerSetup) -> JsonObject:
    """What vouches for the server, and what of it a person is shown.

    ``setup``: without variables left to replace, which may lead to another program. ``written``:
    as it was configured; what variables hold is not shown.
    """
    whole: object = list(setup.argv) if setup.url is None else setup.url
    if setup.url is None and setup.cwd is not None:
        whole = {"argv": whole, "cwd": setup.cwd}
    vouched = hashlib.sha256(encode_json(whole)).hexdigest()
    return {_SHOWN: _shown(written), _WHOLE: vouched}


def is_same(one: JsonObject, other: JsonObject) -> bool:
    """Whether both are of one server, however it is shown."""
    return one.get(_WHOLE) == other.get(_WHOLE)


def in_words(identity: JsonObject) -> str:
    """In one line."""
    shown = identity.get(_SHOWN)
    return shlex.join(map(str, shown)) if isinstance(shown, list) else str(shown)


def where(setup: ServerSetup) -> str:
    """The command or the address, in one line."""
    return in_words({_SHOWN: _shown(setup)})


def _shown(setup: ServerSetup) -> JsonValue:
    if setup.url is not None:
        return _without_secrets(setup.url)
    hidden = sorted(secrets_of(setup, {}), key=len, reverse=True)
    return [_hide(word, hidden) for word in setup.argv]


def _hide(word: str, secrets: list[str]) -> str:
    for secret in secrets:
        word = word.replace(secret, _SECRET)
    return word


def _without_secrets(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that is none"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
