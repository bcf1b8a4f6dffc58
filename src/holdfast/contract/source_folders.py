"""Which folders hold no source of a project: what tools make, fetch or keep for themselves."""

NOT_SOURCE = frozenset(
    {
        ".git", ".hg", ".svn", ".bzr", ".jj",
        "node_modules", "bower_components", "vendor", "site-packages",
        ".venv", "venv", ".tox", ".nox", ".eggs", "__pycache__", "__pypackages__",
        "build", "dist", "out", "target", "_build", ".next", ".nuxt", ".gradle", ".terraform",
        ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".parcel-cache",
        "coverage", "htmlcov", ".idea", ".vscode", "DerivedData",
    }
)  # fmt: skip
"""By name, wherever they are."""
