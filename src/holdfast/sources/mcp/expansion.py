"""Variables in the texts of a server: ``${NAME}``, ``${NAME:-default}``, ``${env:NAME}``.

Text in, text out. What the variables are is handed in.
"""

import re
from collections.abc import Mapping

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.sources.mcp.setup import BadSetup, ServerSetup

VARIABLE = late_pattern(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
"""One variable: its name, and what stands in its place where it is not set."""
_ASKED = late_pattern(r"\$\{(input|command|prompt):")


def expand(text: str, environment: Mapping[str, str]) -> str:
    """The text with its variables replaced, once: what they hold is not looked at again."""
    asked = _ASKED.search(text)
    if asked is not None:
        raise BadSetup(
            f"${{{asked.group(1)}:...}} is asked for by an editor and means nothing here; name an"
            " environment variable instead"
        )

    def value(found: re.Match[str]) -> str:
        name, default = found.groups()
        given = environment.get(name)
        if given is not None and (given or default is None):
            return given
        if default is None:
            raise BadSetup(
                f"the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
            )
        return default

    return VARIABLE.sub(value, text)


def expanded(setup: ServerSetup, environment: Mapping[str, str]) -> ServerSetup:
    """The server with every variable replaced; BadSetup names the server and what is missing."""

    def text(given: str) -> str:
        return expand(given, environment)

    def texts(given: Mapping[str, str]) -> dict[str, str]:
        return {name: text(value) for name, value in given.items()}

    try:
        return msgspec.structs.replace(
            setup,
            command=None if setup.command is None else text(setup.command),
            args=tuple(map(text, setup.args)),
            env=texts(setup.env),
            cwd=None if setup.cwd is None else text(setup.cwd),
            url=None if setup.url is None else text(setup.url),
            headers=texts(setup.headers),
            token_file=None if setup.token_file is None else text(setup.token_file),
        )
    except BadSetup as problem:
        said = str(problem).removeprefix(f"mcp server {setup.name}: ")
        raise BadSetup(f"mcp server {setup.name}: {said}") from None
