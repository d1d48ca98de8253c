"""A made-up history of runs that were judged once, judged again, moved in time and taken back; and what a list of them
is, by looking at each of them in Python.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import AssistantText, Run, ToolCall
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import Store
from otel_toolselect.store.browse_api import TEXT_SEARCHED, RunFilter
from tests.store.builders import DAY, HOUR, T0

RUNS = 160
WORDS = ("refund", "Order", "it's", "100%", "a_b", "back\\slash", "grüße", "Öl", "new\nline", "日本", "x" * 50)
TOOLS = ("search", "refund", "it's", "none")
SAID_MARKS = ("forbidden", "unauthorized", "infra", "catalog_gap")
ONE_OF = {
    "status": "status", "failure": "failure", "owner": "owner", "origin": "origin", "agent": "agent",
    "service": "service", "model": "model", "provider": "provider", "prompt": "prompt_version", "catalog": "catalog_id",
    "tenant": "tenant", "label": "label", "case": "case_id", "first_action": "first_action",
}  # fmt: skip
SAID = ("status", "failure", "owner", "origin")
EITHER = ("case", "first_action")


@dataclass
class History:
    """What stands in the end: runs by id, and their decisions, the one of no expectation first."""

    runs: dict[str, Run] = field(default_factory=dict)
    decisions: dict[str, list[Decision]] = field(default_factory=dict)

    def fitting(self, of: RunFilter, tenant: str | None) -> list[str]:
        return [run_id for run_id in self.runs if self._fits(run_id, of, tenant)]

    def ordered(self, ids: list[str], sort: str, descending: bool) -> list[str]:
        """Those that lack what is sorted by come last either way."""
        known = [(value, run_id) for run_id in ids if (value := self._value(run_id, sort)) is not None]
        lacking = sorted((run_id for run_id in ids if self._value(run_id, sort) is None), reverse=descending)
        return [run_id for _, run_id in sorted(known, reverse=descending)] + lacking

    def _value(self, run_id: str, sort: str) -> Any:
        facts = self.decisions[run_id][0]
        if sort == "tokens":
            both = [n for n in (facts.input_tokens, facts.output_tokens) if n is not None]
            return sum(both) if both else None
        return {"start": facts.start_ns, "duration": facts.duration_ns, "cost": facts.cost_usd,
                "calls": len(facts.calls)}[sort]  # fmt: skip

    def _fits(self, run_id: str, of: RunFilter, tenant: str | None) -> bool:
        facts, *said = self.decisions[run_id]
        if tenant is not None and facts.tenant != tenant:
            return False
        if not (of.since_ns or 0) <= facts.start_ns < (2**63 if of.until_ns is None else of.until_ns):
            return False
        asked = any(getattr(of, name) for name in (*SAID, "suite", "expected", "observed"))
        asked = asked or any(mark in SAID_MARKS for mark in of.has)
        for name, attribute in ONE_OF.items():
            if name not in SAID and not (asked and name in EITHER) and not _among(facts, attribute, getattr(of, name)):
                return False
        if not all(_marked(facts, mark) for mark in of.has if mark not in SAID_MARKS):
            return False
        if asked and not any(_said(one, of) for one in said):
            return False
        if not asked and of.called and not any(name in of.called for name, _ in facts.calls):
            return False
        return not of.text or self._holds(run_id, of.text)

    def _holds(self, run_id: str, text: str) -> bool:
        run = self.runs[run_id]
        begin = text.strip().lower()
        if run_id.startswith(begin) or run.trace_id.startswith(begin):
            return len(begin) >= 4
        parts = ((run.request or "")[:TEXT_SEARCHED], (run.final_text or "")[:TEXT_SEARCHED])
        return text.lower() in "\n".join(parts).lower()


def _among(decision: Decision, attribute: str, values: tuple[str, ...]) -> bool:
    return not values or (getattr(decision, attribute) or "") in values


def _marked(decision: Decision, mark: str) -> bool:
    return {
        "ghost": bool(decision.ghosts),
        "forbidden": bool(decision.forbidden),
        "unauthorized": bool(decision.unauthorized),
        "failed_call": decision.failed_calls > 0,
        "loop": decision.loops > 0,
        "redundant": any(again for _, again in decision.calls),
    }.get(mark, decision.excluded == mark)


def _said(one: Decision, of: RunFilter) -> bool:
    if of.suite and not {one.suite, f"{one.suite}/{one.rule}"} & set(of.suite):
        return False
    if not of.origin and not one.counts:
        return False
    if not all(_among(one, ONE_OF[name], getattr(of, name)) for name in (*SAID, *EITHER)):
        return False
    if of.called and not any(name in of.called for name, _ in one.calls):
        return False
    if (of.expected or of.observed) and not any(
        (not of.expected or cell.expected in of.expected) and (not of.observed or cell.observed in of.observed)
        for cell in one.cells
    ):
        return False
    return all(_marked(one, mark) for mark in of.has if mark in SAID_MARKS)


def written(store: Store) -> History:
    """The history is written as it would come about: by several inserts, with what changes later."""
    pick, history = random.Random(7), History()
    _judge(store, history, [_run(pick, number) for number in range(RUNS)])
    # late spans: judged again, some of them with another start
    _judge(store, history, [_run(pick, number) for number in range(0, RUNS, 5)])
    gone = [f"{number:08x}" for number in range(3, RUNS, 17)]
    store.retract(gone)
    for run_id in gone:
        del history.runs[run_id], history.decisions[run_id]
    return history


def _judge(store: Store, history: History, made: list[tuple[Run, list[Decision]]]) -> None:
    """Each under all expectations at once: what is not said any more is taken back, wherever it was filed."""
    for run, decisions in made:
        history.runs[run.run_id], history.decisions[run.run_id] = run, decisions
    runs = [run for run, _ in made]
    store.write_runs(runs)
    store.replace_judged(["", "s", "p", "labels"], runs, [], [one for _, decisions in made for one in decisions])


def _run(pick: random.Random, number: int) -> tuple[Run, list[Decision]]:
    run_id, trace_id = f"{number:08x}", f"{number % 40:04d}cafe"
    start = T0 + pick.choice((0, 1, HOUR, 5 * HOUR, 23 * HOUR)) + (number % 7) * 9 * DAY + number % 3
    texts = [" ".join(pick.choices(WORDS, k=3)) if pick.random() < 0.8 else None for _ in range(2)]
    names = pick.choices(TOOLS[:3], k=pick.randrange(4))
    events = tuple(ToolCall(0, i, name, {}, None, True, False, "genai") for i, name in enumerate(names))
    run = Run(
        run_id, trace_id, (trace_id,), (*events, AssistantText(1, 9, texts[1] or "", "genai")), start_ns=start,
        request=texts[0], final_text=texts[1],
    )  # fmt: skip
    facts = Decision(
        suite="", rule="", run_id=run_id, trace_id=trace_id, case_id=pick.choice(("", "c1")), start_ns=start,
        status="n/a", first_action=names[0] if names else "none", observed_class="call",
        excluded=pick.choice((None, None, "incomplete")), service=pick.choice(("shop", "it's")),
        agent=pick.choice((None, "a", "b")), provider=pick.choice((None, "p")), model=pick.choice(("m1", "m2")),
        prompt_version=pick.choice((None, "v1", "v2")), catalog_id=pick.choice((None, "k")),
        tenant=pick.choice(("", "t1", "t2")), label=pick.choice((None, "l")),
        calls=tuple((name, pick.random() < 0.2) for name in names),
        ghosts=tuple(name for name in names if pick.random() < 0.2), failed_calls=pick.randrange(2),
        loops=pick.randrange(2), duration_ns=pick.choice((None, 0, 5, 5, 2**62)),
        input_tokens=pick.choice((None, 7, 2**62)), output_tokens=pick.choice((None, 1, 2**62)),
        cost_usd=pick.choice((None, 0.1, 0.1 + 0.2, 1e-9)),
    )  # fmt: skip
    said: list[Decision] = []
    for suite, rule in (("s", ""), ("p", "never"), ("p", "a/b"), ("labels", "person"), ("labels", "judge")):
        if pick.random() < 0.5:
            said.append(_said_of(pick, facts, suite, rule))
    return run, [facts, *said]


def _said_of(pick: random.Random, facts: Decision, suite: str, rule: str) -> Decision:
    origin: Any = rule if suite == "labels" else "rule" if rule else "suite"
    return replace(
        facts, suite=suite, rule=rule, origin=origin, counts=rule != "judge" or pick.random() < 0.5,
        status=pick.choice(("pass", "fail", "needs_review")), failure=pick.choice((None, "wrong", "it's")),
        owner=pick.choice((None, "ann")), excluded=pick.choice((None, None, "infra", "catalog_gap")),
        case_id=pick.choice(("c1", "c2")), first_action=pick.choice(TOOLS),
        cells=tuple(Cell(pick.choice(TOOLS), pick.choice(TOOLS)) for _ in range(pick.randrange(3))),
        forbidden=("refund",) if pick.random() < 0.2 else (), unauthorized=("refund",) if pick.random() < 0.2 else (),
    )  # fmt: skip
