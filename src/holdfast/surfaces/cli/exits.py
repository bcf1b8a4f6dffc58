"""How every verb ends, for its help and the reference: exit statuses with their meaning.

Which status it is in the end is the business of each verb. 130 (interrupted) and 141 (whoever read
the output left) mean the same for all.
"""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from types import MappingProxyType
from typing import NamedTuple

_WIDTH = 90
_WORDS = "the command line, the configuration or a file that it names cannot be used"


class Exits(NamedTuple):
    """Of one verb."""

    of_all: Mapping[int, str]
    of_words: Mapping[str, Mapping[int, str]] = MappingProxyType({})
    """Where one of its first words ends otherwise."""

    def of(self, word: str | None) -> dict[int, str]:
        """With their meaning, for the verb or for one of its words."""
        if word is not None:
            return dict(sorted({**self.of_all, **self.of_words.get(word, {})}.items()))
        said = {status: [says] for status, says in self.of_all.items()}
        alike: dict[tuple[int, str], list[str]] = {}
        for name, ends in self.of_words.items():
            for status, says in ends.items():
                alike.setdefault((status, says), []).append(name)
        for (status, says), names in alike.items():
            said.setdefault(status, []).append(f"{', '.join(names)}: {says}")
        return {status: "; ".join(said[status]) for status in sorted(said)}


def told(exits: Mapping[int, str]) -> str:
    """As help shows them."""
    rows = [row for status, says in exits.items() for row in _rows(status, says)]
    return "\n".join(("exit status:", *rows))


def _rows(status: int, says: str) -> Sequence[str]:
    return wrap(says, _WIDTH, initial_indent=f"  {status}  ", subsequent_indent="     ")


def _ends(done: str = "done", failed: str | None = None, **more: str) -> dict[int, str]:
    """``more``: what refused and waits mean, where that can be."""
    failing = {} if failed is None else {1: failed}
    also = {{"refused": 3, "waits": 4}[name]: says for name, says in more.items()}
    return {0: done, **failing, 2: _WORDS, **also}


_OF_A_RUN = _ends(
    "the agent is done",
    "the work failed, or came to a limit",
    refused="a person refused a call, and the run ended",
    waits="it waits for a person; holdfast sessions questions shows for what",
)
_IT_FAILED = "it failed: the store cannot be read or written, or nobody could be reached"
_NOT_WELL = "a server is not there, or a tool of one is quarantined"
_A_PROBLEM = "there is a problem; warnings alone are none"
_DISAGREED = "nobody agreed, or something is left"

EXITS: Mapping[str, Exits] = {
    "run": Exits(_OF_A_RUN),
    "resume": Exits(_OF_A_RUN),
    "serve": Exits(_ends("it was told to end")),
    "acp": Exits(_ends("the editor ended it")),
    "worker": Exits(_ends(failed="with --once: a run failed")),
    "cluster": Exits(
        _ends(failed="NATS or a store cannot be reached"),
        {
            "up": {1: "a part of it ended by itself"},
            "status": {1: "something is not well, or cannot be reached"},
        },
    ),
    "tools": Exits(_ends()),
    "call": Exits(
        _ends("the call succeeded", "the call failed", refused="rules or a person refused it")
    ),
    "mcp": Exits(
        _ends(),
        {
            "list": {1: _NOT_WELL},
            "test": {1: _NOT_WELL},
            "pin": {3: "what changed was not accepted"},
        },
    ),
    "replay": Exits(
        _ends("it was told, or nothing diverges", "something diverges, or it cannot be read")
    ),
    "undo": Exits(_ends("all is as it was before", "something was left as it is")),
    "sessions": Exits(
        _ends(failed=_IT_FAILED),
        {
            "watch": {1: "its program is gone in the middle", 4: "it waits for a person"},
            "answer": {1: "you did not say that this very call is meant"},
            "delete": {1: _DISAGREED},
            "rebuild": {1: "the events say something else than what is kept"},
        },
    ),
    "prune": Exits(_ends("done, or there was nothing to do", _DISAGREED)),
    "policy": Exits(
        _ends(),
        {
            "explain": {0: "it would run", 3: "it would be asked about or refused"},
            "check": {1: "an example is not decided as it says"},
        },
    ),
    "trust": Exits(_ends(refused="you did not agree")),
    "audit": Exits(
        _ends(failed="it cannot be read"), {"verify": {1: "something is not as it was written"}}
    ),
    "plugin": Exits(
        _ends(),
        {
            "check": {1: "something is wrong with it"},
            "list": {1: "one that you load cannot be loaded"},
        },
    ),
    "manifest": Exits(_ends(), {"check": {1: _A_PROBLEM}, "export": {1: _A_PROBLEM}}),
    "doctor": Exits(_ends("all is well, or there are warnings", "a check failed")),
    "conformance": Exits(_ends("every case holds", "a case fails")),
    "tour": Exits(_ends()),
    "completion": Exits(_ends()),
}
