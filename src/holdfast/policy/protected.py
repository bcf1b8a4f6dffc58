"""Places inside a workspace that later run code or hold secrets, and are not written in passing.

A file tool does not write them although they lie in a writable root: a commit hook, a shell's rc
file, a package manager's configuration, a lock file, an agent's own settings. Whoever means one of
them names it in full in ``requires``; a wildcard never reaches it.

Names are compared without regard to case, since some file systems do not regard it either.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.paths import is_within

_DIRECTORIES = frozenset(
    {".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".holdfast", ".ssh", ".gnupg"}
)

_FILES = frozenset(
    {
        # what shells read when they start
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".inputrc"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
        *(".envrc", "config.fish"),
        # version control, outside its directory
        *(".gitconfig", ".gitmodules", ".hgrc"),
        # package managers
        *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml", ".pypirc"),
        *("pip.conf", ".condarc", ".gemrc", ".netrc"),
        # lock files
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"),
        *("bun.lockb", "deno.lock", "cargo.lock", "poetry.lock", "uv.lock", "pdm.lock"),
        *("pipfile.lock", "gemfile.lock", "composer.lock", "go.sum", "flake.lock", "mix.lock"),
        *("pubspec.lock", "podfile.lock"),
        # agents
        *(".mcp.json", ".claude.json"),
    }
)
_PAIRS = frozenset(
    {
        *((".cargo", "config"), (".cargo", "config.toml"), (".bundle", "config")),
        *((".claude", "settings.json"), (".claude", "settings.local.json")),
        *((".cursor", "mcp.json"), (".vscode", "mcp.json"), (".vscode", "settings.json")),
        *((".vscode", "tasks.json"), (".vscode", "launch.json"), (".yarn", "releases")),
    }
)
_NAMES = _DIRECTORIES | _FILES
_PARENTS = frozenset(parent for parent, _ in _PAIRS)
_ENVIRONMENT = late_pattern(r"\.env(?:\.(?!example$|sample$|template$|dist$).*)?", re.DOTALL)


def is_protected(path: str, roots: Iterable[str]) -> bool:
    """Whether an absolute path names such a place below any of the roots, or below none."""
    below_none = True
    for root in roots:
        if is_within(path, root):
            below_none = False
            if _named(path[len(root.rstrip("/")) :]):
                return True
    return below_none and _named(path)


def _named(below: str) -> bool:
    lower = below.lower()
    parts = lower.split("/")
    if not _NAMES.isdisjoint(parts):
        return True
    if not _PARENTS.isdisjoint(parts) and any(pair in _PAIRS for pair in pairwise(parts)):
        return True
    if ".env" in lower and any(map(_ENVIRONMENT.fullmatch, parts)):
        return True
    # In small letters this is somebody's folder of applications.
    return "CVS" in below and "CVS" in below.split("/")
