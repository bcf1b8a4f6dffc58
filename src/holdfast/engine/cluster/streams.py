"""Which streams and consumers a cluster has, as JetStream is told. Pure.

Whoever needs them makes them, all in the same way. One that an operator made otherwise stays so.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from holdfast.engine.cluster.subjects import CLASSES, Names

EXISTS = frozenset({10058, 10148, 10013, 10105})
"""What the server says of a stream or consumer that is there and was made otherwise."""
NOT_YET = frozenset({10005, 10008, 10023, 10074})
"""What it says while there is no leader, or not as many servers as are to keep each message."""
ACK_SECONDS = 10.0
"""How long a worker that says nothing keeps a hint."""
_SECOND = 1_000_000_000
_DUPLICATES_SECONDS = 120
_MOST_WAITING = 10_000
_MOST_UNANSWERED = 100_000


class Streams(msgspec.Struct, frozen=True):
    """What has to be there."""

    names: Names
    replicas: int = 1
    ack_seconds: float = ACK_SECONDS
    tenants: Sequence[str] = ()
    labels: Sequence[str] = ()

    def wanted(self) -> Iterator[tuple[str, str, Mapping[str, object]]]:
        """Each by its name: where it is asked for, and how."""
        names = self.names
        yield names.wakes, f"STREAM.CREATE.{names.wakes}", self._wakes()
        yield names.dead, f"STREAM.CREATE.{names.dead}", self._dead()
        for tenant in self.tenants:
            for label in self.labels:
                for kind in CLASSES:
                    lane = names.lane(tenant, kind, label)
                    name = names.consumer(tenant, kind, label)
                    asked = f"CONSUMER.CREATE.{names.wakes}.{name}.{lane}"
                    yield name, asked, self._consumer(name, lane)

    def _wakes(self) -> Mapping[str, object]:
        return {
            "name": self.names.wakes,
            "subjects": self.names.of_wakes,
            "retention": "workqueue",
            "storage": "file",
            "discard": "old",  # with schedules there is no other; nothing bounds the stream
            "num_replicas": self.replicas,
            "duplicate_window": _DUPLICATES_SECONDS * _SECOND,
            "allow_msg_schedules": True,
        }

    def _dead(self) -> Mapping[str, object]:
        return {
            "name": self.names.dead,
            "subjects": (self.names.of_dead,),
            "retention": "limits",
            "storage": "file",
            "discard": "old",
            "num_replicas": self.replicas,
            "max_msgs_per_subject": 1,
        }

    def _consumer(self, name: str, lane: str) -> Mapping[str, object]:
        config = {
            "name": name,
            "durable_name": name,
            "filter_subject": lane,
            "ack_policy": "explicit",
            "ack_wait": int(self.ack_seconds * _SECOND),
            "max_deliver": -1,
            "max_waiting": _MOST_WAITING,
            "max_ack_pending": _MOST_UNANSWERED,
        }
        return {"stream_name": self.names.wakes, "action": "", "config": config}


def asked_instead(made: str) -> str:
    """Where it is asked for whether there is what would be made there."""
    kind, _, *names = made.split(".")
    return ".".join((kind, "INFO", *names[: 1 if kind == "STREAM" else 2]))
