"""The tool table of one flow loop: a copy of the built-ins, then the user's tools in order."""

from collections.abc import Iterable, Mapping

from holdfast.contract.flow import FlowToolCall
from holdfast.runtime.definitions import function_definition


class ToolNameConflictError(ValueError):
    """Two tools of one name in one table."""


def build_table(
    builtins: Mapping[str, FlowToolCall], user_tools: Iterable[FlowToolCall]
) -> dict[str, FlowToolCall]:
    """Put the table together; nothing is ever shadowed."""
    table = dict(builtins)
    for tool in user_tools:
        if tool.name in builtins:
            raise ToolNameConflictError(f"user tool '{tool.name}' shadows a built-in system tool")
        if tool.name in table:
            raise ToolNameConflictError(f"user tool '{tool.name}' is given twice")
        table[tool.name] = tool
    return table


def table_schemas(table: Mapping[str, FlowToolCall]) -> list[dict[str, object]]:
    """What the model is told: every tool of the table, sorted by name."""
    return [
        function_definition(name, table[name].description, table[name].parameters or None)
        for name in sorted(table)
    ]
