"""Which projects a person trusts, and at which content.

Until then a project's own files can only narrow. Trust is bound to the hash of everything in the
project's holdfast folder: any change, and it has to be given again.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from holdfast.app.locations import PROJECT_FOLDER
from holdfast.app.problems import ConfigurationError
from holdfast.app.state_file import locked, read_bytes, replace

MAX_FILES = 2_000
MAX_BYTES = 64 * 1024 * 1024


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    """One project somebody trusts."""

    fingerprint: str
    at: datetime


_decode = msgspec.json.Decoder(dict[str, Trusted]).decode
_encode = msgspec.json.Encoder(order="sorted").encode


def fingerprint(project: Path) -> str | None:
    """The hash of the project's holdfast folder; None when there is nothing in it.

    Raises ConfigurationError for a folder that cannot be read whole: it cannot be trusted.
    """
    folder = project / PROJECT_FOLDER
    if not folder.is_dir():
        return None
    whole = hashlib.sha256()
    found = 0
    for path, content in _contents(folder):
        found += 1
        name = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
        whole.update(len(name).to_bytes(8, "big") + name)
        whole.update(len(content).to_bytes(8, "big") + content)
    return whole.hexdigest() if found else None


def files_of(project: Path) -> list[Path]:
    """What a person who trusts the project trusts."""
    folder = project / PROJECT_FOLDER
    return [path for path, _ in _contents(folder)] if folder.is_dir() else []


def _contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    left = MAX_BYTES
    paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    if len(paths) > MAX_FILES:
        raise ConfigurationError(f"{folder}: more than {MAX_FILES} files; too many to be trusted")
    for path in paths:
        if path.is_symlink() or not path.is_file():
            raise ConfigurationError(
                f"{path}: a link or special file cannot be trusted; put the file itself there"
            )
        try:
            content = path.read_bytes()
        except OSError as problem:
            raise ConfigurationError(f"{path}: it cannot be read ({problem.strerror})") from None
        left -= len(content)
        if left < 0:
            raise ConfigurationError(f"{folder}: more than {MAX_BYTES:,} bytes; too much to trust")
        yield path, content


class TrustFile:
    """The projects a person trusts."""

    def __init__(self, state_home: Path) -> None:
        self.path = state_home / "trust.json"

    def load(self) -> dict[str, Trusted]:
        """All of them; a file that cannot be read is an error, not an empty one."""
        try:
            content = read_bytes(self.path)
            return {} if content is None else _decode(content)
        except (OSError, ValueError) as problem:
            raise ConfigurationError(
                f"{self.path}: it cannot be read ({problem}); remove it to trust no project"
            ) from None

    def trusts(self, project: Path) -> bool:
        """Whether the project is trusted with exactly what it holds now."""
        known = self.load().get(str(project))
        if known is None:
            return False
        try:
            return known.fingerprint == fingerprint(project)
        except ConfigurationError:
            return False  # what cannot be read whole has changed

    def trust(self, project: Path, seen: str) -> None:
        """Trust the project with the content that was seen."""
        with locked(self.path):
            known = self.load()
            known[str(project)] = Trusted(fingerprint=seen, at=datetime.now(UTC))
            replace(self.path, _encode(known))

    def forget(self, project: Path) -> bool:
        """Trust it no longer; whether it was trusted."""
        with locked(self.path):
            known = self.load()
            if known.pop(str(project), None) is None:
                return False
            replace(self.path, _encode(known))
        return True
