"""The cluster engine does what every engine does, on a real PostgreSQL and a real NATS."""

import pytest
from engine.cluster.fleets import Fleet

from holdfast.testing.engine_kit import check_engine

pytestmark = pytest.mark.anyio


@pytest.mark.req("BOA-WAKE-08")
@pytest.mark.timeout(60)
async def test_the_cluster_engine_passes_the_kit(fleet: Fleet) -> None:
    await check_engine(fleet.journal, fleet.make())
