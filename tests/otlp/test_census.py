"""How many messages a request holds, against a count of what the parser makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import within

from otel_toolselect.otlp.census import holds_more
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.protodecode import REQUESTS

RESOURCE, SCOPE, RECORD = 0x0A, 0x12, 0x12
PLACES: dict[str, tuple[Signal, int, tuple[int, ...]]] = {
    # what is repeated, and what it is in, from the outside in; every number is of trace.proto, logs.proto, common.proto
    "resources": ("traces", RESOURCE, ()),
    "scopes": ("traces", SCOPE, (RESOURCE,)),
    "spans": ("traces", RECORD, (RESOURCE, SCOPE)),
    "attributes": ("traces", 0x4A, (RESOURCE, SCOPE, RECORD)),
    "events": ("traces", 0x5A, (RESOURCE, SCOPE, RECORD)),
    "links": ("traces", 0x6A, (RESOURCE, SCOPE, RECORD)),
    "attributes of an event": ("traces", 0x1A, (RESOURCE, SCOPE, RECORD, 0x5A)),
    "attributes of a resource": ("traces", 0x0A, (RESOURCE, 0x0A)),
    "attributes of a scope": ("traces", 0x1A, (RESOURCE, SCOPE, 0x0A)),
    "values of a list": ("traces", 0x0A, (RESOURCE, SCOPE, RECORD, 0x4A, 0x12, 0x2A)),
    "members of a list's value": ("traces", 0x0A, (RESOURCE, SCOPE, RECORD, 0x4A, 0x12, 0x2A, 0x0A, 0x32)),
    "log records": ("logs", RECORD, (RESOURCE, SCOPE)),
    "members of a body": ("logs", 0x0A, (RESOURCE, SCOPE, RECORD, 0x2A, 0x32)),
}


def counted(message: Any) -> int:
    """Messages below a message, each looked at."""
    found = 0
    for descriptor, value in message.ListFields():
        if descriptor.message_type is not None:
            items = value if descriptor.is_repeated else [value]
            found += sum(1 + counted(item) for item in items)
    return found


@pytest.mark.parametrize("place", PLACES)
def test_empty_messages_are_counted_wherever_they_stand(place: str) -> None:
    signal, tag, holders = PLACES[place]
    body = within(bytes([tag, 0]) * 50, holders)
    held = 50 + len(holders)
    assert counted(REQUESTS[signal].FromString(body)) == held
    assert not holds_more(body, signal, held)
    assert holds_more(body, signal, held - 1)


text = st.text("ab", max_size=3)


def fill(value: Any, made: Any) -> None:
    if isinstance(made, list):
        value.array_value.SetInParent()
        for item in made:
            fill(value.array_value.values.add(), item)
    elif isinstance(made, dict):
        value.kvlist_value.SetInParent()
        for key, item in made.items():
            fill(value.kvlist_value.values.add(key=key).value, item)
    elif isinstance(made, int):
        value.int_value = made
    elif made is not None:
        value.string_value = made


values = st.recursive(
    st.none() | text | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
attributes = st.lists(st.tuples(text, values), max_size=3)
spans = st.fixed_dictionaries(
    {"own": attributes, "events": st.lists(attributes, max_size=2), "links": st.integers(0, 2)}
)


@given(st.lists(st.tuples(attributes, st.lists(st.lists(spans, max_size=3), max_size=2)), max_size=3))
def test_it_is_as_many_as_the_parser_makes(groups: list[Any]) -> None:
    request = REQUESTS["traces"]()

    def put(target: Any, given_attributes: Any) -> None:
        for key, made in given_attributes:
            fill(target.add(key=key).value, made)

    for about, scopes in groups:
        group = request.resource_spans.add()
        put(group.resource.attributes, about)
        for each in scopes:
            scoped = group.scope_spans.add()
            for made in each:
                span = scoped.spans.add(name="s")
                put(span.attributes, made["own"])
                for event in made["events"]:
                    put(span.events.add().attributes, event)
                for _ in range(made["links"]):
                    span.links.add()
    held, body = counted(request), request.SerializeToString()
    assert not holds_more(body, "traces", held)
    assert held == 0 or holds_more(body, "traces", held - 1)


@pytest.mark.parametrize("body", [b"\xff" * 100, within(b"\x12", (RESOURCE,)), b"\x0a\x7f"])
def test_what_is_no_request_is_left_to_who_parses_it(body: bytes) -> None:
    assert not holds_more(body, "traces", 1)


def test_long_texts_are_no_messages() -> None:
    value = within(b"x" * 100_000, (RESOURCE, SCOPE, RECORD, 0x4A, 0x12, 0x0A))
    assert not holds_more(value, "traces", 5)
    assert holds_more(value, "traces", 4)
