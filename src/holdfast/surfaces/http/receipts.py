"""Writing once, however often it is asked: what was answered to a key, kept for a day.

It is kept in a file of this person, so that it holds over a restart. A write whose end is not
known, as the server was killed in the middle, is not done again. What is written is not known here.
"""

import hashlib
import re
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from holdfast.contract.ports import Clock
from holdfast.surfaces.http.problems import Problem, status_of

HEADER = "idempotency-key"
MOST_KEY = 200
_KEY = re.compile(rf"[!-~]{{1,{MOST_KEY}}}")
KEPT_SECONDS = 24 * 3600
_TABLE = (
    "CREATE TABLE IF NOT EXISTS receipts (key TEXT PRIMARY KEY, request TEXT NOT NULL,"
    " at INTEGER NOT NULL, status INTEGER, body BLOB, media TEXT) STRICT"
)
_UNDER_WAY = (
    "the first request of this key is under way, or the server ended in the middle of it; look what"
    " came of it before you send it again under a new key"
)
_OTHER = "this key was used for another request; use a new one"
_encode = msgspec.json.Encoder(order="deterministic").encode


class Receipt(msgspec.Struct, frozen=True):
    """What was answered before."""

    status: int
    body: bytes
    media: str | None


class Receipts:
    """The file of them. Blocking work is done in threads."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()

    async def once(
        self, request: Request, sent: bytes, write: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Do it, unless it was done under its key; Problem. ``sent``: JSON, all of it, or nothing.

        What a route does not name is compared as well: the words of an event are such.
        """
        key = request.headers.get(HEADER)
        if key is None:
            return await write()
        if not _KEY.fullmatch(key):
            raise Problem(422, f"an {HEADER} has 1 to {MOST_KEY} plain characters, without spaces")
        told = hashlib.sha256(
            f"{request.method} {request.url.path}\n".encode()
            + _encode(msgspec.json.decode(sent) if sent else None)
        ).hexdigest()
        known = await to_thread.run_sync(self._begin, key, told)
        if known is not None:
            return Response(known.body, known.status, {"idempotent-replayed": "true"}, known.media)
        try:
            answer = await write()
        except Exception as problem:
            if (status_of(problem) or 500) < 500 or isinstance(problem, Problem):
                await to_thread.run_sync(self._forget, key)  # nothing was done
            raise  # else nobody knows how far it came, as when this ends in the middle
        given = Receipt(answer.status_code, bytes(answer.body), answer.media_type)
        await to_thread.run_sync(self._end, key, given)
        return answer

    def _begin(self, key: str, told: str) -> Receipt | None:
        """Claim a key; what was answered to it before. Problem."""
        now = self._clock.unix_ns() // 1_000_000_000
        with self._lock, closing(self._opened()) as file, file:
            file.execute("DELETE FROM receipts WHERE at < ?", (now - KEPT_SECONDS,))
            claimed = file.execute(
                "INSERT INTO receipts (key, request, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (key, told, now),
            ).rowcount
            if claimed:
                return None
            found = file.execute(
                "SELECT request, status, body, media FROM receipts WHERE key = ?", (key,)
            ).fetchone()
        request, status, body, media = found
        if request != told:
            raise Problem(422, _OTHER)
        if status is None:
            raise Problem(409, _UNDER_WAY)
        return Receipt(status, body, media)

    def _end(self, key: str, given: Receipt) -> None:
        with self._lock, closing(self._opened()) as file, file:
            file.execute(
                "UPDATE receipts SET status = ?, body = ?, media = ? WHERE key = ?",
                (given.status, given.body, given.media, key),
            )

    def _forget(self, key: str) -> None:
        with self._lock, closing(self._opened()) as file, file:
            file.execute("DELETE FROM receipts WHERE key = ? AND status IS NULL", (key,))

    def _opened(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            self._path.chmod(0o600)
            file = sqlite3.connect(self._path, timeout=10)
            file.execute(_TABLE)
        except (OSError, sqlite3.Error) as problem:
            raise Problem(
                503, f"no {HEADER} can be kept: {problem}", f"see to {self._path}, or send none"
            ) from problem
        return file
