"""Nothing in the tree names a registry's host or a path of the machine it was written on."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

HOSTS = re.compile(r"\b(?:[a-z0-9-]+\.)*(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com))\b")
MACHINE = re.compile(r"/(?:root|home/[a-z]+)/\.|\.pyenv/|/work/\w")


def test_no_tracked_file_names_a_registry_or_a_private_path() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    offenders: list[str] = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path == Path(__file__) or not path.is_file():
            continue
        text = path.read_text("utf-8", errors="replace")
        if HOSTS.search(text) or MACHINE.search(text) or str(ROOT) in text:
            offenders.append(name)
    assert offenders == []
