"""The background jobs of all sandboxes of a session, as one list.

A session may have several sandboxes: one per policy, and a new one when what it must keep out has
changed. Whoever asks for a job does not know in which it runs.
"""

from holdfast.contract.errors import InvalidArguments
from holdfast.contract.shell import JobFacts, JobWait
from holdfast.execution.processes.jobs import SessionJobs


class AllJobs:
    """Finds a job wherever it runs."""

    def __init__(self) -> None:
        self._of_sandboxes: list[SessionJobs] = []

    def include(self, jobs: SessionJobs) -> None:
        """Those of a further sandbox."""
        self._of_sandboxes.append(jobs)

    def forget(self) -> None:
        """The session is over, and every job with it."""
        self._of_sandboxes.clear()

    def all(self) -> tuple[JobFacts, ...]:
        """Every job of the session, the oldest first."""
        found = [facts for jobs in self._of_sandboxes for facts in jobs.all()]
        return tuple(sorted(found, key=lambda facts: facts.started_at))

    def poll(self, job: str, /) -> JobFacts:
        """How it stands; InvalidArguments when there is no such job."""
        return self._home_of(job).poll(job)

    async def wait(
        self, job: str, /, *, seconds: float, port: int | None = None, pattern: str | None = None
    ) -> JobWait:
        """Wait until it ends, until it listens on a port, or until its log holds a pattern."""
        return await self._home_of(job).wait(job, seconds=seconds, port=port, pattern=pattern)

    def tail(self, job: str, /, *, max_bytes: int = 16_384) -> str:
        """The end of what it printed, 64 KiB at most."""
        return self._home_of(job).tail(job, max_bytes=max_bytes)

    async def kill(self, job: str, /, *, grace: float = 3.0) -> JobFacts:
        """End it and all it started; harmless when it has ended."""
        return await self._home_of(job).kill(job, grace=grace)

    def _home_of(self, job: str) -> SessionJobs:
        for jobs in self._of_sandboxes:
            if jobs.has(job):
                return jobs
        raise InvalidArguments(f"there is no job '{job}'", field="job")
