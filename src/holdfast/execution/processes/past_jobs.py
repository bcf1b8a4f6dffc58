"""Jobs that ended a while ago: how they ended, and where their logs are. Nothing of them runs."""

import os
from contextlib import suppress

import msgspec

from holdfast.contract.shell import JobFacts
from holdfast.contract.truncate import cut_text
from holdfast.execution.processes.job_log import TAIL_BYTES, in_whole_characters

MOST_PAST = 1000
"""Of older ones nothing is known any more; their logs stay."""
_LONGEST_COMMAND = 1000


class PastJobs:
    """Remembers the facts of the last of them."""

    def __init__(self) -> None:
        self._facts: dict[str, JobFacts] = {}

    def add(self, facts: JobFacts) -> None:
        """One more."""
        command = cut_text(facts.command, _LONGEST_COMMAND)
        self._facts[facts.id] = msgspec.structs.replace(facts, command=command)
        if len(self._facts) > MOST_PAST:
            del self._facts[next(iter(self._facts))]

    def get(self, job: str, /) -> JobFacts | None:
        """How it ended; None: it is none of them."""
        return self._facts.get(job)

    def all(self) -> tuple[JobFacts, ...]:
        """Those that are known, the one first that was added first."""
        return tuple(self._facts.values())


def end_of_log(facts: JobFacts, max_bytes: int) -> str:
    """The end of what it printed, as its log has it; nothing where that is gone."""
    if facts.log_path is None or max_bytes <= 0:
        return ""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        log = os.open(facts.log_path, flags)
        try:
            wanted = min(max_bytes, TAIL_BYTES)
            begin = max(0, os.fstat(log).st_size - wanted)
            return in_whole_characters(os.pread(log, wanted, begin))
        finally:
            os.close(log)
    return ""
