"""A first manifest: a tools.json with one tool, and the program behind it. Nothing is replaced."""

import os
from pathlib import Path

from holdfast.app.problems import ConfigurationError

FILE = "tools.json"
TOOL = "count_lines"

MANIFEST = """\
{
  "tools": [
    {
      "name": "count_lines",
      "description": "Count the lines of a file of the workspace, e.g. path='README.md'.",
      "schema": {
        "type": "object",
        "properties": {
          "path": {"type": "string", "description": "the file, seen from the workspace"}
        },
        "required": ["path"],
        "additionalProperties": false
      },
      "command": ["./tools/bin/count_lines"],
      "timeoutSec": 10,
      "requires": {"fs": {"read": ["{workspace}/**"]}}
    }
  ]
}
"""

PROGRAM = r"""#!/usr/bin/env bash
# A tool program: the arguments come as JSON on standard input, one line of JSON goes out.
set -euo pipefail

fail() { # one line of JSON on standard error, and an exit status that is not 0
    printf '{"error":"%s","hint":"%s"}\n' "$1" "$2" >&2
    exit 1
}

arguments=$(cat)
pattern='"path"[[:space:]]*:[[:space:]]*"([^"\\]+)"'
[[ $arguments =~ $pattern ]] || fail "the path cannot be read" "use no quotes or backslashes in it"
path=${BASH_REMATCH[1]}
[[ -f $path ]] || fail "there is no file $path" "name one that is in the workspace"
printf '{"path":"%s","lines":%d}\n' "$path" "$(wc -l <"$path")"
"""

_EVERYBODY_RUNS = 0o755
_EVERYBODY_READS = 0o644


def begin_manifest(folder: Path) -> tuple[Path, Path]:
    """Write both files; ConfigurationError where one is there already, and then neither is."""
    manifest, program = folder / FILE, folder / "tools" / "bin" / TOOL
    for path in (manifest, program):
        if os.path.lexists(path):
            raise ConfigurationError(f"{path} is there already; name another folder, or remove it")
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        _write(program, PROGRAM, _EVERYBODY_RUNS)
        _write(manifest, MANIFEST, _EVERYBODY_READS)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ConfigurationError(
            f"{problem.filename or folder}: it cannot be written ({reason}); name another folder"
        ) from None
    return manifest, program


def _write(path: Path, text: str, mode: int) -> None:
    """A new file; one that appeared meanwhile is not replaced."""
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with open(made, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is a descriptor
        file.write(text)
