"""What assembly does in a short way comes out as the long way would: each rule once more here, as its words say it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.assemble import assemble, bonds
from otel_toolselect.assemble._reconcile import Call, _args_key, _once, _tied_by_name, name_fits
from otel_toolselect.assemble._results import History, Shown, _tail
from otel_toolselect.assemble._same import Same, join_by_response, join_streamed
from otel_toolselect.assemble._stitch import shown_ids
from otel_toolselect.assemble._tree import Tree, order
from otel_toolselect.assemble._turns import Turn, clusters
from otel_toolselect.model.observations import CallPart, Kind, Message, Observation, ResultPart, TextPart, ToolUse
from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.spans import Span
from otel_toolselect.model.values import canonical
from tests.assemble.observed import ARGS, BASE, IDS, NAMES, histories, traces, uses


def nearest(tree: Tree, o: Observation, kinds: Sequence[str]) -> Observation | None:
    return next((above for above in tree.ancestors(o) if above.kind in kinds), None)


@given(traces())
@settings(deadline=None)
def test_the_nearest_above_whatever_was_asked_before(trace: list[Observation]) -> None:
    tree = Tree(trace)
    for o in [*trace, *reversed(trace)]:
        assert tree.agent_above(o) is nearest(tree, o, ["agent"])
        assert tree.acting_above(o) is nearest(tree, o, ["agent", "model", "tool"])


def test_a_deep_chain_is_climbed_once() -> None:
    """Counted, not timed."""
    depth = 3_000
    ids = [f"{i:016x}" for i in range(1, depth + 1)]
    chain = [
        Observation(Span("a" * 32, own, above, start_ns=BASE), "d", "agent" if not above else "other")
        for own, above in zip(ids, ["", *ids], strict=False)
    ]
    steps = 0

    class Counted(Tree):
        def parent(self, o: Observation) -> Observation | None:
            nonlocal steps
            steps += 1
            return super().parent(o)

    tree = Counted(chain)
    assert all(tree.agent_above(o) is chain[0] for o in reversed(chain[1:]))
    assert steps < 3 * depth


@given(traces())
@settings(deadline=None)
def test_generations_that_nothing_joins_stand_alone(trace: list[Observation]) -> None:
    trace.sort(key=order)
    tree = Tree(trace)
    models = [o for o in trace if o.kind == "model"]
    same = Same(tree)
    for m in models:
        above = nearest(tree, m, ["agent", "model", "tool"])
        if above is not None and above.kind == "model":
            same.join(m, above)
    join_by_response(models, same)
    join_streamed(models, same)
    together: dict[int, list[Observation]] = {}
    for m in models:
        together.setdefault(same.head(m), []).append(m)
    assert [list(map(id, c)) for c in clusters(models, tree)] == [list(map(id, c)) for c in together.values()]


@given(st.lists(st.builds(CallPart, NAMES, ARGS, IDS), max_size=6))
def test_a_call_written_twice_is_the_one_with_id_name_and_arguments(parts: list[CallPart]) -> None:
    kept: list[CallPart] = []
    for part in parts:
        twins = [p for p in kept if p.call_id and (p.call_id, p.name) == (part.call_id, part.name)]
        if _args_key(part) not in [_args_key(p) for p in twins]:
            kept.append(part)
    assert list(map(id, _once(parts))) == list(map(id, kept))


def results(history: History, call_id: str) -> list[ResultPart]:
    return [p for m in history for p in m.results if p.call_id == call_id]


def by_definition(shown: list[History], call_id: str, index: int, first: int) -> ResultPart | None:
    for number, history in enumerate(shown[first:], start=first):
        found = results(history, call_id)
        if index < len(found):
            return found[index]
        if found and number == first:
            return found[-1]
    return None


@given(histories())
@settings(max_examples=300, deadline=None)
def test_results_of_a_row_of_requests(shown: list[History]) -> None:
    index = Shown(shown)
    for call_id in ("c1", "c2", "none"):
        assert index.at_first(call_id) == (len(results(shown[0], call_id)) if shown else 0)
        for first in range(len(shown) + 1):
            for at in range(4):
                assert index.result(call_id, at, first) is by_definition(shown, call_id, at, first)


def test_each_message_of_a_row_is_read_once() -> None:
    read = 0

    class Counted(tuple[ResultPart, ...]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            nonlocal read
            read += 1
            return super().__iter__()

    said = [Message("tool", Counted([ResultPart(f"c{i}", i)])) for i in range(100)]
    shown = Shown([tuple(said[:i]) for i in range(101)])
    assert read == 100
    assert [part.value for i in range(100) if (part := shown.result(f"c{i}", 0, i))] == list(range(100))


@given(histories())
def test_the_results_after_the_last_calls(shown: list[History]) -> None:
    for history in shown:
        tail: list[ResultPart] = []
        for m in history:
            if m.calls and not m.results:
                tail = []
            tail.extend(m.results)
        assert list(map(id, _tail(history))) == list(map(id, tail))


emitted_calls = st.lists(st.tuples(st.builds(CallPart, NAMES, ARGS, IDS), st.integers(0, 2), st.booleans()), max_size=6)
executed = st.lists(st.tuples(uses, st.integers(0, 5)), max_size=6)


@given(emitted_calls, executed)
@settings(max_examples=300, deadline=None)
def test_ties_by_name(parts: list[tuple[CallPart, int, bool]], executions: list[tuple[ToolUse, int]]) -> None:
    at = [0, 1, 3]
    turns = [Turn(i + 1, BASE + second, "", (), seen("model", second)) for i, second in enumerate(at)]
    ordered = sorted(parts, key=lambda given: given[1])
    tools = [seen("tool", second, use) for use, second in executions]
    short, long = (
        [Call(turn + 1, i, part.name, "d", part, taken=taken) for i, (part, turn, taken) in enumerate(ordered)]
        for _ in range(2)
    )
    left = _tied_by_name(short, tools, turns)
    assert list(map(id, left)) == list(map(id, slowly_tied(long, tools, turns)))
    assert [(c.taken, id(c.span)) for c in short] == [(c.taken, id(c.span)) for c in long]


def seen(kind: Kind, second: int, use: ToolUse | None = None) -> Observation:
    return Observation(Span("a" * 32, "b" * 16, start_ns=BASE + second), "d", kind, tool=use)


def slowly_tied(calls: list[Call], tools: list[Observation], turns: list[Turn]) -> list[Observation]:
    ids = {c.part.call_id for c in calls if c.part and c.part.call_id}
    left = tools
    for sure in ("arguments", "unknown arguments", "name"):
        still: list[Observation] = []
        for tool in left:
            fitting = [c for c in calls if not c.taken and fits(c, tool, ids, sure)]
            if not fitting:
                still.append(tool)
                continue
            before = [c.turn for c in fitting if turns[c.turn - 1].start_ns <= tool.span.order_ns]
            turn = max(before) if before else min(c.turn for c in fitting)
            call = next(c for c in fitting if c.turn == turn)
            call.taken, call.use, call.span = True, tool.tool, tool
        left = still
    return left


def fits(call: Call, tool: Observation, ids: set[str], sure: str) -> bool:
    use, part = tool.tool, call.part
    assert use is not None
    assert part is not None
    if use.call_id in ids or not name_fits(part.name, use.name):
        return False
    unknown = isinstance(part.args, Unknown) or use.args is None or isinstance(use.args, Unknown)
    if sure == "arguments":
        return not unknown and canonical(part.args) == canonical(use.args)  # type: ignore[arg-type]
    return unknown or sure == "name"


@given(traces())
@settings(deadline=None)
def test_ids_that_a_trace_shows(trace: list[Observation]) -> None:
    found: dict[tuple[str, str], None] = {}
    for o in trace:
        shown = o.input or () if o.kind == "model" else ()
        parts = [p for m in shown for p in m.parts if not isinstance(p, TextPart)]
        told = [p.call_id for p in parts] if o.tool is None else [o.tool.call_id]
        found.update({("", call_id): None for call_id in told if call_id})
    assert set(shown_ids(trace)) == found.keys()
    assert len(shown_ids(trace)) == len(found)


@given(traces())
@settings(deadline=None)
def test_wants_are_of_what_stands_outside_any_agent(trace: list[Observation]) -> None:
    tree = Tree(trace)
    outside = [o for o in trace if not tree.in_agent(o)]
    assert bonds(trace).wants == (bonds(outside).wants if outside else frozenset())


@given(traces())
@settings(deadline=None)
def test_a_trace_alone_is_assembled_as_it_is_beside_another(trace: list[Observation]) -> None:
    other = Observation(Span("c" * 32, "c" * 16, start_ns=BASE), "other", "agent")
    beside = assemble([*trace, other])
    assert assemble(trace) == [run for run in beside if run.trace_id != other.span.trace_id]


@given(traces(), traces("b" * 32), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_observations_changes_nothing(
    one: list[Observation], other: list[Observation], random: Random
) -> None:
    both = [*one, *other]
    assert assemble(both) == assemble(random.sample(both, len(both)))
    assert bonds(one) == bonds(one[::-1])
