"""What is taken from the machine: where data is kept, and which values are secret.

Nothing is created here. Where there is no home, the data directory is a place that cannot be
written, and whatever has to write there says so.
"""

import re
from collections.abc import Mapping

from holdfast.app.environment import variables
from holdfast.app.locations import data_home
from holdfast.app.settings import Settings, Surroundings

_LAST_WORD = re.compile(
    r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|APIKEY|PGPASSWORD)(?:_[0-9]+)?$",
    re.IGNORECASE,
)
"""What the name of a variable ends in when its value is a secret, as a whole word."""


def surroundings_of_this_process(
    settings: Settings, *, environment: Mapping[str, str] | None = None
) -> Surroundings:
    """Look around. Works without a home, and without a home that can be written."""
    told = variables() if environment is None else environment
    return Surroundings(
        data_home=data_home(told),
        secrets=_secrets(told, frozenset(settings.secrets.variables)),
    )


def looks_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret."""
    return _LAST_WORD.search(name) is not None


def _secrets(environment: Mapping[str, str], declared: frozenset[str]) -> tuple[str, ...]:
    found = {
        value
        for name, value in environment.items()
        if value and (name in declared or looks_secret(name))
    }
    return tuple(sorted(found))
