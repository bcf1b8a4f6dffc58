"""What stores refuse, as tools tell it: what is the matter, and which call leads on."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import msgspec

from holdfast.contract.errors import InvalidArguments, Unavailable
from holdfast.contract.journal import JournalError
from holdfast.contract.steps import Step
from holdfast.contract.versions import PreconditionFailed, UnknownVersion, VersionError


@contextmanager
def told_by_stores(target: str = "", session: Mapping[str, str] | None = None) -> Generator[None]:
    """What a store refuses meanwhile is a failure of the call.

    ``target``: what is read or written; ``session``: the argument that names another session.
    """
    try:
        yield
    except PreconditionFailed as problem:
        step = Step(
            tool="memory_read",
            args={"target": target, **(session or {})},
            rationale="It shows what was written meanwhile, with its version_id.",
        )
        raise InvalidArguments(
            str(problem),
            field="expected_version_id",
            expected="the newest version_id, or none where there is no version",
            extras={
                "expected_version_id": problem.expected,
                "latest_version_id": problem.found,
                "next_step": msgspec.to_builtins(step),
            },
        ) from None
    except UnknownVersion as problem:
        step = Step(
            tool="memory_list_versions",
            args={"target": target, **(session or {})},
            rationale="It lists the versions there are.",
        )
        raise InvalidArguments(
            str(problem),
            field="version_id",
            extras={"next_step": msgspec.to_builtins(step)},
        ) from None
    except VersionError as problem:
        raise InvalidArguments(str(problem)) from None
    except JournalError as problem:
        raise Unavailable(f"The store cannot be used: {problem}") from None
