"""Keeps the SDK and its HTTP client from logging for us: addresses and messages hold secrets.

What goes wrong is told in the state of a server and in the answers to its calls. Whoever uses the
SDK beside us hears of their own work as before.
"""

import logging
from contextvars import ContextVar

OURS: ContextVar[bool] = ContextVar("ours", default=False)
"""Whether the running task speaks with a server of ours."""

_LOGGERS = (
    *("client", "mcp.client.client", "mcp.client.streamable_http"),
    *("mcp.shared.jsonrpc_dispatcher", "httpx2"),
)


class _NotOurs(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - every record of ours
        return not OURS.get()


_NOT_OURS = _NotOurs()


def be_quiet() -> None:
    """From here on, what the running task and its children log through the SDK is dropped."""
    OURS.set(True)
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_NOT_OURS)
