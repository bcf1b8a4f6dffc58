"""The files that show a session's shell to its own hand: texts from values.

Of variables their names are told alone.
"""

from collections.abc import Mapping, Sequence

from holdfast.contract.json_value import encode_json
from holdfast.contract.managed.shell import CommandText
from holdfast.contract.managed.shell_views import CommandRecord, ShellState


def shell_files(state: ShellState, last: CommandText | None) -> Mapping[str, str]:
    """By name, what each file says."""
    return {
        "shell-state.json": _json(state),
        "shell-history.json": _json(
            {"cwd": state.cwd, "env": state.env, "commands": state.recent_commands}
        ),
        "shell-history.md": history_page(state),
        "shell-last-output.json": _json({"cwd": state.cwd, "last_command": last}),
        "shell-last-output.md": output_page(last),
    }


def history_page(state: ShellState) -> str:
    """The newest commands, for reading."""
    told = [
        "# Recent commands",
        "",
        f"Directory: {state.cwd}",
        f"Variables: {', '.join(state.env.keys) or 'none'}",
        "",
        *_each(state.recent_commands),
    ]
    return "\n".join(told) + "\n"


def _each(commands: Sequence[CommandRecord]) -> list[str]:
    if not commands:
        return ["No command has run."]
    told: list[str] = []
    for one in commands:
        how = "timed out" if one.timed_out else f"exit {one.exit_code}"
        told += [f"## {one.command_id}", "", f"{how}, in {one.cwd}, {one.updated_at}", ""]
        told += [_quoted(one.command), ""]
        if one.output_preview:
            told += [_quoted(one.output_preview), ""]
    return told


def output_page(last: CommandText | None) -> str:
    """The last command with what it printed, for reading."""
    if last is None:
        return "# Last output\n\nNo command has run.\n"
    told = ["# Last output", "", f"{last.summary}, in {last.cwd}, {last.updated_at}", ""]
    told += [_quoted(last.command), ""]
    for name, text in (("stdout", last.stdout), ("stderr", last.stderr)):
        if text:
            told += [f"## {name}", "", _quoted(text), ""]
    return "\n".join(told) + "\n"


def _quoted(text: str) -> str:
    """As a block that nothing in the text ends."""
    return "\n".join(f"    {line}" for line in text.splitlines() or [""])


def _json(value: object) -> str:
    return f"{encode_json(value).decode()}\n"
