"""Random observations of one or more traces: what dialects may read, and what no sane sender would write."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from otel_toolselect.model.observations import (
    CallPart,
    Kind,
    Message,
    Observation,
    Part,
    ResultPart,
    TextPart,
    ToolUse,
)
from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.spans import Span

BASE = 1_790_000_000 * 10**9
IDS = st.sampled_from(["c1", "c1", "c2", "c3", None])
NAMES = st.sampled_from(["search", "shop_search", "book"])
ARGS: st.SearchStrategy[dict[str, Any] | Unknown] = st.sampled_from(
    [{}, {"q": 1}, {"q": 1.0}, {"q": 2}, Unknown("off")]
)
KINDS: st.SearchStrategy[Kind] = st.sampled_from(["model", "model", "tool", "other", "agent", "catalog"])
FIRST: st.SearchStrategy[Kind] = st.sampled_from(["agent", "agent", "other", "model"])

parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, st.sampled_from(["", "hello", "which one?"])),
    st.builds(CallPart, NAMES, ARGS, IDS),
    st.builds(ResultPart, IDS, st.sampled_from(["r", 1, True, {"a": 1}]), st.sampled_from([None, "search", "book"])),
)
messages = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "assistant", "tool"]),
    st.lists(parts, max_size=3).map(tuple),
)
uses = st.builds(
    ToolUse,
    NAMES,
    st.one_of(st.none(), ARGS),
    call_id=IDS,
    side=st.sampled_from([None, None, "client", "server"]),
    tentative=st.sampled_from([False, False, True]),
)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Message, ...]]:
    """Of one request after the other: most repeat the one before and add to it, some begin anew or forget."""
    found: list[tuple[Message, ...]] = []
    known: tuple[Message, ...] = ()
    for how in draw(st.lists(st.sampled_from(["more", "more", "anew", "less", "same"]), max_size=8)):
        fresh = tuple(draw(st.lists(messages, max_size=3)))
        known = {"more": known + fresh, "anew": fresh, "less": known[:1] + fresh, "same": known}[how]
        found.append(known)
    return found


@st.composite
def traces(draw: st.DrawFn, trace_id: str = "a" * 32) -> list[Observation]:
    """One trace: parents may be missing, stand in circles or be the span itself."""
    size = draw(st.integers(1, 8))
    shown = draw(histories()) or [()]
    ids = [f"{i:016x}" for i in range(1, size + 1)]
    found: list[Observation] = []
    for i, span_id in enumerate(ids):
        above = ids[i - 1] if i else ""
        parent = draw(st.sampled_from([above, above, ids[0] if i else "", "", "f" * 16, *ids]))
        at = BASE + draw(st.integers(0, 6)) * 10**9
        span = Span(trace_id, span_id, parent, start_ns=at, end_ns=at + draw(st.integers(0, 3)) * 10**9)
        kind = draw(KINDS if i else FIRST)
        found.append(
            Observation(
                span,
                "d",
                kind,
                agent=draw(st.sampled_from([None, "A", "B"])),
                input=shown[min(i, len(shown) - 1)] if kind != "tool" else None,
                output=draw(st.one_of(st.none(), st.lists(messages, max_size=2).map(tuple))),
                response_id=draw(st.sampled_from([None, None, "r1", "r2"])),
                tool=draw(uses) if kind == "tool" else None,
            )
        )
    return found
