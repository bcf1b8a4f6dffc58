"""What of a server's setup is secret: the values that must leave nothing, wherever it says them.

Values in, values out. A value is secret by the name it stands under (a header, a variable, an
option, a part of an address), by the variable it comes from, or by its looks: one long word
with many digits. Who takes them out of texts is not known here.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from urllib.parse import unquote, unquote_plus, urlsplit

from holdfast.contract.late_pattern import late_pattern
from holdfast.sources.mcp.expansion import VARIABLE, expand
from holdfast.sources.mcp.setup import BadSetup, ServerSetup

_NAME = late_pattern(
    r"auth|cookie|token|secret|passw|passphrase|passwd|pwd|credential|session|signature|bearer"
    r"|api[-_]?key|access[-_]?key|private[-_]?key|(?:^|[^a-z])(?:key|pass|pat|dsn|jwt|sig)(?:$|[^a-z])"
    r"|connection[-_]?string",
    re.IGNORECASE,
)
"""What a name holds whose value is secret."""
_OPTION = late_pattern(r"--?([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_PAIR = late_pattern(r"([A-Za-z][\w.-]*)\s*[=:]\s*(.+)", re.DOTALL)
"""As in NAME=value, or in a header: Name: value."""
_INNER_PAIR = late_pattern(
    r"(?<![\w.-])(?=([A-Za-z][\w.-]*)[\"']?\s*[=:]\s*[\"']?"
    r"(?:(?i:bearer|basic|token)\s+)?([^\s\"'{},;&|]+))"
)
"""A name and its value, quoted or not, anywhere in a text."""
_SCHEME = late_pattern(r"(?:bearer|basic|token|apikey|digest|negotiate)\s+", re.IGNORECASE)
_LONG_WORD = late_pattern(r"[\w.~+=:-]{20,}", re.ASCII)
_DIGIT = late_pattern("[0-9]")
_MANY = 5
_LONG_QUERY = 12
_COMMON_HEADERS = frozenset(
    {"accept", "accept-language", "content-type", "user-agent", "origin", "referer", "host"}
)
_PASSWORD_IN_URL = late_pattern(r"[a-z][a-z0-9+.-]*://([^/\s@]+)@", re.IGNORECASE)


def secrets_of(setup: ServerSetup, environment: Mapping[str, str]) -> frozenset[str]:
    """All that is secret of it, as its variables are now; what cannot be filled in is passed over.

    What a token file holds is not among them.
    """
    found: set[str] = set()
    for header, value in setup.headers.items():
        found.update(_of_header(header, value, environment))
    for name, value in setup.env.items():
        found.update(_of_value(name, value, environment))
    found.update(_of_words(setup.args, environment))
    found.update(_of_address(_filled(setup.url or "", environment)))
    for text in (setup.url, setup.cwd, setup.command, *setup.args, *setup.env.values()):
        found.update(_of_variables(text or "", environment))
    return frozenset(one for one in found if one)


def _of_header(header: str, value: str, environment: Mapping[str, str]) -> Iterator[str]:
    if header.lower() in _COMMON_HEADERS:
        return
    if not (_NAME.search(header) or VARIABLE.search(value) or _looks(value)):
        return
    text = _filled(value, environment).strip()
    bare = _SCHEME.sub("", text, count=1)
    yield from (text, bare)
    if text.lower().startswith("basic "):
        yield from _of_basic(bare)
    yield from _values(value, environment)


def _of_basic(encoded: str) -> Iterator[str]:
    """The name and password that are written as one word."""
    try:
        plain = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return
    yield plain
    yield plain.partition(":")[2]


def _of_value(name: str, value: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The value of a variable or an option."""
    text = _filled(value, environment)
    if _NAME.search(name) or _looks(text):
        yield text
        yield _SCHEME.sub("", text.strip(), count=1)
    yield from _of_credentials(text)


def _of_words(words: Iterable[str], environment: Mapping[str, str]) -> Iterator[str]:
    """What a command line says behind options whose names tell, and in pairs."""
    given = [*words]
    for word in given:
        yield from _of_inner_pairs(_filled(word, environment))
        option, pair = _OPTION.fullmatch(word), _PAIR.fullmatch(word)
        if option is not None and option.group(2) is not None:
            yield from _of_value(option.group(1), option.group(2), environment)
        elif pair is not None and "://" not in word:
            yield from _of_value(pair.group(1), pair.group(2), environment)
        else:
            yield from _of_value("", word, environment)
            yield from _of_address(_filled(word, environment))
    for option, value in pairwise(given):
        named = _OPTION.fullmatch(option)
        if named is not None and named.group(2) is None and _NAME.search(named.group(1)):
            yield _filled(value, environment)


def _of_inner_pairs(text: str) -> Iterator[str]:
    """What pairs inside of a word say: of `--env=A_TOKEN=x`, of a header, of JSON, of code."""
    for found in _INNER_PAIR.finditer(text):
        if _NAME.search(found.group(1)):
            yield found.group(2)


def _of_address(url: str) -> Iterator[str]:
    """What an address holds beside its place: who logs in, what is asked, what looks secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if not parts.scheme or not parts.netloc:
        return
    yield from _of_credentials(url)
    yield parts.query if len(parts.query) >= _LONG_QUERY else ""
    for pair in parts.query.split("&"):
        name, _, written = pair.partition("=")
        value = unquote_plus(written)
        if _NAME.search(name) or _looks(value):
            yield from (written, value)
    yield from (part for part in parts.path.split("/") if _looks(part))


def _of_credentials(text: str) -> Iterator[str]:
    for found in _PASSWORD_IN_URL.findall(text):
        name, colon, password = found.partition(":")
        secret = password if colon else name
        yield from (secret, unquote(secret))


def _of_variables(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The values of variables whose names say that they are secret."""
    for name, _ in VARIABLE.findall(text):
        value = environment.get(name, "")
        if _NAME.search(name):
            yield value
        yield from _of_credentials(value)


def _values(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The values of all variables in it."""
    yield from (environment.get(name, "") for name, _ in VARIABLE.findall(text))


def _filled(text: str, environment: Mapping[str, str]) -> str:
    try:
        return expand(text, environment)
    except BadSetup:
        return text


def _looks(value: str) -> bool:
    """Whether it is one long word with many digits in it, and no path."""
    return _LONG_WORD.fullmatch(value) is not None and len(_DIGIT.findall(value)) >= _MANY
