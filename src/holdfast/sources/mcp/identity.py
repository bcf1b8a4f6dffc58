"""What a server is: vouched for as a whole, shown as far as it is surely no secret.

Values in, values out. What is shown goes by place and form alone: a word whose form says nothing
may be a password. Nothing here looks for secrets, as what is not found would be shown.
"""

import hashlib
import shlex
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import urlsplit

from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.late_pattern import late_pattern
from holdfast.sources.mcp.setup import ServerSetup

HIDDEN = "***"
_SHOWN, _WHOLE = "server", "sha256"
_OPTION = late_pattern(r"-[A-Za-z]|--[a-z][a-z-]{0,40}")
_OPTION_WITH_VALUE = late_pattern(r"(-[A-Za-z]|--[a-z][a-z-]{0,40})(=?)(.+)")
_PLAIN = late_pattern(r"[a-z][a-z_-]{0,40}")
"""One word of a language, or several."""
_FILE = late_pattern(
    r"(?:(?:\.{0,2}|[a-z_-]{1,40})/)*[a-z][a-z_-]{0,40}(?:\.[a-z]{1,4})?"
    r"|(?:~|\.{0,2})/(?:[\w .-]{1,80}/){0,30}[\w -]{1,80}\.[a-z]{1,4}"
)
"""A plain name; or a path of any names, to a file with an ending: a key in letters has no dot."""
_PACKAGE = late_pattern(
    r"@[a-z-]{1,40}/[a-z-]{1,60}(?:@[a-z]{1,10}|@[0-9]{1,4}(?:\.[0-9]{1,4}){0,3})?"
)
_SEGMENT = late_pattern(r"[a-z][a-z_.-]{0,40}|v[0-9]{1,3}")
_PLACE = late_pattern(r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


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
        return _address(setup.url)
    return [str(setup.command), *_words(setup)]


def _words(setup: ServerSetup) -> Iterator[str]:
    """Options by their names. Behind one, a word is its value, and hardly ever a plain one."""
    for before, word in pairwise(setup.argv):
        with_value = _OPTION_WITH_VALUE.fullmatch(word)
        if _OPTION.fullmatch(word):
            yield word
        elif with_value is not None:
            yield f"{with_value[1]}{with_value[2]}{HIDDEN}"
        elif _OPTION.fullmatch(before):
            yield word if "/" in word and _is_clear(word) else HIDDEN
        else:
            yield word if _is_clear(word) else HIDDEN


def _is_clear(word: str) -> bool:
    """Whether it is written like a name of something: a word, a file, a package."""
    return any(form.fullmatch(word) for form in (_PLAIN, _FILE, _PACKAGE))


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that is none"
    place = parts.netloc.rpartition("@")[2]
    segments = [
        one if not one or _SEGMENT.fullmatch(one) else HIDDEN for one in parts.path.split("/")
    ]
    host = place if _PLACE.fullmatch(place) else HIDDEN
    return f"{parts.scheme}://{host}{'/'.join(segments)}"
