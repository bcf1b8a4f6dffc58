"""Who comes to NATS, and how they are received: what tests of both have in common."""

import anyio
import pytest
from identities import Papers

from holdfast.engine.cluster.door import LinkError, NatsServers, connected

PASSWORD = "s3cret-of-nats"
NOWHERE = ("nats://127.0.0.1:1",)
AT_ONCE = 5.0
"""Half of what is waited for where nobody answers."""


def nothing() -> None:
    """Somebody who does not listen."""


async def refused(servers: NatsServers) -> str:
    """What is said to whoever is not let in, or does not believe whom they met."""
    with anyio.fail_after(AT_ONCE), pytest.raises(LinkError) as told:
        await connected(servers, nothing)
    said = str(told.value)
    assert PASSWORD not in said
    assert "Traceback" not in said
    return said


def tls(papers: Papers, more: str = "") -> str:
    """What a server is told that has these papers."""
    return f'tls {{ cert_file: "{papers.cert}", key_file: "{papers.key}" {more} }}\n'


USERS = f'authorization {{ users: [ {{ user: worker, password: "{PASSWORD}" }} ] }}\n'
