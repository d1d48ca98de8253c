"""Writes docs/frameworks/: a page per instrumentation, its claims computed from the captures of the tests.

Run `.venv/bin/python -m docs.build_frameworks` after a capture or a dialect changed; a test fails while they differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.dialects.captures import ALL, FOLDER, Scenario, runs, signals

from otel_toolselect import dialects
from otel_toolselect.model.runs import Run, Unknown

OUT = Path(__file__).resolve().parent / "frameworks"
NPM = ("ai", "@ai-sdk/otel")
NEEDS = {
    "calls": "tool calls",
    "order": "the model's own decision (emitted calls)",
    "args": "arguments",
    "results": "results",
    "ids": "call ids",
    "oks": "success or failure of a call",
    "request": "the user's request",
    "final": "the final text",
    "catalog": "the tools on offer",
    "conversation": "a conversation id",
}


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name, text in pages().items():
        (OUT / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """All pages by file name."""
    folders = sorted({s.library for s in ALL})
    shown = {f: coverage([s for s in ALL if s.library == f and "nocontent" not in s.name]) for f in folders}
    found = {f"{f}.md": page(f, shown[f]) for f in folders}
    return {**found, "README.md": index(shown)}


def coverage(scenarios: list[Scenario]) -> dict[str, tuple[int, int]]:
    """Have and total per need: of calls for what calls carry, of scenarios for the rest."""
    have = dict.fromkeys(NEEDS, 0)
    total = dict.fromkeys(NEEDS, 0)
    for scenario in scenarios:
        found = runs(scenario)
        for call in (c for r in found for c in r.calls):
            result = next((r.result_of(call) for r in found if call in r.calls), None)
            marks = {
                "calls": True,
                "order": call.emitted,
                "args": not isinstance(call.args, Unknown),
                "ids": call.call_id is not None,
                "results": result is not None and not isinstance(result.value, Unknown),
                "oks": result is not None and result.ok is not None,
            }
            for need, mark in marks.items():
                have[need] += mark
                total[need] += 1
        for need, mark in _run_marks(found).items():
            have[need] += mark
            total[need] += 1
    return {need: (have[need], total[need]) for need in NEEDS}


def _run_marks(found: tuple[Run, ...]) -> dict[str, bool]:
    return {
        "request": any(r.request for r in found),
        "final": any(r.final_text for r in found),
        "catalog": any(r.tools for r in found),
        "conversation": any(r.conversation_id for r in found),
    }


def page(folder: str, shown: dict[str, tuple[int, int]]) -> str:
    meta: dict[str, Any] = json.loads((FOLDER / folder / "truth.json").read_text())
    scenarios = [s for s in ALL if s.library == folder]
    spans = [span for s in scenarios for span in signals(s)[0]]
    read = sorted({d.name for span in spans if (d := dialects.dialect_of(span)) is not None})
    lines = [f"# {folder}", "", f"Seen: {_versions(meta)}. Read by dialect: {', '.join(f'`{r}`' for r in read)}.", ""]
    lines += ["## Install", "", "<!-- not run: installs from a package index -->"]
    lines += ["```sh", _install(meta["packages"]), "```", ""]
    lines += ["Send to `toolselect serve` with the official exporter:", "", "```sh"]
    lines += ["export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317"]
    lines += [f"export {key}={value}" for key, value in sorted(meta["switches"].items())] + ["```", ""]
    captured = sum("nocontent" not in s.name for s in scenarios)
    lines += ["## What arrives", "", f"In {captured} captured scenarios:", "", "| what | seen in |", "| --- | --- |"]
    lines += [f"| {NEEDS[need]} | {_share(*shown[need])} |" for need in NEEDS] + ["", "## What does not", ""]
    lines += _missing(shown, read, sorted({s.scope_name for s in spans}))
    if any("nocontent" in s.name for s in scenarios):
        lines += [_off(folder), ""]
    return "\n".join(lines)


def _missing(shown: dict[str, tuple[int, int]], read: list[str], scopes: list[str]) -> list[str]:
    missing = [need for need in NEEDS if shown[need][0] < shown[need][1]]
    lines = [] if missing else ["Nothing that judging needs is missing."]
    known: dict[str, str] = {}
    for name in read:
        known |= dialects.hints(name, scopes)
    keys = {"args": "arguments", "results": "results", "ids": "ids", "request": "request", "catalog": "catalog"}
    for need in missing:
        switch = known.get(keys.get(need, need))
        lines.append(f"- {NEEDS[need]}" + (f": {switch}" if switch else ": this library does not record it"))
    return [*lines, ""]


def _off(folder: str) -> str:
    found = coverage([s for s in ALL if s.library == folder and "nocontent" in s.name])
    kept = [NEEDS[n] for n in NEEDS if found[n][0]]
    return f"With content capture off there remain: {', '.join(kept) if kept else 'no tool calls at all'}."


def _versions(meta: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in meta["packages"].items())


def _install(packages: dict[str, str]) -> str:
    tool = "npm install" if all(p in NPM for p in packages) else "pip install"
    return f"{tool} {' '.join(packages)}"


def _share(have: int, total: int) -> str:
    return f"{have} of {total}" if total else "no occasion"


def index(shown: dict[str, dict[str, tuple[int, int]]]) -> str:
    lines = [
        "# Frameworks and instrumentations",
        "",
        "What each library was seen to record, computed from the captured spans in `tests/dialects/captures` by",
        "`python -m docs.build_frameworks`. `yes` means in every captured scenario, `some` in some, `no` in none. What",
        "a library does not record is *unknown* to toolselect, never guessed. A library that follows the OpenTelemetry",
        "GenAI conventions needs no page here: the generic dialect reads it. `toolselect doctor` tells the same of",
        "your own spans.",
        "",
        "| library | " + " | ".join(NEEDS) + " |",
        "| --- |" + " --- |" * len(NEEDS),
    ]
    for folder, found in shown.items():
        words = [("-" if not t else "yes" if h == t else "some" if h else "no") for h, t in found.values()]
        lines.append(f"| [{folder}]({folder}.md) | " + " | ".join(words) + " |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
