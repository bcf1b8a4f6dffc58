"""The language servers of a session: those that are configured, and those that need not be."""

from collections.abc import Mapping

from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import LanguageServerSettings
from holdfast.execution.language_servers import known, server


def language_servers(
    configured: Mapping[str, LanguageServerSettings], environment: Mapping[str, str]
) -> "tuple[server.ServerCommand, ...]":
    """All of them, the configured ones first; ConfigurationError names what does not fit."""
    found = [_server(name, one) for name, one in configured.items() if one.command]
    if known.PYTHON not in configured:
        shipped = known.python_server(environment)
        found += [] if shipped is None else [shipped]
    return tuple(found)


def _server(name: str, one: LanguageServerSettings) -> "server.ServerCommand":
    extensions = one.extensions or (known.PYTHON_EXTENSIONS if name == known.PYTHON else ())
    if not extensions:
        raise ConfigurationError(
            f"lsp.{name}.extensions: it names no files, so nobody would ever ask this server;"
            ' write for example extensions = [".go"]'
        )
    wrong = next((text for text in extensions if not text.startswith(".") or len(text) < 2), None)
    if wrong is not None:
        raise ConfigurationError(
            f"lsp.{name}.extensions: {wrong!r} is no extension; write it with its dot, as in .go"
        )
    return server.ServerCommand(name, one.command, tuple(text.lower() for text in extensions))
