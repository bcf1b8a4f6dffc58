"""A runtime to hand to bodies; nothing of it is ever reached here but its identity."""

from collections.abc import Callable

import anyio
import pytest

from holdfast.contract.runtime import Progress, Runtime, SessionFacts


class NeverAborted:
    aborted = False

    async def wait(self) -> None:
        await anyio.sleep_forever()

    def subscribe(self, stop: Callable[[], None], /) -> Callable[[], None]:
        return lambda: None


def ignore(progress: Progress, /) -> None:
    pass


@pytest.fixture
def runtime() -> Runtime:
    session = SessionFacts(id="ses_1")
    return Runtime(call_id="cal_1", session=session, progress=ignore, abort=NeverAborted())
