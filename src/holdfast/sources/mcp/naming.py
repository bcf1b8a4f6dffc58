"""What tools of MCP servers are called here: ``<server>_<tool>``, in letters, digits, underscore.

A plain name belongs to one server: of all that are configured, whether they answer or not, the one
with the longest name that it begins with. Whatever else would be called the same gets a suffix made
of its full names. So no name depends on the order in which servers answer, or on who is there.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.tool import LOCKED_NAMES

MOST_CHARACTERS = 64
"""What providers of models take."""

_OTHER = late_pattern(r"[^A-Za-z0-9_]")
_DIGITS = 8
_SUFFIXED = late_pattern(r"__[0-9a-f]{8,}$")
"""No plain name ends like this: what is suffixed can only meet what is suffixed."""
_LONGEST_PREFIX = MOST_CHARACTERS - _DIGITS - 2
"""So much of a plain name is left before a suffix."""

Named = tuple[str, str]
"""A server and its tool, as they call themselves."""


def alias_of(named: Named) -> str:
    """The name that rules may use, too."""
    return f"mcp:{named[0]}:{named[1]}"


def reduced(named: Named) -> str:
    """The plain name."""
    return _OTHER.sub("_", "_".join(named))


def names_of(
    tools: Iterable[Named], taken: Collection[str] = (), configured: Iterable[str] = ()
) -> dict[Named, str]:
    """One name for each of them, none of which is taken or locked.

    ``configured``: all servers there are, also those whose tools are not among these.
    """
    wanted = sorted(set(tools))
    servers = {*configured, *(server for server, _ in wanted)}
    wishes = Counter((one[0], reduced(one)) for one in wanted)
    given = {
        one: name
        for one in wanted
        if wishes[one[0], name := reduced(one)] == 1
        and _is_free(name, taken)
        and owners_of(name, servers) == (one[0],)
    }
    return given | _suffixed([one for one in wanted if one not in given], taken)


def _is_free(name: str, taken: Collection[str]) -> bool:
    fits = len(name) <= MOST_CHARACTERS and _SUFFIXED.search(name) is None
    return fits and name not in taken and name not in LOCKED_NAMES


def owners_of(name: str, servers: Iterable[str]) -> tuple[str, ...]:
    """Whose the tool of a name may be: the server with the longest name that it begins with.

    Several, where servers are called the same, or where a suffix hides whose it is.
    """
    hidden = _SUFFIXED.search(name) is not None
    fitting = [one for one in sorted(servers) if name.startswith(_prefix(one, hidden=hidden))]
    if hidden:
        return tuple(fitting)
    longest = max((len(one) for one in fitting), default=0)
    return tuple(one for one in fitting if len(one) == longest)


def _prefix(server: str, *, hidden: bool) -> str:
    whole = reduced((server, ""))
    return whole[:_LONGEST_PREFIX] if hidden else whole


def _suffixed(tools: list[Named], taken: Collection[str]) -> dict[Named, str]:
    """Names that depend on nothing but server and tool.

    Only where two of them meet, which somebody has to bring about, both get longer suffixes.
    """
    found = {one: _with_digest(one, _DIGITS) for one in tools}
    for digits in range(2 * _DIGITS, _LONGEST_PREFIX, _DIGITS):
        times = Counter(found.values())
        meeting = [one for one, name in found.items() if times[name] > 1 or name in taken]
        found.update({one: _with_digest(one, digits) for one in meeting})
    return found


def _with_digest(named: Named, digits: int) -> str:
    digest = hashlib.sha256(alias_of(named).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{reduced(named)[: MOST_CHARACTERS - digits - 2]}__{digest[:digits]}"
