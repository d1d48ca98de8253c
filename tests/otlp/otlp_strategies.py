"""Anything that a decoder can give, for properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from otel_toolselect.model.spans import LogRecord, Span, SpanEvent, SpanLink

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INT64 = st.integers(-(2**63), 2**63 - 1)
TIME = st.integers(0, 2**63 - 1)
SCALARS = st.none() | st.booleans() | INT64 | st.floats(allow_nan=True) | TEXT | st.binary(max_size=5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
ATTRIBUTES = st.dictionaries(TEXT, VALUES, max_size=3)
HOLDERS = st.lists(ATTRIBUTES, min_size=1, max_size=2)


def ids(nbytes: int, *, empty: bool = False) -> st.SearchStrategy[str]:
    found = st.binary(min_size=nbytes, max_size=nbytes).filter(any).map(bytes.hex)
    return found | st.just("") if empty else found


EVENTS = st.lists(st.builds(SpanEvent, TEXT, TIME, ATTRIBUTES), max_size=2).map(tuple)
LINKS = st.lists(st.builds(SpanLink, ids(16), ids(8), ATTRIBUTES, TEXT), max_size=2).map(tuple)


@st.composite
def records(draw: Any, cls: type[Any], **fields: Any) -> tuple[Any, ...]:
    """Records of a few resources, as decoders share them."""
    resources = draw(HOLDERS)
    shared = {"resource": st.sampled_from(resources), "scope_name": TEXT, "scope_version": TEXT}
    return tuple(draw(st.lists(st.builds(cls, **fields, **shared), max_size=4)))


SPANS = records(
    Span,
    trace_id=ids(16),
    span_id=ids(8),
    parent_span_id=ids(8, empty=True),
    trace_state=TEXT,
    name=TEXT,
    kind=st.integers(0, 5),
    start_ns=TIME,
    end_ns=TIME,
    attributes=ATTRIBUTES,
    events=EVENTS,
    links=LINKS,
    status_code=st.integers(0, 2),
    status_message=TEXT,
)
LOGS = records(
    LogRecord,
    trace_id=ids(16, empty=True),
    span_id=ids(8, empty=True),
    time_ns=TIME,
    observed_ns=TIME,
    event_name=TEXT,
    severity_number=st.integers(0, 24),
    severity_text=TEXT,
    body=VALUES,
    attributes=ATTRIBUTES,
)
