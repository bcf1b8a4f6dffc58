"""What verbs that listen over HTTP have in common: where, for whom, and with which token."""

import stat
from collections.abc import Callable
from pathlib import Path

from holdfast.app.environment import variables
from holdfast.surfaces.cli.parsing import UsageError

LOOPBACK = "127.0.0.1"
_LEAST = 16
_OF_OTHERS = stat.S_IRGRP | stat.S_IROTH


def address_in(text: str, option: str = "--http") -> tuple[str, int]:
    """The host and the port that somebody wrote."""
    host, _, port = text.rpartition(":")
    number = int(port) if port.isascii() and port.isdigit() else -1
    if not 0 <= number <= 65535:
        raise UsageError(
            f"{option} {text}: there is no such port; write {option} 8765 or HOST:PORT"
        )
    return host.strip("[]") or LOOPBACK, number


def token_from(file: str | None, variable: str, remark: Callable[[str], None]) -> str | None:
    """What clients have to send; None: one is made up. ``remark``: for what is no obstacle."""
    given = variables().get(variable)
    if file is not None:
        try:
            given = Path(file).read_text("utf-8")
            if Path(file).stat().st_mode & _OF_OTHERS:
                remark(f"--token-file {file} can be read by others; run: chmod 600 {file}")
        except (OSError, UnicodeDecodeError) as problem:
            raise UsageError(f"--token-file {file}: {problem}") from None
    if given is None:
        return None
    token = given.strip()
    if len(token) < _LEAST or not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(f"the token has to be {_LEAST} plain characters or more, without spaces")
    return token
