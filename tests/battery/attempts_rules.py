"""Rules played off against each other, and arguments that say two things."""

from collections.abc import Mapping
from typing import NamedTuple

from battery.kit import By, allow, ask, deny

from holdfast.app.agent_settings import RuleSettings
from holdfast.contract.rules import Action, Rule, RuleScope


class RuleAttempt(NamedTuple):
    """A call, and rules that seem to allow it."""

    id: str
    tries: str
    manifest: tuple[RuleSettings, ...]
    rules: tuple[Rule, ...]
    tool: str
    arguments: Mapping[str, object]
    names: str
    by: By = "rule"


def said(
    action: Action, permission: str, pattern: str, scope: RuleScope, *, kept: bool = False
) -> Rule:
    return Rule(
        permission=permission, pattern=pattern, action=action, scope=scope, source="battery",
        remembered=kept,
    )  # fmt: skip


def grant(permission: str, pattern: str, scope: RuleScope = "session") -> Rule:
    return said("allow", permission, pattern, scope, kept=True)


_X = {"path": "out/x"}
_RM = {"command": "rm -rf precious"}

WEIGHTS = (
    RuleAttempt(
        "grant-project", "a remembered answer against a wider deny of the project",
        (), (said("deny", "put", "out/**", "project"), grant("put", "out/x", "project")),
        "put", _X, "out/**",
    ),
    RuleAttempt(
        "grant-session", "a remembered answer against a deny of the session",
        (), (said("deny", "put", "out/**", "session"), grant("put", "out/x")), "put", _X, "out/**",
    ),
    RuleAttempt(
        "grant-widest-deny", "a remembered answer against the widest deny",
        (), (said("deny", "*", "**", "project"), grant("put", "out/x")), "put", _X, "**",
    ),
    RuleAttempt(
        "grant-capability", "a remembered answer for the tool against a deny of the capability",
        (), (said("deny", "fs.write", "out/*", "project"), grant("put", "out/x")),
        "put", _X, "out/*",
    ),
    RuleAttempt(
        "grant-manifest", "a remembered answer against the manifest",
        (deny("fs.write", "**"),), (grant("put", "out/x", "project"),), "put", _X, "**",
    ),
    RuleAttempt(
        "grant-command", "a remembered command against a deny of its flags",
        (deny("shell.run", "rm -rf *"),), (grant("sh", "rm -fr precious"),),
        "sh", {"command": "rm -fr precious"}, "rm -rf *",
    ),
    RuleAttempt(
        "grant-refusal", "a remembered yes against a remembered no",
        (), (said("deny", "put", "out/x", "session", kept=True), grant("put", "out/x", "project")),
        "put", _X, "out/x",
    ),
    RuleAttempt(
        "session-manifest", "an exact allow of the session against a wide deny of the manifest",
        (deny("put", "out/**"),), (said("allow", "put", "out/x", "session"),),
        "put", _X, "out/**",
    ),
    RuleAttempt(
        "project-manifest", "an exact allow of the project",
        (deny("fs.write", "out/**"),), (said("allow", "put", "out/x", "project"),),
        "put", _X, "out/**",
    ),
    RuleAttempt(
        "glob-manifest", "against a deny that names the capability by a glob",
        (deny("fs.*", "out/**"),), (said("allow", "put", "out/x", "session"),),
        "put", _X, "out/**",
    ),
    RuleAttempt(
        "star-manifest", "against a deny of everything",
        (deny("*", "**"),), (said("allow", "put", "out/x", "session"),), "put", _X, "**",
    ),
    RuleAttempt(
        "both-manifest", "an allow by capability and a deny by name, as specific",
        (deny("put", "out/x"), allow("fs.write", "out/x")), (), "put", _X, "out/x",
    ),
    RuleAttempt(
        "same-weight", "an allow and a deny that weigh the same",
        (), (said("deny", "put", "out/x", "session"), said("allow", "put", "out/?", "session")),
        "put", _X, "out/x",
    ),
    RuleAttempt(
        "pinned", "an allow of the session against a pinned question",
        (RuleSettings(permission="put", pattern="out/**", action="ask", pinned=True),),
        (said("allow", "put", "out/x", "session"),), "put", _X, "out/**", "ask",
    ),
    RuleAttempt(
        "pinned-grant", "a remembered answer against a pinned question",
        (RuleSettings(permission="fs.write", pattern="**", action="ask", pinned=True),),
        (grant("put", "out/x", "project"),), "put", _X, "**", "ask",
    ),
    RuleAttempt(
        "pieces", "one allowed command beside one that is not",
        (ask("shell.run", "*"), allow("shell.run", "ls *")), (),
        "sh", {"command": "ls a; touch b"}, "*", "ask",
    ),
    RuleAttempt(
        "whole", "an allow of the whole text",
        (deny("shell.run", "rm *"), allow("shell.run", "ls; rm -rf precious")), (),
        "sh", {"command": "ls; rm -rf precious"}, "rm *",
    ),
    RuleAttempt(
        "prefix", "an allow whose star reaches over the next command",
        (deny("shell.run", "rm *"), allow("shell.run", "git log*")), (),
        "sh", {"command": "git log && rm -rf precious"}, "rm *",
    ),
    RuleAttempt(
        "allow-doubt", "an exact allow for a text that cannot be read",
        (), (said("allow", "sh", "eval \"$x\"", "session"),),
        "sh", {"command": 'eval "$x"'}, "not literal", "doubt",
    ),
    RuleAttempt(
        "allow-canonical", "an allow that would fit another spelling",
        (ask("shell.run", "*"), allow("shell.run", "rm -rf build")), (),
        "sh", {"command": "/tmp/evil/rm -rf build"}, "*", "ask",
    ),
    RuleAttempt(
        "allow-quoted", "an allow that would fit without quotes",
        (ask("shell.run", "*"), allow("shell.run", "cat notes")), (),
        "sh", {"command": "cat 'notes' secret"}, "*", "ask",
    ),
    RuleAttempt(
        "tool-name", "a deny by capability, and a tool of another name",
        (deny("shell.run", "rm *"), allow("power", "**")), (),
        "power", {"script": "rm -rf precious"}, "rm *",
    ),
    RuleAttempt(
        "tool-name-redirect", "a deny of writing, and a shell that writes",
        (deny("fs.write", "out/x"), allow("sh", "**")), (),
        "sh", {"command": "echo a > out/x"}, "out/x",
    ),
    RuleAttempt(
        "tool-name-read", "a deny of reading, and a shell that reads",
        (deny("fs.read", "secret/**"), allow("*", "**")), (),
        "sh", {"command": "cat < secret/key"}, "secret/**",
    ),
    RuleAttempt(
        "tool-list", "a deny of one path among many",
        (deny("fs.write", "out/x"), allow("put_all", "**")), (),
        "put_all", {"paths": ["out/a", "out/./x", "out/b"]}, "out/x",
    ),
    RuleAttempt(
        "link-allow", "an allow for the link, a deny for where it leads",
        (deny("fs.read", "secret/**"), allow("get", "out/key")), (),
        "get", {"path": "out/key"}, "secret/**",
    ),
    RuleAttempt(
        "link-allow-only", "an allow that fits the link and not its end",
        (ask("fs.read", "**"), allow("get", "out/key")), (),
        "get", {"path": "out/key"}, "**", "ask",
    ),
    RuleAttempt(
        "spelling", "a deny dodged by dots",
        (deny("put", "out/x"), allow("put", "**")), (), "put", {"path": "out/../out//./x"}, "out/x",
    ),
    RuleAttempt(
        "absolute-rule", "a deny of all outside dodged by climbing",
        (deny("fs.read", "/**"), allow("get", "**")), (),
        "sh", {"command": "cat < ../outside/loot"}, "/**",
    ),
    RuleAttempt(
        "host-case", "a deny of a host in capitals",
        (deny("net.fetch", "api.example.com"), allow("fetch", "*")), (),
        "fetch", {"url": "HTTPS://API.EXAMPLE.COM./x"}, "api.example.com",
    ),
    RuleAttempt(
        "host-user", "a deny of a host behind a user and a port",
        (deny("net.fetch", "api.example.com"), allow("fetch", "*")), (),
        "fetch", {"url": "https://evil:x@api.example.com:8443/"}, "api.example.com",
    ),
    RuleAttempt(
        "ask-rm", "an ask that an unrelated allow does not answer",
        (ask("shell.run", "rm *"), allow("shell.run", "rmdir *")), (), "sh", _RM, "rm *", "ask",
    ),
)  # fmt: skip

RAW = (
    ("wrapped", "arguments in a wrapper", '{"properties": {"path": "../outside/loot"}}'),
    ("wrapped-arguments", "another wrapper", '{"arguments": {"path": "../outside/loot"}}'),
    ("encoded", "arguments as text in text", '"{\\"path\\": \\"../outside/loot\\"}"'),
    ("escapes", "escapes in the text", '{"path": "\\u002e\\u002e/outside/loot"}'),
    ("escapes-slash", "an escaped slash", '{"path": "..\\/outside\\/loot"}'),
    ("twice", "the same key twice", '{"path": "out/a", "path": "../outside/loot"}'),
    ("twice-escaped", "twice, once escaped", '{"path": "out/a", "\\u0070ath": "../outside/loot"}'),
    ("capital", "a key in capitals", '{"Path": "../outside/loot"}'),
    ("blank", "a path with blanks around", '{"path": "  ../outside/loot  "}'),
    ("null", "an end in the middle", '{"path": "../outside/loot\\u0000"}'),
)
"""Raw arguments of `put`: what is judged is what the body would get, whatever repairs happen."""

UNREADABLE = (
    ("fenced", "in a fence", '```json\n{"path": "../outside/loot"}\n```'),
    ("comma", "with a comma too many", '{"path": "../outside/loot",}'),
    ("single", "in single quotes", "{'path': '../outside/loot'}"),
    ("listed", "a path in a list", '{"path": ["../outside/loot"]}'),
)
"""What is not even taken for arguments."""
