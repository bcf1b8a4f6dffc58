"""The rows of a flow session in a file of JSON lines, written while they come."""

from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from anyio import to_thread

from holdfast.app.flow_options import LoopOptions, surroundings_of
from holdfast.app.state_file import make_private
from holdfast.contract.chunks import Chunk
from holdfast.contract.json_value import encode_json
from holdfast.envelope.redact import Redactor
from holdfast.record.flow_log import FlowLog
from holdfast.runtime.flow_session import Session

_FOLDER = "flows"
_decoder = msgspec.json.Decoder(Chunk)


class FlowFile:
    """Keeps one session, or nothing; left without its end, the file stays a partial."""

    def __init__(self, log: FlowLog | None, redactor: Redactor) -> None:
        self._log = log
        self._redactor = redactor
        self._rows = 0

    async def grown(self, session: Session, /) -> None:
        """Write the rows that are not there yet."""
        if self._log is not None:
            rows = session.chunk_table.rows
            new, self._rows = rows[self._rows :], len(rows)
            await to_thread.run_sync(self._log.add, *map(self._clear, new))

    async def ended(self, session: Session, /) -> None:
        """Give the file its own name."""
        if self._log is not None:
            close = self._log.close
            await to_thread.run_sync(close, session.cumulative_usage, session.lineage)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._log is not None:
            self._log.abandon()

    def _clear(self, row: Chunk) -> Chunk:
        if not self._redactor.active:
            return row
        return _decoder.decode(self._redactor.json(encode_json(row)))


def opened_file(out: Session, options: LoopOptions) -> FlowFile:
    """The file that a loop is written to, if it is to be. Blocking; FlowLogError."""
    named = options.get("persist_path")
    if named is None and not options.get("persist", False):
        return FlowFile(None, Redactor())
    around = surroundings_of(options)
    path = around.data_home / _FOLDER if named is None else Path(named)
    if named is None:
        make_private(path)
    if path.is_dir():
        path /= f"{out.id}.jsonl"
    return FlowFile(FlowLog(path, out.id, out.lineage), Redactor(around.secrets))
