"""A production run becomes two cases (R19): the minimal reproducer for the challenge set, and a generalized variant for
the core set. Drafts: a person reads them before they count.

- reproducer: the request as it was said, redacted; the tools pinned by name as they were offered.
- variant: the same request with its particulars (numbers, ids) replaced by others of the same shape, deterministically,
  so that a fix cannot pass by knowing them. Both stand in one metamorphic group, `same`.
- expected: what the user of the command says, or the first allowed action of the case that the run was held to.
- never: the tool that was called instead, when the policy or nothing says that it only reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from otel_toolselect.errors import UsageError
from otel_toolselect.model.runs import NO_CALL_LABELS, Run
from otel_toolselect.rules import Suite
from otel_toolselect.triage.redaction import Redactor

CLASSES = {"none": "none", "ask_followup": "clarify", "refuse_no_tool": "refuse"}
_PARTICULAR = re2.compile(r"[\pL\pN]*\d[\pL\pN]*(?:[.-][\pL\pN]*\d[\pL\pN]*)*")
_DATE = re2.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.(?:\d{4})?")
REWORD = "TODO say it in other words: "
HARMLESS = ("read", "metadata", "handoff")


@dataclass(frozen=True, slots=True)
class Draft:
    """`text` is a suite file; `notes` say what a person must look at."""

    text: str
    notes: tuple[str, ...]


def promote(run: Run, *, suite: Suite | None = None, expected: Sequence[str] = (), risk: str | None = None) -> Draft:
    """Raises UsageError when the run holds no request, or when nothing says what would have been right."""
    if not run.request:
        raise UsageError(f"run {run.run_id} holds no request; record the content (`toolselect doctor` says how)")
    case = next((c for c in suite.cases if c.id == run.case_id), None) if suite is not None else None
    wanted = list(expected) or ([s.label for s in case.expect.first] if case is not None else [])
    if not wanted:
        offered = ", ".join(run.tools_offered or ()) or "not recorded"
        labels = ", ".join(NO_CALL_LABELS)
        raise UsageError(f"say what would have been right: --first NAME (offered: {offered}; or {labels})")
    redactor = Redactor()
    prompt = redactor.clean(_whole(run.request))
    varied = generalized(prompt)
    stem = "promoted-" + hashlib.sha256(run.run_id.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    shared = _shared(run, suite, wanted, risk or (case.risk if case is not None else None), stem)
    cases = [
        {"id": stem, "prompt": prompt, "tags": {"bucket": "challenge"}, **shared},
        {
            "id": f"{stem}-general",
            "prompt": varied if varied != prompt else REWORD + prompt,
            "tags": {"bucket": "core"},
            **shared,
        },
    ]
    notes = tuple(_notes(run, redactor, prompt, wanted))
    name = suite.name if suite is not None else run.suite or run.agent or "promoted"
    return Draft("".join(_text(name, _policy(suite, cases), cases, run, notes)), notes)


def _shared(run: Run, suite: Suite | None, wanted: list[str], risk: str | None, stem: str) -> dict[str, Any]:
    expect: dict[str, Any] = {"first": wanted}
    if wanted[0] in CLASSES and len(wanted) == 1:
        expect = {"class": CLASSES[wanted[0]], **expect}
    took = run.first_action
    spelled = bool(run.calls) and took.isprintable() and " " not in took  # `never` reads a phrase as a condition
    if spelled and took not in wanted and _may_change(suite, took):
        expect["never"] = [took]
    pinned = {"tools": list(run.tools_offered or ())} if _pinnable(run, wanted) else {}
    risks = {"risk": risk} if risk else {}
    why = f"from run {run.run_id}: {took} was taken where {' or '.join(wanted)} is right"
    return {**pinned, **risks, "group": {"id": stem, "relation": "same"}, "rationale": why, "expect": expect}


def _pinnable(run: Run, wanted: Sequence[str]) -> bool:
    """Tools are pinned when something right was among them; else no run of the case could pass."""
    offered = run.tools_offered or ()
    return bool(offered) and any(name in NO_CALL_LABELS or name in offered for name in wanted)


def _may_change(suite: Suite | None, tool: str) -> bool:
    return suite is None or suite.policy.effect_of(suite.policy.canonical(tool)) not in HARMLESS


def _policy(suite: Suite | None, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The tools that the cases name, with what the suite says of them: the loader wants each named."""
    names = {name for case in cases for name in (*case.get("tools", ()), *case["expect"]["first"])}
    names |= {name for case in cases for name in case["expect"].get("never", ())}
    known = suite.policy.tools if suite is not None else {}
    tools: dict[str, Any] = {}
    for name in sorted(names - set(NO_CALL_LABELS)):
        found = known.get(name)
        facts = {"effect": found.effect, "risk": found.risk} if found is not None else {}
        tools[name] = {key: value for key, value in facts.items() if value}
    return tools


def generalized(prompt: str) -> str:
    """The prompt with every number and id replaced by another of the same shape; the same one always by the same."""
    return str(_PARTICULAR.sub(lambda match: _other(match.group(0)), prompt))


def _other(text: str) -> str:
    """Digits become other digits (a leading zero stays, a leading digit never becomes one), the rest stays."""
    if _DATE.fullmatch(text):  # other digits would make an impossible date
        return text
    draw = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    out = []
    for i, ch in enumerate(text):
        if not ch.isascii() or not ch.isdigit() or ch == "0":
            out.append(ch)
        else:
            out.append(str((int(ch) + draw[i % len(draw)] % 8) % 9 + 1))
    return "".join(out)


def _notes(run: Run, redactor: Redactor, prompt: str, wanted: Sequence[str]) -> Iterator[str]:
    for kind, n in sorted(redactor.counts.items()):
        yield f"redacted: {n} x {kind}"
    yield "names and postal addresses have no shape: read both prompts before you commit them"
    if run.history:
        yield f"the user had said {len(run.history)} things before; the prompt alone may not reproduce it"
    if run.tools is None:
        yield "the run recorded no catalog: pin the tools by hand"
    elif not _pinnable(run, wanted):
        yield f"{' or '.join(wanted)} was not on offer: the catalog had a gap; the tools are not pinned"
    if generalized(prompt) == prompt:
        yield "the request holds no number or id: reword the general variant by hand"


def _text(
    name: str, tools: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], run: Run, notes: Sequence[str]
) -> Iterator[str]:
    """YAML whose every scalar is a JSON text, so that no reader takes one for something else."""
    yield f"# Drafted by `toolselect promote` from trace {_comment(run.trace_id)}.\n"
    yield from (f"# - {note}\n" for note in notes)
    yield f"\nsuite: {_json(name)}\n\npolicy:\n  tools:\n" if tools else f"\nsuite: {_json(name)}\n"
    yield from (f"    {_json(tool)}: {_json(facts)}\n" for tool, facts in tools.items())
    yield "\ncases:\n"
    for case in cases:
        for i, (key, value) in enumerate(case.items()):
            yield f"  {'- ' if i == 0 else '  '}{key}: {_json(value)}\n"
        yield "\n" if case is not cases[-1] else ""


def _comment(text: str) -> str:
    return "".join(ch for ch in text if ch.isalnum() or ch in "-_")


def _json(value: Any) -> str:
    text = _whole(json.dumps(value, ensure_ascii=False))
    return text if text.isprintable() else json.dumps(json.loads(text))


def _whole(text: str) -> str:
    """Without lone surrogates, which no file in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
