"""One job of parsing, in a process of its own: load the reader, give everything up, read, answer.

It is started before there is a job and waits for one, not for ever. After its one job it ends, so
nothing of one page is left when the next is read. On its lines a message is a JSON object and bytes
behind it; what either says is the readers' to know.
"""

import importlib
import json
import logging
import os
import signal
import struct
from typing import BinaryIO, cast

from holdfast.contract.json_value import JsonObject
from holdfast.execution.extraction.confined import confine_thread, limit
from holdfast.execution.extraction.families import READERS, Answer, Family, Parse, Unparsable
from holdfast.execution.kernel import landlock

HEAD = struct.Struct("=IQ")
"""How long the object is, and how long the bytes are."""

IDLE_SECONDS = 60
JOB_SECONDS = 30
"""Longer than whoever asks waits: for when nobody is there any more to end it."""
MEMORY_BYTES = 1 << 30


def main(family: Family) -> None:
    """Called in a fresh interpreter, with its lines as standard input and output."""
    signal.alarm(IDLE_SECONDS)
    lines = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not be read as an answer
    # What a library says of broken files is not said to anybody.
    logging.disable(logging.CRITICAL)
    loaded = _loaded(family)
    if isinstance(loaded, Answer):
        _send(lines[1], loaded)
        return
    job = _begun(lines[0])
    if job is not None:
        _send(lines[1], _answered(loaded, *job))


def packed(facts: JsonObject, content: bytes) -> bytes:
    """A message as it is sent, up to its bytes."""
    head = json.dumps(facts).encode()
    return HEAD.pack(len(head), len(content)) + head


def _loaded(family: Family) -> Parse | Answer:
    """The family's reader, or why there is none."""
    reader = READERS[family]
    try:
        module = importlib.import_module(reader.module)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in reader.packages:
            raise
        if reader.without is None:
            return Answer({"missing": reader.extra})
        module = importlib.import_module(reader.without)
    module.warm_up()
    return cast("Parse", module.parse)


def _begun(line: BinaryIO) -> tuple[JsonObject, bytes] | None:
    """The job, read by a process that can do nothing else any more; None when none came."""
    limit(MEMORY_BYTES, JOB_SECONDS)
    confine_thread(landlock.version())
    head = line.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    length, size = HEAD.unpack(head)
    asked = cast("JsonObject", json.loads(line.read(length)))
    signal.alarm(JOB_SECONDS)
    return asked, line.read(size)


def _answered(parse: Parse, asked: JsonObject, content: bytes) -> Answer:
    try:
        return parse(asked, content)
    except Unparsable as problem:
        return Answer({"unparsable": str(problem)})
    except MemoryError:
        return Answer({"unparsable": "it takes more memory than there is for it"})
    except RecursionError:
        return Answer({"unparsable": "it is nested too deeply"})


def _send(line: BinaryIO, answer: Answer) -> None:
    line.write(packed(answer.facts, answer.content))
    line.write(answer.content)
    line.flush()
