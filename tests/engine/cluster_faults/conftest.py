"""The rounds need a machine for themselves: they are run by `make soak`, beside the long ones."""

import pytest


@pytest.fixture(autouse=True)
def in_a_soak_run(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-soak"):
        pytest.skip("a soak run; start it with: make soak SEED=1 MINUTES=10")
