"""Sessions of one agent to search: outcomes, messages, calls and what they answered, evaluations,
lessons. Words are as frequent as those of a language: the second half as often as the first.
"""

import itertools
import random
from collections.abc import Iterator

import msgspec

from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallIntended,
    CallSettled,
    OutcomeDefined,
    Payload,
    SessionCreated,
    SpanCompleted,
    SpanStarted,
    StatusChanged,
    StatusIdle,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.json_value import encode_json
from holdfast.contract.managed_events import OutcomeEvaluated, SetupDescribed
from holdfast.contract.outcomes import Evaluation, EvaluationRecord, outcome_fingerprint
from holdfast.contract.wake_events import LearningCaptured

AGENT = "coder"
_SYLLABLES = ("ba", "co", "di", "fu", "ga", "he", "jo", "ka", "li", "mo", "nu", "pe", "ra", "so")
VOCABULARY = len(_SYLLABLES) ** 4
EVENTS_EACH = 100
"""Of a session."""
_CALLS = 4
"""Of a wake."""


class Corpus:
    """The same for the same seed."""

    def __init__(self, seed: int = 9) -> None:
        self._dice = random.Random(seed)
        syllables = itertools.product(_SYLLABLES, repeat=4)
        self.words = ["".join(one) for one in itertools.islice(syllables, VOCABULARY)]
        self._dice.shuffle(self.words)
        weights = (1 / (rank + 2.7) for rank in range(VOCABULARY))
        self._until = list(itertools.accumulate(weights))

    def text(self, least: int, most: int) -> str:
        """Some words of the language; now and then the name of a file."""
        dice = self._dice
        said = dice.choices(self.words, cum_weights=self._until, k=dice.randint(least, most))
        if dice.random() < 0.3:
            said.append(f"src/{said[0]}/{said[-1]}.py")
        return " ".join(said)

    def session(self, number: int) -> Iterator[tuple[str | None, list[Payload]]]:
        """About a hundred events: what it begins with, then wake by wake with its id."""
        outcome = WantedOutcome(
            title=self.text(3, 8),
            success_criteria=tuple(self.text(3, 8) for _ in range(3)),
        )
        described = SetupDescribed(
            fingerprint=f"setup-{number % 3}",
            resource_contract_fingerprint="r",
            environment_fingerprint="e",
            setup={},
        )
        created = SessionCreated(agent_id=AGENT, profile="managed")
        begun: list[Payload] = [created, described, OutcomeDefined(outcome=outcome)]
        yield None, begun
        left = EVENTS_EACH - len(begun)
        for wake in itertools.count():
            wake_id = f"wak_{number}_{wake}"
            said = list(self._wake(wake_id, wake, outcome))[:left]
            yield wake_id, said
            left -= len(said)
            if not left:
                return

    def _wake(self, wake_id: str, iteration: int, outcome: WantedOutcome) -> Iterator[Payload]:
        yield UserMessage(message=self.text(8, 40))
        yield SpanStarted(span_id=wake_id, span_kind="wake", name="session_run")
        yield StatusChanged(from_status="idle", to_status="running", reason="run")
        for call in range(_CALLS):
            yield from self._call(f"cal_{wake_id}_{call}")
        if self._dice.random() < 0.1:
            yield LearningCaptured(
                learning_kind="lesson", title=self.text(3, 9), detail=self.text(10, 40)
            )
        summary = self.text(8, 30)
        yield AgentMessage(message=self.text(15, 60), summary=summary)
        yield StatusIdle(reason="idle", summary=summary)
        yield SpanCompleted(
            span_id=wake_id, span_kind="wake", name="session_run", summary=summary, result="success"
        )
        yield OutcomeEvaluated(
            record=EvaluationRecord(
                evaluated_at="2026-01-01T00:00:00+00:00",
                wake_id=wake_id,
                iteration=iteration,
                outcome_title=outcome.title,
                outcome_fingerprint=outcome_fingerprint(outcome),
                grade_status="in_progress",
                evaluation=Evaluation(status="not_ready", confidence="low", summary=summary),
            )
        )

    def _call(self, call_id: str) -> Iterator[Payload]:
        arguments = encode_json({"path": self.text(1, 4), "command": self.text(2, 8)}).decode()
        answer = {"ok": True, "result": self.text(10, 80), "tool": "bash"}
        yield CallAsked(call_id=call_id, tool="bash", arguments=arguments)
        yield CallIntended(call_id=call_id, tool="bash", arguments_hash="h", grounds="allowed")
        yield CallSettled(call_id=call_id, tool="bash", envelope=msgspec.Raw(encode_json(answer)))
