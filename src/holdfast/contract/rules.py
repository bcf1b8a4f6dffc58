"""Permission rules, and what a call does that they judge. Values only; `policy` weighs them."""

from datetime import datetime
from typing import Literal, get_args

import msgspec

Action = Literal["allow", "ask", "deny"]
ACTIONS: tuple[Action, ...] = get_args(Action)

RuleScope = Literal["manifest", "session", "project"]
"""Who said it: the agent's author, this session, or everybody who works on this project."""

TargetKind = Literal["path", "command", "host", "name"]
"""What a pattern is compared with: how `*` reads depends on it."""


Remember = Literal["once", "session", "project"]
"""For how long a person's answer holds."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls that use this permission on a target that fits the pattern: allow, ask or deny."""

    permission: str
    """A tool's name, ``mcp:<server>:<tool>``, a capability, a glob over those, or ``*``."""
    pattern: str
    action: Action = "ask"
    scope: RuleScope
    source: str
    """Where it stands: a file and line, or who gave it."""
    reason: str | None = None
    added_at: datetime | None = None
    pinned: bool = False
    """An ask of the manifest that no session or project rule can turn into an allow."""
    capability: str | None = None
    """It is about this use alone: of a remembered answer, and of rules that ship for a tool with
    several."""
    remembered: bool = False
    """A person's answer kept for later: a grant. It never outranks a deny of any scope."""


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One capability that a call uses, and on what."""

    capability: str | None
    """None: the call needs none; only rules that name the tool can speak of it."""
    kind: TargetKind
    target: str
    """As a person would write it: a path in the workspace, a command, a host."""
    spellings: tuple[str, ...] = ()
    """Other forms of the same target. A deny or an ask counts for any of them, an allow only when
    it fits every path spelling, or a command as it was written."""
    within: str | None = None
    """The whole command text that this is a part of."""
    declared: bool = False
    """The target is what the tool declares, a pattern, and not one place."""
    doubt: str | None = None
    """Why the target is not fully known. No allow covers it then."""
