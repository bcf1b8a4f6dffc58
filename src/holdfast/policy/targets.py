"""What the target of a rule is by its permission, and which patterns can fit none of them."""

from difflib import get_close_matches

from holdfast.contract.rules import TargetKind
from holdfast.policy.host_patterns import HostPatternProblem, HostPatterns

KINDS: dict[str, TargetKind] = {
    **dict.fromkeys(("read", "write", "edit", "glob", "grep", "fs.read", "fs.write"), "path"),
    **dict.fromkeys(("bash", "shell.run"), "command"),
    **dict.fromkeys(("web_fetch", "web_search", "net.fetch"), "host"),
    **dict.fromkeys(("task", "skill", "todo", "question", "tool_search"), "name"),
}
_CAPABILITIES = tuple(name for name in KINDS if "." in name)
_FAMILIES = tuple({f"{name.partition('.')[0]}." for name in _CAPABILITIES})
_WILD = frozenset("*?{")


def never_used(permission: str) -> str | None:
    """Why no call has this permission, whatever the author of the rule thinks."""
    if not permission:
        return "a rule needs a permission; `*` speaks of everything"
    if permission in KINDS or not permission.startswith(_FAMILIES) or _WILD & {*permission}:
        return None
    near = get_close_matches(permission, _CAPABILITIES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_CAPABILITIES)}"
    return f"there is no capability {permission!r}; {hint}"


def never_fits(permission: str, pattern: str) -> str | None:
    """Why a pattern fits no call, whatever its author thinks: such a deny would protect nothing."""
    kind = KINDS.get(permission)
    if kind == "path" and pattern.startswith("~"):
        return f"the pattern {pattern!r}: ~ is an ordinary name here; write the path in full"
    if kind == "path" and ".." in pattern.split("/"):
        return f"the pattern {pattern!r} climbs out with '..'; write the path in full"
    if kind == "host" and pattern:
        try:
            HostPatterns([pattern])
        except HostPatternProblem as problem:
            return f"the {problem}; write for example *.example.com or api.example.com:443"
    return None
