"""What `holdfast doctor` says of the built-in tools and of the agent for editors: the programs and
packages they use."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec

from holdfast.contract.errors import Unavailable
from holdfast.execution.search.program import ripgrep
from holdfast.surfaces.cli.looks import Finding

_EXTRAS = {
    "acp": (("acp",), "editors cannot start holdfast acp"),
    "web": (("trafilatura", "pypdf"), "web_fetch reads pages plainly and no PDF files"),
    "images": (("PIL",), "view_image shows no pictures"),
    "vectors": (("numpy", "usearch"), "retrieval_search finds words, and not what means the same"),
}
"""By extra: the modules it brings, and what holds without it."""


def check_builtin_tools() -> Iterator[Finding]:
    """Is there all that they use?"""
    yield check_ripgrep()
    yield check_git()
    for extra, (modules, without) in _EXTRAS.items():
        yield check_extra(extra, modules, without)


def check_ripgrep() -> Finding:
    """grep and glob are its work."""
    try:
        return Finding("OK", "grep and glob", ripgrep())
    except Unavailable as problem:
        what, _, step = str(problem).partition(": ")
        return Finding("FAIL", "grep and glob", what, step)


def check_git() -> Finding:
    """repo_clone is its work."""
    found = shutil.which("git")
    if found is not None:
        return Finding("OK", "repo_clone", found)
    return Finding("WARN", "repo_clone", "there is no git", "install the package git")


def check_extra(extra: str, modules: tuple[str, ...], without: str) -> Finding:
    """Is an optional part there?"""
    missing = [module for module in modules if find_spec(module) is None]
    name = f"holdfast[{extra}]"
    if not missing:
        return Finding("OK", name, "installed")
    return Finding(
        "WARN", name, f"not installed: {without}", f"run: pip install 'holdfast[{extra}]'"
    )
