"""What of a run can be seen to be wrong before it begins: who is to work, and what it may cost."""

from holdfast.app.agent_settings import DEFAULT_AGENT, AgentSettings
from holdfast.app.model_settings import ModelSettings
from holdfast.app.models import chosen_model, counts_cost
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings

_EXAMPLE = "prices = { input = 3, output = 15 }"
_UNCOUNTED = "without them nothing is counted"


def check_agent(settings: Settings, agent: str | None) -> None:
    """ConfigurationError for an agent that only other agents start."""
    if agent is not None and _table(settings, agent).mode == "subagent":
        raise ConfigurationError(
            f'the agent {agent!r} has mode = "subagent": other agents hand work to it, and no'
            f' person starts it; name another one, or write mode = "all" in [agent.{agent}]'
        )


def table_name(settings: Settings, agent: str | None, model: str | None) -> str | None:
    """What the model's table is called; None: it has none. ConfigurationError."""
    name, _ = chosen_model(settings, model or _table(settings, agent).model)
    return name if name in settings.model else None


def check_cost(
    settings: Settings, agent: str | None, model: str | None, most: float | None
) -> None:
    """ConfigurationError for a limit of cost where it is not known what the model costs.

    ``model``: what `--model` says; ``most``: what `--max-cost` says.
    """
    table = _table(settings, agent)
    if most is None and table.limits.cost is None:
        return
    name, found = chosen_model(settings, model or table.model)
    if not counts_cost(found):
        limit = f"limits.cost of [agent.{agent or DEFAULT_AGENT}]" if most is None else "--max-cost"
        raise ConfigurationError(f"{limit} needs {_where(name, found, settings)}; {_UNCOUNTED}")


def _where(name: str, model: ModelSettings, settings: Settings) -> str:
    """Which prices, and where to write them."""
    if name in settings.model:
        return f"{_EXAMPLE} in [model.{name}]"
    return (
        f'a [model.NAME] table with kind = "{model.kind}", model = "{model.model}" and {_EXAMPLE},'
        " and --model NAME"
    )


def _table(settings: Settings, agent: str | None) -> AgentSettings:
    """The agent's table; one that is not there is said elsewhere."""
    return settings.agent.get(agent or DEFAULT_AGENT) or AgentSettings()
