"""What a search that names no directory passes over: ignore files count, and some directories.

Version control, what package managers fetch, what is built, and caches: directories that tools
make. `build`, `dist` and `target` are names people use for sources, too: what is passed over is
counted, and who names such a directory gets everything in it.
"""

SKIPPED = (
    *(".git", ".hg", ".svn", ".jj", ".bzr", "CVS"),
    *("node_modules", "bower_components", ".yarn", ".pnpm-store", ".venv", "venv", ".tox", ".nox"),
    *("build", "dist", "target", ".next", ".nuxt", ".eggs", ".gradle", ".terraform"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache", ".turbo"),
    *(".parcel-cache",),
)

_BASE = ("--no-config", "--color=never", "--hidden", "--no-follow", "--no-ignore-global")
_SKIPS = tuple(f"--glob=!{name}/" for name in SKIPPED)


def passing_over(*, skips: bool) -> tuple[str, ...]:
    """How ripgrep is told."""
    return (*_BASE, *_SKIPS) if skips else (*_BASE, "--no-ignore")
