"""One group of observations becomes one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_toolselect.assemble._events import happened
from otel_toolselect.assemble._identity import CaseAttributes, Named, run_id
from otel_toolselect.assemble._reconcile import Call, emitted, executions, reconcile
from otel_toolselect.assemble._results import attach
from otel_toolselect.assemble._tree import Group, Tree
from otel_toolselect.assemble._turns import Turn, turns, user_text
from otel_toolselect.assemble.decision import read_no_call
from otel_toolselect.model.observations import Message, Observation
from otel_toolselect.model.quick import maker
from otel_toolselect.model.remembered import remembered
from otel_toolselect.model.runs import Event, Run, ToolDefinition
from otel_toolselect.model.spans import tenant_of
from otel_toolselect.model.values import Number, counted, digest


def build(group: Group, generations: Sequence[Sequence[Observation]], tree: Tree, names: CaseAttributes) -> Run:
    """The run of a group, whose members are in order; `generations` are its model spans, those of one answer together,
    in order too.
    """
    members, root = group.members, group.root
    sources = [*members, *group.context] if root is None else [root, *members, *group.context]
    agents = [o for o in members if o.kind == "agent"]
    tools = [o for o in members if o.kind == "tool"]
    others = [o for o in members if o.kind == "other"]
    answers = turns(generations or _said_by_agent(agents, tools))
    told = [t.told for t in answers]
    catalog = _catalog(tools, answers, sources)
    calls = reconcile(emitted(answers), executions(tools, tree), answers)
    attach(calls, answers, others)
    _resolve_names(calls, catalog)
    text = _final_text(answers, [*agents, *others, *group.context])
    request = _request(agents, answers, [*others, *group.context])
    agent = (root.agent if root is not None else None) or _first(agents, "agent") or _first(members, "agent")
    events = happened(calls, answers, agent)
    root_trace, root_span = group.key
    tenant = tenant_of(members[0].span.resource)  # of all members the same
    case = Named(sources, names)
    nested = group.parent is not None
    return _make_run(
        run_id=run_id(root_trace, root_span, tenant),
        trace_id=root_trace,
        trace_ids=tuple(dict.fromkeys([root_trace, *[o.span.trace_id for o in members]])),
        events=events,
        parent_run_id=run_id(*group.parent, tenant) if group.parent else None,
        case_id=case.first(names.case_id),
        suite=case.first(names.suite),
        label=case.first(names.label),
        attempt=case.number(names.attempt),
        expected=(Named.without_resources(members, names) if nested else case).listed(names.expected),
        service=_service(sources),
        agent=agent,
        provider=_first(told, "provider") or _first(sources, "provider"),
        model=_first(told, "model") or _first(sources, "model"),
        prompt_version=_prompt_version(_first(told, "system") or _first(sources, "system")),
        catalog_id=catalog_id(catalog),
        tools=catalog,
        conversation_id=_conversation(group, sources),
        request=request,
        history=_history(agents, answers, request),
        final_text=text,
        no_call=read_no_call(text),
        start_ns=_start(members),
        duration_ns=_duration(group, members),
        input_tokens=_total([o.input_tokens for o in told]),
        output_tokens=_total([o.output_tokens for o in told]),
        cost_usd=_total([o.cost_usd for o in told]),
        incomplete=_incomplete(group, tree) or _silent(events, text),
        dialects=tuple(sorted({o.dialect for o in members if o.kind in _SPEAKING})),
        attributes=_attributes(sources),
    )


_make_run = maker(Run)
_SPEAKING = frozenset({"model", "tool", "agent"})
_SHORT = 200


def _attributes(sources: Sequence[Observation]) -> dict[str, bool | int | float | str]:
    """The short scalars of the run's resource and its first span; the span's own win. Long ones are contents."""
    if not sources:
        return {}
    span = sources[0].span
    return {
        name: value
        for held in (span.resource, span.attributes)
        for name, value in held.items()
        if (isinstance(value, str) and len(value) <= _SHORT) or isinstance(value, (bool, int, float))
    }


def _resolve_names(calls: Sequence[Call], catalog: tuple[ToolDefinition, ...] | None) -> None:
    """A tool is called what the catalog calls it: some libraries drop a prefix between offer, call and execution.

    Only what the trace proves: the execution bears the offered name, or all offered tools share one prefix. Any other
    name that was not offered stays as it is: it is a call to a tool that was never offered (R9).
    """
    offered = {t.name for t in catalog or ()}
    strange = [c for c in calls if c.name not in offered]
    prefix = _shared_prefix(offered) if strange else ""
    for call in strange:
        executed = call.use.name if call.use else call.name
        if executed in offered:
            call.name = executed
        elif prefix and prefix + call.name in offered:
            call.name = prefix + call.name


def _shared_prefix(names: set[str]) -> str:
    """The plug-in or server prefix that all names bear, with its separator; empty where there is none."""
    found = {n[: n.index(sep) + len(sep)] for n in names for sep in ("__", "-", ".", "/", ":") if sep in n}
    shared = [p for p in found if all(n.startswith(p) for n in names)]
    return min(shared, key=len) if shared else ""


def _said_by_agent(agents: Sequence[Observation], tools: Sequence[Observation]) -> list[list[Observation]]:
    """An agent whose model calls left no span: what the agent span says of its messages stands for one turn."""
    return [[o] for o in agents if o.output][:1] if not tools else []


def _first(sources: Iterable[Observation], name: str) -> str | None:
    for o in sources:
        found: str | None = getattr(o, name)
        if found:
            return found
    return None


def _service(sources: Iterable[Observation]) -> str:
    for o in sources:
        if service := o.span.service:
            return service
    return ""


def _start(members: Iterable[Observation]) -> int:
    for o in members:
        if start := o.span.order_ns:
            return start
    return 0


def _request(agents: Sequence[Observation], answers: Sequence[Turn], around: Sequence[Observation]) -> str | None:
    """The user's text that the run answers: the agent span's, else the first request's, else a span's around it."""
    for o in agents:
        found = o.request or _last_user_text(o.input)
        if found:
            return found
    found = _last_user_text(answers[0].told.input) if answers else None
    return found or next((t for t in (o.request or _last_user_text(o.input) for o in around) if t), None)


def _history(agents: Sequence[Observation], answers: Sequence[Turn], request: str | None) -> tuple[str, ...]:
    """What the user said before the request, oldest first, where a span's messages show it."""
    for messages in [*[t.told.input for t in answers[:1]], *[o.input for o in agents]] if request else ():
        said = [text for m in messages or () if (text := user_text(m))]
        if request in said:
            return tuple(said[: len(said) - 1 - said[::-1].index(request)])
    return ()


def _last_user_text(messages: tuple[Message, ...] | None) -> str | None:
    return next((text for m in reversed(messages or ()) if (text := user_text(m))), None)


def _final_text(answers: Sequence[Turn], stating: Sequence[Observation]) -> str | None:
    """The last answer without a call; else what the agent span says; else the text beside the last call."""
    last = answers[-1] if answers else None
    asks = last is not None and (last.calls or any(m.calls for m in last.told.output or ()))
    if last is not None and last.text and not asks:
        return last.text
    stated = _first(stating, "final_text")
    if stated is not None and not asks:
        return stated
    return (last.text or None) if last is not None and last.text else stated


def _catalog(
    used: Sequence[Observation], answers: Sequence[Turn], sources: Sequence[Observation]
) -> tuple[ToolDefinition, ...] | None:
    """Tools offered over the run, in the order first seen; None when no span names any. `used`: its tool spans."""
    lists = [t.told.tools for t in answers if t.told.tools]
    if not lists:
        lists = [o.tools for o in sources if o.tools and o.kind != "tool"]
    if not lists:
        return None
    first = lists[0]
    if all(tools is first for tools in lists) and all(t.schema is not None for t in first):
        return first
    described = {d.name: d for o in used for d in o.tools or ()}
    found: dict[str, ToolDefinition] = {}
    for tools in lists:
        for tool in tools:
            known = found.get(tool.name)
            if known is None or (known.schema is None and tool.schema is not None):
                found[tool.name] = tool
    for name, tool in found.items():
        if tool.schema is None and name in described:
            found[name] = described[name]
    return tuple(found.values())


# Catalogs repeat from run to run, and hashing one reads every schema. Told by identity, as the dialects give one tuple
# for one text; it is kept beside, so that its id names nothing else meanwhile.
_hashed: dict[int, tuple[tuple[ToolDefinition, ...], str]] = {}
_CATALOGS = 256


def catalog_id(tools: tuple[ToolDefinition, ...] | None) -> str | None:
    """sha256 over the canonical definitions; the order of tools is irrelevant."""
    if tools is None:
        return None
    known = _hashed.get(id(tools))
    if known is None:
        listed = [{"name": t.name, "description": t.description, "schema": t.schema} for t in tools]
        known = (tools, digest(sorted(listed, key=lambda d: str(d["name"]))))
        if len(_hashed) >= _CATALOGS:
            _hashed.clear()
        _hashed[id(tools)] = known
    return known[1]


def _prompt_version(system: str | None) -> str | None:
    return _digest(system) if system else None


@remembered(most=256, longest=16_384)
def _digest(system: str) -> str:
    """Of instructions, which repeat from run to run."""
    return digest(system)


def _conversation(group: Group, sources: Sequence[Observation]) -> str | None:
    """The root's id first: a nested agent may have its own. An id that is a response id groups nothing."""
    responses = {o.response_id for o in sources if o.response_id}
    for o in (*([group.root] if group.root else []), *group.context, *sources):
        if o.conversation_id and o.conversation_id not in responses:
            return o.conversation_id
    return None


def _duration(group: Group, members: Sequence[Observation]) -> int | None:
    if group.root is not None:
        return group.root.span.duration_ns
    start = min((o.span.start_ns for o in members if o.span.start_ns), default=0)
    end = max((o.span.end_ns for o in members), default=0)
    return counted(end - start) if start and end >= start else None


def _total(values: Iterable[Number | None]) -> Number | None:
    known = [v for v in values if v is not None]
    return counted(sum(known)) if known else None


def _silent(events: tuple[Event, ...], text: str | None) -> str | None:
    """A run of which no decision can be seen: nothing was called and nothing was said, as far as the spans tell."""
    if events or text:
        return None
    return "the model's answers were not recorded (is content capture on?)"


def _incomplete(group: Group, tree: Tree) -> str | None:
    """Why a run cannot be taken as whole; None when nothing speaks against it."""
    if group.root is not None and not group.root.span.end_ns:
        return "the agent span has no end"
    if not any(o.kind in ("model", "tool") or o.output for o in group.members):
        return "no model or tool span has arrived"
    if group.root is None:
        missing = sorted({o.span.parent_span_id for o in group.members if tree.orphan(o)})
        if missing:
            return f"parent span {missing[0]} has not arrived"
    return None
