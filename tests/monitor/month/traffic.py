"""The decisions of a month as they arrive: seeded, with the same decisions in every version of Python and numpy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from zoneinfo import ZoneInfo

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import Cell
from tests.monitor.month.plan import (
    AGENTS,
    DAYS,
    HOUR,
    LEAD_DAYS,
    MINUTE,
    OTHERS,
    RECALL,
    SHARES,
    TOOLS,
    YEAR,
    ZONE,
    Plan,
    at,
)

SUITE = "support"
REFUND, INVOICE = "issue_refund", "get_invoice"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Decisions that reach the store at a time. `again`: they replace what was said of their runs."""

    at_ns: int
    decisions: tuple[Decision, ...]
    again: bool = False


def arrivals(plan: Plan) -> list[Arrival]:
    """In order of arrival, hour by hour; late, corrected and redelivered ones when they come."""
    random = Random(plan.seed)
    found: list[Arrival] = []
    late: list[Decision] = []
    for start in range(at(1 - LEAD_DAYS), at(DAYS + 1), HOUR):
        rows = [] if start in plan.silent else list(_hour(plan, random, start))
        if start in plan.late:
            late = [*rows, *_confused_late(plan, random, start)]
        elif rows:
            found.append(Arrival(start + HOUR + MINUTE, tuple(rows)))
    on_time = [d for arrival in found for d in arrival.decisions]
    found += [
        Arrival(plan.late_ns, tuple(late)),
        Arrival(plan.redelivered_ns, tuple(d for d in on_time if d.start_ns in plan.redelivered)),
        Arrival(plan.relabelled_ns, tuple(_relabelled(plan, random, on_time)), again=True),
        *(Arrival(when, tuple(_skewed(when))) for when in plan.skewed_ns),
    ]
    return sorted(found, key=lambda a: a.at_ns)


def _hour(plan: Plan, random: Random, start: int) -> Iterator[Decision]:
    """As many as the hour of the day and the day of the week bring, at random instants of it."""
    local = datetime.fromtimestamp(start // 10**9, ZoneInfo(ZONE))
    daytime = max(0.0, math.sin(math.pi * (local.hour - 6) / 16)) if 6 <= local.hour <= 22 else 0.0
    count = round((8 + 58 * daytime) * plan.scale * (0.6 if local.weekday() >= 5 else 1.0))
    for i, offset in enumerate(sorted(random.randrange(HOUR) for _ in range(count))):
        yield _decision(plan, random, f"{start // 10**9:x}-{i}", start + offset)
    for when in plan.forbidden:
        if start <= when < start + HOUR:
            name = f"forbidden-{when // 10**9:x}"
            yield replace(_decision(plan, random, name, when), forbidden=("delete_account",))


def _decision(plan: Plan, random: Random, run_id: str, start: int) -> Decision:
    agent = random.choices(list(AGENTS), list(AGENTS.values()))[0]
    expected = random.choices(TOOLS, _weights(plan, start))[0]
    observed = _chosen(plan, random, expected, start)
    spoiled = random.random() < (plan.outage_share if start in plan.outage else 0.004)
    price = 0.02 * (plan.dearer if start >= plan.dearer_ns else 1.0)
    right = expected == observed
    found = Decision(
        suite=SUITE,
        rule="",
        run_id=run_id,
        trace_id=run_id,
        case_id=expected,
        start_ns=start,
        status="pass" if right else "fail",
        first_action=observed,
        observed_class="call",
        cells=(Cell(expected, observed),),
        layers={"selection": "pass" if right else "fail"},
        service="shop",
        agent=agent,
        model="m-1" if start < plan.release_ns else "m-2",
        prompt_version=_prompt(plan, agent, start),
        calls=((observed, False),),
        duration_ns=int(random.lognormvariate(0.5, 0.4) * 10**9),
        cost_usd=price * random.lognormvariate(0.0, 0.3),
    )
    if not spoiled:
        return found
    return replace(found, status="excluded", excluded="infra", first_action="none", cells=(), layers={}, calls=())


def _prompt(plan: Plan, agent: str, start: int) -> str:
    """One agent gets the new model later than the others, with a prompt of its own: one release all the same."""
    if start >= plan.fix_ns:
        return "p-3"
    return "p-2" if start >= plan.rollout_ns and agent == "help" else "p-1"


def _weights(plan: Plan, start: int) -> list[float]:
    tail = [1 / (i + 3) for i in range(len(OTHERS))]
    rest = (1 - sum(SHARES.values())) / sum(tail)
    weights = dict(zip(TOOLS, [*SHARES.values(), *(w * rest for w in tail)], strict=True))
    if start in plan.campaign:
        weights[plan.campaign_tool] *= plan.campaign_factor
    return list(weights.values())


def _chosen(plan: Plan, random: Random, expected: str, start: int) -> str:
    if expected == REFUND and start in plan.confusion and random.random() < plan.confusion_share:
        return INVOICE
    weak = expected == plan.weak_tool and plan.release_ns <= start < plan.fix_ns
    if random.random() < (plan.weak_recall if weak else RECALL):
        return expected
    return random.choice([tool for tool in TOOLS if tool != expected])


def _confused_late(plan: Plan, random: Random, start: int) -> Iterator[Decision]:
    for i in range(round(plan.late_confused * plan.scale)):
        made = _decision(plan, random, f"late-{i}", start + random.randrange(HOUR))
        yield _labelled(replace(made, status="fail", excluded=None, first_action=INVOICE), REFUND)


def _relabelled(plan: Plan, random: Random, judged: list[Decision]) -> Iterator[Decision]:
    """People looked again: of some runs that passed another tool was expected."""
    for decision in judged:
        looked_at = decision.start_ns in plan.relabelled and decision.status == "pass"
        if looked_at and random.random() < plan.relabelled_share:
            yield _labelled(decision, random.choice([t for t in OTHERS if t != decision.first_action]))


def _labelled(decision: Decision, expected: str) -> Decision:
    cell = Cell(expected, decision.first_action)
    return replace(decision, status="fail", case_id=expected, cells=(cell,), layers={"selection": "fail"})


def _skewed(when: int) -> Iterator[Decision]:
    """Runs of clocks that are ten years ahead and 400 days behind, as bad as can be."""
    for i in range(30):
        for name, start in (("ahead", when + 10 * YEAR), ("behind", when - 400 * 24 * HOUR)):
            wrong = Decision(
                suite=SUITE, rule="", run_id=f"{name}-{when}-{i}", trace_id="t", case_id=REFUND, start_ns=start + i,
                status="fail", first_action=INVOICE, observed_class="call", cells=(Cell(REFUND, INVOICE),),
                layers={"selection": "fail"}, agent="help", model="m-9", forbidden=("delete_account",), cost_usd=9.0,
            )  # fmt: skip
            yield wrong
