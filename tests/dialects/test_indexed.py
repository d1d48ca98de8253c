"""Lists that are flattened into numbered attributes (`_indexed`)."""

from __future__ import annotations

import pytest

from otel_toolselect.dialects import read
from otel_toolselect.dialects._indexed import unflatten
from otel_toolselect.model.spans import Span


def test_numbers_order_as_numbers() -> None:
    attributes = {f"p.{place}.name": str(place) for place in (10, 9, 0, 1)}
    assert [item["name"] for item in unflatten(attributes, "p")] == ["0", "1", "9", "10"]


@pytest.mark.parametrize("place", ["\u00b2", "9" * 5000, "-1", ""])
def test_what_is_no_place_in_a_list_costs_no_span(place: str) -> None:
    attributes = {"openinference.span.kind": "LLM", f"llm.input_messages.{place}.message.role": "user"}
    (found,) = read([Span("a" * 32, "b" * 16, attributes=attributes)])
    assert (found.kind, found.fault) == ("model", None)
