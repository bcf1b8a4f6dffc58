"""What hypothesis may make up: JSON values, failures and whole envelopes."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from holdfast.contract.builders import failure_of
from holdfast.contract.envelope import Envelope, Metadata, Repair
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonValue, encode_json

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail; pytest's own time limit holds."""

texts = st.text(max_size=20)
optional_texts = st.none() | texts
counts = st.none() | st.integers(min_value=0)

json_leaves: st.SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**64, max_value=2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    json_leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)

repairs = st.builds(Repair, repair=texts, field=texts, was=optional_texts)
metadata = st.builds(
    Metadata,
    duration_ms=st.integers(min_value=0, max_value=2**40),
    truncated=st.booleans(),
    output_path=optional_texts,
    tail=optional_texts,
    output_bytes=counts,
    dropped_bytes=counts,
    repairs=st.lists(repairs, max_size=2).map(tuple),
)

WIRE_WORDS = ("ok", "result", "warnings", "error", "error_text", "data", "type", "metadata")


@st.composite
def failures(draw: st.DrawFn) -> Failure:
    keys = texts | st.sampled_from(WIRE_WORDS)
    return failure_of(
        draw(st.sampled_from(FailureKind)),
        draw(texts),
        field=draw(optional_texts),
        expected=draw(optional_texts),
        retryable=draw(st.none() | st.booleans()),
        extras=draw(st.dictionaries(keys, json_values, max_size=4)),
    )


@st.composite
def envelopes(draw: st.DrawFn) -> Envelope:
    """Any envelope as the runtime seals it: measured, and under no call id of ours."""
    failure = draw(st.none() | failures())
    result = draw(json_values) if failure is None else None
    return Envelope(
        result_json=encode_json(result),
        failure=failure,
        tool=draw(st.none() | st.text(min_size=1, max_size=12)),
        warnings=tuple(draw(st.lists(texts, max_size=3))),
        metadata=draw(metadata),
    )
