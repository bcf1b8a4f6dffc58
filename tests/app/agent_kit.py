"""What the tests of agents share: ground to compile them on, and the error that comes of it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.app.agents import Ground, compiled
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.agents import Agent
from holdfast.contract.delegation import AgentMode

TOOLS = frozenset({"read", "write", "bash", "weather"})


def around(folder: Path) -> Surroundings:
    """A home of the test's own, and holdfast's files below it."""
    home = folder / "home"
    return Surroundings(
        data_home=home / "share",
        state_home=home / "state",
        config_home=home / "config",
        environment={"HOME": str(home)},
    )


def ground_in(
    folder: Path,
    *,
    settings: Settings | None = None,
    agents: Mapping[str, AgentMode] | None = None,
) -> Ground:
    """A workspace beside a home."""
    workspace = folder / "ws"
    for made in (workspace, folder / "home"):
        made.mkdir(exist_ok=True)
    return Ground(
        settings=settings or Settings(),
        surroundings=around(folder),
        workspace=workspace,
        profile="bare",
        tools=lambda: TOOLS,
        agents=agents or {},
    )


def problem_of(agent: Agent, ground: Ground) -> str:
    """Why it cannot be compiled."""
    with pytest.raises(ConfigurationError) as raised:
        compiled(agent, ground)
    return str(raised.value)
