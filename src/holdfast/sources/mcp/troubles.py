"""How calls of MCP tools fail: which kind, and what to do next. Words and errors; no protocol."""

from typing import ClassVar

from holdfast.contract.errors import (
    InvalidArguments,
    OperationFailed,
    OperationTimedOut,
    PolicyDenied,
    ToolError,
    Unavailable,
)
from holdfast.contract.json_value import JsonValue
from holdfast.contract.truncate import cut_text

LONGEST_SAID = 2000

_CLOSED = -32000
_TIMED_OUT = -32001
_NO_METHOD = -32601
_BAD_PARAMS = -32602
_OPEN_AN_ADDRESS = -32042


class NotThere(Unavailable):
    """The server is not there, and trying again does not change that."""

    retryable: ClassVar[bool | None] = False


def unavailable(server: str, why: str, *, lasting: bool = False) -> Unavailable:
    """No call reaches the server."""
    message = f"mcp server {server} is unavailable: {why}"
    return NotThere(message) if lasting else Unavailable(message)


def unknown_server(server: str) -> Unavailable:
    """There is none of that name."""
    return unavailable(server, "there is no server of that name", lasting=True)


def timed_out(server: str, tool: str, seconds: float) -> OperationTimedOut:
    """Nobody answered in time."""
    return OperationTimedOut(
        f"mcp server {server} did not answer the call of {tool} within {seconds:g} s; the call was"
        " cancelled there. What it had begun may have happened."
    )


def quarantined(server: str, tool: str, summary: str) -> PolicyDenied:
    """The tool is not the one that was accepted."""
    return PolicyDenied(
        f"The tool {tool} of the MCP server {server} is quarantined: {summary}. A person looks at"
        f" the change and accepts it with: holdfast mcp pin {server}",
        extras={"server": server, "tool": tool},
    )


def changed_meanwhile(server: str, tool: str) -> Unavailable:
    """What the model was told of a tool that nobody has used yet is not true any more."""
    return Unavailable(
        f"The tool {tool} of the MCP server {server} was changed after it was offered; it was not"
        " called. It is offered as it is now with the next turn."
    )


def of_error(server: str, code: int, said: str, data: JsonValue, how: str) -> ToolError:
    """An error that the protocol reports; ``how``: what is known of the server's end."""
    said = cut_text(said, LONGEST_SAID)
    if code == _CLOSED:
        return unavailable(server, how or said)
    if code == _TIMED_OUT:
        return OperationTimedOut(f"mcp server {server} gave up: {said}")
    if code == _BAD_PARAMS:
        return InvalidArguments(f"mcp server {server} refused the arguments: {said}")
    if code == _NO_METHOD:
        return unavailable(server, f"it does not know the request ({said})", lasting=True)
    if code == _OPEN_AN_ADDRESS:
        return OperationFailed(
            f"mcp server {server} wants a person to open an address first: {_addresses(data)}."
            " Nothing here opens it; show it to the person, and call again afterwards."
        )
    return OperationFailed(f"mcp server {server} reports an error ({code}): {said}")


def _addresses(data: JsonValue) -> str:
    asked = data.get("elicitations") if isinstance(data, dict) else None
    entries = asked if isinstance(asked, list) else []
    found = [one.get("url") for one in entries if isinstance(one, dict)]
    named = " ".join(url for url in found if isinstance(url, str))
    return cut_text(named, LONGEST_SAID) or "none is named"
