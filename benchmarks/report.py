"""Writes the figures of results.json into README.md, between its marks: `python -m benchmarks.report`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.all import HALF_REQUEST, RESULTS

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- figures: written by `make bench`, not by hand -->\n", "<!-- end of figures -->\n"

Rounds = Sequence[dict[str, Any]]


def spread(rounds: Rounds, name: str, digits: int = 0) -> str:
    """The median, and the lowest and highest behind it; a dash where there is no such figure."""
    values = [found[name] for found in rounds if found[name] is not None]
    if not values:
        return "-"
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


COLUMNS: dict[str, Callable[[Rounds], str]] = {
    "CPU ms per 1,000 spans": lambda r: spread(r, "cpu_ms"),
    "with merges behind it": lambda r: spread(r, "cpu_calm_ms"),
    "accepted/s": lambda r: spread(r, "accepted_per_s"),
    "queryable/s": lambda r: spread(r, "queryable_per_s"),
    "judged/s": lambda r: spread(r, "judged_per_s"),
    "p50 ms": lambda r: spread(r, "p50_ms"),
    "p99 ms": lambda r: spread(r, "p99_ms"),
    "peak MB": lambda r: spread(r, "peak_mb"),
    "disk bytes/span": lambda r: spread(r, "disk_bytes"),
    "of raw spans": lambda r: spread(r, "disk_spans_bytes"),
    "parts": lambda r: spread(r, "parts"),
}


def table(rows: dict[str, Rounds], columns: Sequence[str] = tuple(COLUMNS)) -> str:
    lines = [["", "spans", *columns]]
    lines += [[name, spread(r[:1], "spans"), *(COLUMNS[c](r) for c in columns)] for name, r in rows.items() if r]
    rule = ["---"] + ["---:"] * (len(columns) + 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:])) + "\n"


def growth_table(growth: dict[str, Rounds]) -> str:
    """Medians, and each beside the first of its kind."""
    lines = [
        "| what grew | spans | bytes/span | CPU ms per 1,000 spans | ratio | queryable/s | peak MB | disk bytes/span |"
    ]
    lines.append("| --- |" + " ---: |" * 7)
    base: dict[str, float] = {}
    for name, rounds in growth.items():
        cpu = median(found["cpu_ms"] for found in rounds)
        first = base.setdefault(name.split()[0], cpu)
        size = rounds[0]["bytes"] / rounds[0]["spans"]
        cells = [name, spread(rounds[:1], "spans"), f"{size:,.0f}", spread(rounds, "cpu_ms"), f"{cpu / first:.2f}"]
        cells += [spread(rounds, name) for name in ("queryable_per_s", "peak_mb", "disk_bytes")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def text(results: dict[str, Any]) -> str:
    machine, load = results["machine"], results["load"]
    whole = next(iter(results["whole"].values()))[0]
    parts = [
        f"{results['date']}; {machine['cores']} cores ({machine['architecture']}), {machine['memory_gb']} GB, Python "
        f"{machine['python']}; load average before: {machine['load_before']:.2f}. {results['rounds']} rounds: median "
        "(lowest to highest).\n",
        f"### Whole path\n\n{load['runs']:,} runs, {whole['bytes'] / whole['spans']:,.0f} bytes per span, "
        f"{load['spans_per_request']} spans per request, {whole['in_flight']} in flight.\n",
        table(results["whole"]),
        f"### Acknowledgements at half of capacity\n\nOpen loop, {results['half'][0]['spans_per_s']:,.0f} spans/s, "
        f"{results['half'][0]['requests']} requests of {HALF_REQUEST} spans: p50 "
        f"{spread(results['half'], 'p50_ms', 1)} ms, p99 {spread(results['half'], 'p99_ms', 1)} ms.\n",
    ]
    if results.get("peer_missing"):
        parts.append(f"### Beside a peer\n\nNot measured: {results['peer_missing']}.\n")
    if results.get("peer"):
        columns = [c for c in COLUMNS if c not in ("disk bytes/span", "of raw spans", "parts", "with merges behind it")]
        parts += ["### Beside a peer, same bytes, one in flight\n", table(results["peer"], columns)]
    if results.get("growth"):
        parts += ["### Growth\n", growth_table(results["growth"])]
    return "\n".join(parts)


def main() -> None:
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + BEGIN + "\n" + text(json.loads(RESULTS.read_text())) + "\n" + END + after)


if __name__ == "__main__":
    main()
