"""Commands that destroy what cannot be brought back: refused where no one means them, else asked.

A help for people, not a boundary: what a command can reach is the sandbox's matter.
"""

import re
from itertools import takewhile

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.rules import Use
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy.hooks.commands import Line, doubtful_text, lines_in
from holdfast.policy.watchdog import stricter

_EVERYTHING = late_pattern(
    r"/+\*?|~/?\*?|\$(HOME|\{HOME\})/?\*?"
    r"|/(etc|usr|var|bin|sbin|lib|lib64|opt|boot|home|root|dev|proc|sys)/?\*?"
)
_ALL_HERE = frozenset({"*", ".", "./", "./*", "..", "../", "../*", ".*", ".git", "./.git", ":/"})
_CLEAR = len("--st")
_DEVICE = late_pattern(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|loop|mem|kmem|disk|mapper)\S*")
_OVER_A_DEVICE = late_pattern(f"of={_DEVICE.pattern}")
_FORK_BOMB = late_pattern(
    r"([\w:.]{1,40})\s{0,9}\(\)\s{0,9}\{[^}]{0,200}?\1\s{0,9}\|\s{0,9}\1\s{0,9}&"
)
_LOOKED_THROUGH = 8_192
"""How much of a text that could not be taken apart is looked through."""

_ASKED = {
    r"(mkfs\S*|wipefs|fdisk|sfdisk|parted|shred|blkdiscard)": "it erases a disk or file",
    r"(shutdown|reboot|halt|poweroff)": "it stops the machine",
    r"(killall|pkill)": "it ends processes by name",
    r"git filter-(branch|repo)": "it rewrites history",
    r"git (stash (drop|clear)|reflog (expire|delete)|update-ref)": "it drops saved work",
    r"(docker|podman) (system|volume|image|container) prune": "it deletes containers' files",
    r"kubectl delete": "it deletes what runs in a cluster",
    r"(terraform|tofu|pulumi) destroy": "it takes infrastructure down",
    r"(dropdb|mysqladmin drop)": "it drops a database",
    r"(psql|mysql|mariadb|sqlite3) (.* )?((?i:drop|truncate) .*)": "it drops a part of a database",
    r"redis-cli (.* )?(?i:flushall|flushdb)": "it empties a database",
    r"helm (uninstall|delete)": "it takes a release down",
    r"aws s3 rb": "it deletes a bucket",
    r"gcloud (\S+ ){1,5}delete": "it deletes what runs in a cloud",
}
_ANY_ASKED = late_pattern(f"(?:{'|'.join(_ASKED)})(?: |$)")
_OVERWRITES = frozenset({"-f", "--force-with-lease", "--force-if-includes", "--mirror", "-d"})
_ASKED_WITH_FLAG: tuple[tuple[str, frozenset[str], str], ...] = (
    ("git push", _OVERWRITES, "it overwrites what others pushed"),
    ("git reset", frozenset({"--hard"}), "it throws changes away"),
    ("git clean", frozenset({"-f"}), "it deletes files git does not know"),
    ("git branch", frozenset({"-D"}), "it deletes a branch that is not merged"),
    ("git checkout", frozenset({"-f"}), "it throws changes away"),
    ("git switch", frozenset({"-f"}), "it throws changes away"),
    ("git worktree remove", frozenset({"-f", "--force"}), "it throws changes away"),
    ("docker compose down", frozenset({"-v", "--volumes"}), "it deletes containers' files"),
    ("docker-compose down", frozenset({"-v", "--volumes"}), "it deletes containers' files"),
    ("aws s3 rm", frozenset({"--recursive"}), "it deletes whatever is stored there"),
    ("crontab", frozenset({"-r"}), "it deletes every scheduled job"),
    ("iptables", frozenset({"-F"}), "it takes the firewall down"),
    ("find", frozenset({"-delete"}), "it deletes what it finds"),
)


def destructive_commands(inspection: Inspection, /) -> Opinion:
    """Look for commands that destroy."""
    strictest = NOTHING_AGAINST_IT
    for line in lines_in(inspection.uses):
        strictest = stricter(strictest, _of_line(line))
    for use in inspection.uses:
        strictest = stricter(strictest, _of_write(use))
    if _FORK_BOMB.search(doubtful_text(inspection.uses)[:_LOOKED_THROUGH]):
        return Opinion("deny", "It starts copies of itself without end.")
    return strictest


def _of_line(line: Line) -> Opinion:
    removes = line.program in {"rm", "unlink", "rmdir"}
    recursive = bool(line.flags & {"-r", "-R", "--recursive"})
    if recursive and (removes or line.program in {"chmod", "chown", "chgrp"}):
        opinion = _of_recursion(line, removes=removes)
        if opinion is not NOTHING_AGAINST_IT:
            return opinion
    if line.program == "dd" and any(_OVER_A_DEVICE.fullmatch(word) for word in line.operands):
        return Opinion("deny", "It writes over a disk.")
    if line.program == "kill" and "-1" in line.flags and len(line.flags) > 1:
        return Opinion("deny", "It ends every process there is.")
    if line.program == "git" and (reason := _of_git(line)) is not None:
        return Opinion("ask", f"Destructive: {reason}.")
    return _of_tables(line)


def _of_git(line: Line) -> str | None:
    """What of git destroys by its operands, or by what flags leave out."""
    subcommand, *rest = line.operands or ("",)
    # Behind the operands stands what was written in front of the subcommand, as in `git -C . log`.
    named = list(takewhile(lambda word: not word.startswith("-"), rest))
    match subcommand:
        case "checkout" if _ALL_HERE.intersection(named) or " -- " in line.written:
            return "it throws changes away"
        case "restore" if _has(line, "-W", "--worktree") or not _has(line, "-S", "--staged"):
            return "it throws changes away"
        case "branch" if {"-d", "-f"} <= line.flags:
            return "it deletes a branch that is not merged"
        case "push" if any(word.startswith(("+", ":")) for word in named):
            return "it overwrites what others pushed"
        case _:
            return None


def _has(line: Line, letter: str, long: str) -> bool:
    """Whether a flag is there; git takes the beginning of a long one, as long as it is clear."""
    return letter in line.flags or any(
        len(flag) >= _CLEAR and long.startswith(flag) for flag in line.flags
    )


def _of_recursion(line: Line, *, removes: bool) -> Opinion:
    verb = "deletes" if removes else "changes"
    if any(_EVERYTHING.fullmatch(word) for word in line.operands):
        return Opinion("deny", f"It {verb} the system or a home directory as a whole.")
    if removes and _ALL_HERE.intersection(line.operands):
        return Opinion("ask", "It deletes everything in a directory.")
    return NOTHING_AGAINST_IT


def _of_tables(line: Line) -> Opinion:
    text = line.text
    if _ANY_ASKED.match(text):
        reason = next(why for form, why in _ASKED.items() if re.match(f"{form}(?: |$)", text))
        return Opinion("ask", f"Destructive: {reason}.")
    for command, flags, reason in _ASKED_WITH_FLAG:
        if flags & line.flags and f"{text} ".startswith(f"{command} "):
            return Opinion("ask", f"Destructive: {reason}.")
    return NOTHING_AGAINST_IT


def _of_write(use: Use) -> Opinion:
    if use.capability == "fs.write" and _DEVICE.fullmatch(use.target):
        return Opinion("deny", "It writes over a disk.")
    return NOTHING_AGAINST_IT
