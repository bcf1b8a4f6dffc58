"""Which branch a workspace stands on, read from git's own files: no process is started.

The files are a stranger's. What does not look like the name of a branch is none.
"""

from pathlib import Path

from holdfast.app.locations import project_root
from holdfast.app.problems import ConfigurationError
from holdfast.app.toml_text import read_text

_BRANCH = "ref: refs/heads/"
_ELSEWHERE = "gitdir: "
_LONGEST = 200


def branch_in(workspace: Path) -> str | None:
    """The branch; None: there is no repository, or it stands on no branch."""
    git = project_root(workspace) / ".git"
    try:
        if git.is_file():  # a worktree or a submodule: its files lie elsewhere
            text = read_text(git) or ""
            if not text.startswith(_ELSEWHERE):
                return None
            git = git.parent / text.removeprefix(_ELSEWHERE).strip()
        head = read_text(git / "HEAD") or ""
    except (ConfigurationError, OSError, ValueError):
        return None
    name = head.removeprefix(_BRANCH).strip()
    is_name = head.startswith(_BRANCH) and name.isprintable() and " " not in name
    return name if is_name and 0 < len(name) <= _LONGEST else None
