"""Paths as texts: no disk is asked."""


def is_within(path: str, root: str) -> bool:
    """Whether the path is the root or lies below it; both absolute and without dots."""
    return path == root or path.startswith(root if root.endswith("/") else root + "/")
