"""Alerts under test: a month with known incidents, and how soon and how falsely alerts fire.

    python -m benchmarks.month [--scale 4] [--every-hours 6]    # the month of tests/monitor/month, larger
    python -m benchmarks.month --table [--months 60]           # writes the tables of docs/detection.md

The month goes through the monitor on an embedded store, once; everything told is held against what its decisions say.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.detection import Case, Outcome, Setting, detections, false_alarms

DOC = Path(__file__).parents[1] / "docs" / "detection.md"
MONTHS = 60
PER_DAY = (24, 120, 600)
RECALL = 0.95
CONFUSED = 0.002
DROPS = (0.02, 0.05, 0.10, 0.20)
SHARES = (0.01, 0.03, 0.10)


def _recall(name: str, window: str, significance: float, more: str = "") -> Setting:
    condition = f"{{against: baseline, drop: 0.02, significance: {significance}}}"
    return Setting(name, f"signal: recall, of: {{tool: t}}, window: {window}, condition: {condition}{more}")


def _share(name: str, window: str, condition: str, more: str = "") -> Setting:
    of = "{pair: {expected: a, observed: b}}"
    return Setting(name, f"signal: confusion_share, of: {of}, window: {window}, condition: {condition}{more}")


SLIDING = "{size: 24h, slide: 1h}"
RECALLS = [
    _recall("`1h`, p < 0.01", "1h", 0.01),
    _recall("`1h`, p < 0.001", "1h", 0.001),
    _recall("`1h`, p < 0.01, `for: 1h`", "1h", 0.01, ", for: 1h"),
    _recall("`1h`, p < 0.001, `min_count: 50`", "1h", 0.001, ", min_count: 50"),
    _recall("`6h`, p < 0.001", "6h", 0.001),
    _recall("`24h` by `1h`, p < 0.01", SLIDING, 0.01),
    _recall("`24h` by `1h`, p < 0.001", SLIDING, 0.001),
    _recall("`1d`, p < 0.01", "1d", 0.01),
    _recall("`1d`, p < 0.001", "1d", 0.001),
    _recall("`1d`, p < 0.001, `min_count: 100`", "1d", 0.001, ", min_count: 100"),
    _recall("`1w` by `1d`, p < 0.001", "{size: 1w, slide: 1d}", 0.001),
]
BASELINE = "{against: baseline, rise: 0.005, significance: 0.001}"
CONFUSIONS = [
    Setting("`1h`, more than 2", "signal: confusion_count, of: {pair: {expected: a, observed: b}}, window: 1h, "
            "condition: {above: 2}"),
    _share("`1h`, above 0.05", "1h", "{above: 0.05}"),
    _share("`6h`, above 0.02", "6h", "{above: 0.02}"),
    _share("`6h`, above 0.02, `min_count: 100`", "6h", "{above: 0.02}", ", min_count: 100"),
    _share("`1d`, above 0.02", "1d", "{above: 0.02}"),
    _share("`1d`, above 0.02, `min_count: 100`", "1d", "{above: 0.02}", ", min_count: 100"),
    _share("`6h`, baseline, p < 0.001", "6h", BASELINE),
    _share("`24h` by `1h`, baseline, p < 0.001", SLIDING, BASELINE),
    _share("`1d`, baseline, p < 0.001", "1d", BASELINE),
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="write the tables of docs/detection.md")
    parser.add_argument("--months", type=int, default=MONTHS, help="of each cell of the tables; seeds 1, 2, ...")
    parser.add_argument("--scale", type=float, default=4.0, help="times 770 decisions a weekday")
    parser.add_argument("--every-hours", type=int, default=6, help="between two rounds of the monitor")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.table:
        write_tables(asked.months)
    elif not through_the_month(asked.seed, asked.scale, asked.every_hours):
        sys.exit(1)


def through_the_month(seed: int, scale: float, every_hours: int) -> bool:
    from tests.monitor.month.plan import HOUR, planned
    from tests.monitor.month.traffic import arrivals
    from tests.monitor.month.truth import rounds_of, table, told
    from tests.monitor.month.watches import watches
    from tests.monitor.month.watching import Watched

    plan = planned(seed, scale)
    came = arrivals(plan)
    rows, rounds = table(came), rounds_of(plan, every_hours * HOUR)
    with tempfile.TemporaryDirectory(prefix="month-") as folder:
        before = time.process_time()
        found = Watched(plan, f"chdb://{folder}").through(came, rounds, [rounds[len(rounds) // 3]])
        cpu = time.process_time() - before
    wanted = [one for watch in watches(plan) for one in told(watch, rows, rounds)]
    print(f"{len(rows):,} decisions, {len(rounds)} rounds, {cpu:.0f} s of CPU: {len(found)} notifications")
    for what, left in (("missing", set(wanted) - set(found)), ("not asked for", set(found) - set(wanted))):
        for one in sorted(left):
            print(f"{what}: {one}")
    return sorted(found) == sorted(wanted)


def write_tables(months: int) -> None:
    text = DOC.read_text("utf-8")
    seeds = range(1, months + 1)
    for name, lines in (
        ("recall", table("drop of", RECALLS, [Case(n, RECALL, RECALL) for n in PER_DAY], [-d for d in DROPS], seeds)),
        ("confusion", table("share of", CONFUSIONS, [Case(n, CONFUSED, CONFUSED) for n in PER_DAY], SHARES, seeds)),
    ):
        body = "\n".join(lines)
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(\n<!-- end of {name} -->)"
        text, done = re.subn(pattern, lambda m, body=body: m[1] + body + m[2], text, flags=re.S)  # type: ignore[misc]
        if done != 1:
            raise SystemExit(f"{DOC} has no place for the table {name!r}")
        print(body, end="\n\n")
    staged = DOC.with_suffix(".tmp")
    staged.write_text(text, "utf-8")
    staged.replace(DOC)


def table(
    word: str, settings: Sequence[Setting], cases: Sequence[Case], effects: Sequence[float], seeds: Sequence[int]
) -> Iterator[str]:
    """`effects`: added to the usual share where negative, else the new share."""
    heads = [f"{word} {100 * abs(e):g} {'points' if e < 0 else '%'}" for e in effects]
    yield f"| a day | alert | false alarms a month | {' | '.join(heads)} |"
    yield f"| ---: | --- | ---: | {' | '.join('---:' for _ in heads)} |"
    for case in cases:
        quiet = false_alarms(settings, case, seeds)
        changed = [Case(case.per_day, case.usual, case.usual + e if e < 0 else e) for e in effects]
        found = [detections(settings, one, seeds) for one in changed]
        for i, setting in enumerate(settings):
            cells = " | ".join(cell(outcomes[i]) for outcomes in found)
            yield f"| {case.per_day} | {setting.name} | {quiet[i]:.2f} | {cells} |"


def cell(outcome: Outcome) -> str:
    """`95 %, 6 h`: of the months in which it fired within a week, the median of the delay."""
    return f"{100 * outcome.share:.0f} %, {median(outcome.delays):.0f} h" if outcome.delays else "0 %"


if __name__ == "__main__":
    main()
