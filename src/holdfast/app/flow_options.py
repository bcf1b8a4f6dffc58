"""What a flow loop may be given beside sessions, model and tools. Misspelt options are errors."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypedDict, cast

from holdfast.agent.flow.ports import Executor
from holdfast.agent.flow.rounds import OnBudget
from holdfast.app.configuration import Configuration, load_configuration
from holdfast.app.options import Options
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.spelling import advice
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.model import Heard
from holdfast.contract.ports import Approver, Clock
from holdfast.contract.rules import Rule
from holdfast.contract.watchdog import Hook

MOST_ROUNDS = 64


class SettlingOptions(TypedDict, total=False):
    """How calls are settled: the same as for `holdfast.Holdfast`."""

    settings: Settings
    configuration: Configuration
    surroundings: Surroundings
    approver: Approver | None
    rules: Iterable[Rule]
    hooks: Iterable[Hook]
    clock: Clock


class LoopOptions(SettlingOptions, total=False):
    """All of them."""

    executor: Executor | None
    """Completes and dispatches instead of the model and the pipeline; nothing is journaled then."""
    max_tool_rounds: int
    on_event: Heard | None
    """Told of each piece of a reply as it comes."""
    budget_total_tokens: int | None
    on_budget_exceeded: OnBudget | None
    """Told once, with the session and what it cost; raising ends the loop."""
    persist: bool
    """Write the rows to a file as well, as they come."""
    persist_path: str | Path | None
    """Which one, or a folder for a file named after the session; without it, in the data folder."""


_SETTLING = SettlingOptions.__optional_keys__
_ALL = LoopOptions.__optional_keys__


def checked(options: LoopOptions, name: str) -> LoopOptions:
    """The same; TypeError and ValueError say what cannot be."""
    _refuse_unknown(options, _ALL, name)
    if options.get("max_tool_rounds", MOST_ROUNDS) < 1:
        raise ValueError("max_tool_rounds must be at least 1")
    if options.get("executor") is not None and options.get("on_event") is not None:
        raise ValueError(
            "on_event is told of a model's pieces, and a custom executor has none; leave one out"
        )
    return options


def checked_settling(options: SettlingOptions, name: str) -> SettlingOptions:
    """The same; TypeError says what there is not."""
    _refuse_unknown(options, _SETTLING, name)
    return options


def settling(options: Mapping[str, object]) -> Options:
    """What of them is for settling calls."""
    return cast("Options", {name: one for name, one in options.items() if name in _SETTLING})


def settings_of(options: SettlingOptions | LoopOptions) -> Settings:
    """What is configured for a loop; files are read where nothing was handed in."""
    settings = options.get("settings")
    if settings is not None:
        return settings
    return (options.get("configuration") or load_configuration(None)).settings


def surroundings_of(options: SettlingOptions | LoopOptions) -> Surroundings:
    """What a loop takes from the machine."""
    given = options.get("surroundings")
    return surroundings_of_this_process(settings_of(options)) if given is None else given


def _refuse_unknown(options: Iterable[str], taken: frozenset[str], name: str) -> None:
    known = sorted(taken)
    for option in options:
        if option not in taken:
            raise TypeError(f"{name}() has no option {option!r}; {advice(option, known)}")
