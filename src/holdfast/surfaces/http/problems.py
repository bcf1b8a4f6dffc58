"""What went wrong, for whoever asked: a status, a code, words, and what to do next.

Whatever is raised while a request is answered is worded here, and nowhere else.
"""

import logging
from collections.abc import Sequence

import msgspec
from starlette.responses import Response

from holdfast.app.problems import ConfigurationError, MissingProgramError, ToolFileError
from holdfast.contract.journal import (
    JournalError,
    JournalUnavailable,
    LeaseHeld,
    NotFitting,
    UnknownSession,
)
from holdfast.contract.model import ModelError

_log = logging.getLogger("holdfast")

CODES = {
    400: "malformed",
    401: "no_token",
    403: "stranger",
    404: "not_found",
    405: "no_such_method",
    409: "conflict",
    413: "too_large",
    415: "wrong_media_type",
    422: "invalid",
    429: "too_many",
    500: "broken",
    502: "model_failed",
    503: "unavailable",
}
"""By status: what programs tell problems apart by."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no answer."""

    code: str
    message: str
    next: str | None = None
    """What to do about it."""


class TroubleAnswer(msgspec.Struct, frozen=True):
    """The body of every answer that is none."""

    error: Trouble


class Problem(Exception):
    """There is no answer to a request, and why."""

    def __init__(self, status: int, message: str, step: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.step = step


_STATUSES: Sequence[tuple[type[Exception], int]] = (
    (UnknownSession, 404),
    (NotFitting, 409),
    (LeaseHeld, 409),
    (JournalUnavailable, 503),
    (JournalError, 409),
    (MissingProgramError, 503),
    (ConfigurationError, 422),
    (ToolFileError, 422),
    (ModelError, 502),
)
"""What is raised below, the most special first."""
_encode = msgspec.json.Encoder().encode


def refusal(status: int, message: str, step: str | None = None) -> Response:
    """An answer that says why there is none."""
    told = TroubleAnswer(Trouble(code=CODES[status], message=message, next=step))
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return Response(_encode(told), status, headers, "application/json")


def status_of(problem: Exception) -> int | None:
    """Of the answer that says what was raised; None: nobody expected that."""
    if isinstance(problem, Problem):
        return problem.status
    return next((status for kind, status in _STATUSES if isinstance(problem, kind)), None)


def worded(problem: Exception) -> Response:
    """An answer that says what was raised."""
    if isinstance(problem, Problem):
        return refusal(problem.status, problem.message, problem.step)
    if (status := status_of(problem)) is not None:
        step = problem.step if isinstance(problem, MissingProgramError) else None
        return refusal(status, str(problem), step)
    _log.error("a request could not be answered", exc_info=problem)
    return refusal(500, f"unexpected {type(problem).__name__}; the server's log says more")
