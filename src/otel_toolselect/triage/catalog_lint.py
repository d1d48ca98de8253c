"""What in a catalog makes wrong choices likely (R46). Each check is a function from one catalog to suspicions.

- overlap: see `overlap`; a warning when words and observation agree, when three runs confused the two, or when the
  descriptions reach 85; else a note.
- no-description: nothing but a name to choose by.
- side-effect: a tool that changes something (by the policy, else by its name) whose description has no word of change
  (warning); a description that tells neither reading nor writing (note).
- advertising: praise, or pressure to choose this tool, instead of a boundary.
- size: more than 8 tools (note), more than 15 and more than 20 (warning): accuracy falls with the number on offer.
- leak: wording of a benchmark in a description, or six words in a row of a prompt of the suite.
- generic: a free text that can do anything (`sql: str`), so that neither choice nor arguments can be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import re2

from otel_toolselect.model.catalogs import Catalog, Severity, Suspicion
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.triage.overlap import Overlap, suspicious, words

SIZES: tuple[tuple[int, Severity], ...] = ((20, "warning"), (15, "warning"), (8, "note"))
SHINGLE = 6
STRONG, OFTEN = 85.0, 3
_CHANGE = (
    r"\b(add|append|appl|approv|archiv|assign|block|book|cancel|chang|charg|clear|clos|creat|deactivat|delet|deploy|"
    r"disabl|dispatch|drop|edit|enabl|end\b|ends\b|escalat|execut|fil(?:e|es|ing)\b|giv|grant|hand|insert|install|invit|"
    r"issu|lock|mak|mark|merg|modif|mov|notif|open|overwrit|pay|permanent|plac|post|publish|purchas|refund|regist|"
    r"remov|renam|replac|reset|resolv|restart|revok|run|sav|schedul|send|set|start|stop|stor|submit|subscrib|switch|tak|"
    r"terminat|transfer|trigger|turn|unlock|unsubscrib|updat|upload|wip|writ)|cannot be undone|irrevers"
)
_CHANGE_NAME = (
    r"\b(add|approve|archive|assign|block|book|cancel|charge|close|create|deactivate|delete|deploy|disable|edit|enable|"
    r"execute|grant|insert|install|issue|merge|modify|move|pay|place|post|publish|purchase|refund|remove|rename|replace|"
    r"reset|restart|revoke|schedule|send|set|submit|terminate|transfer|update|upload|wipe|write)\b"
)
_READ = (
    r"\b(read|search|find|list|get|gets|look|fetch|show|return|retriev|quer|check|count|comput|calculat|convert|tell|"
    r"who|what|which|chang\w+ nothing|no side effect|answer|explain|describ|view|download|compar)"
)
_PRAISE = (
    r"\b(best|most powerful|powerful|ultimate|amazing|awesome|revolutionary|cutting[- ]edge|state[- ]of[- ]the[- ]art|"
    r"world[- ]class|seamless\w*|blazing\w*|lightning[- ]fast|effortless\w*|unparalleled|perfect for|"
    r"always (?:use|prefer|choose|call)|prefer this tool|use this (?:tool )?(?:first|instead of any))\b|!"
)
_BENCHMARK = (
    r"\b(benchmark\w*|leaderboard|eval(?:uation)? (?:set|suite|case)|test (?:case|suite)|ground[- ]truth|"
    r"golden (?:set|answer)|expected tool|held[- ]out|bfcl|tau-?bench|swe-?bench|when2call|toolbench)\b"
)
_GENERIC_PARAMETER = (
    r"^(sql|sql_query|command|cmd|code|script|shell|expression|statement|program|bash|python|raw_query)$"
)
_GENERIC_TOOL = (
    r"\b(execute|run|eval|exec)\b.*\b(sql|query|command|code|script|shell|python|bash)\b|\b(call|do) (api|anything)\b"
)
_WORD = r"[\pL\pN]+"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known beside the catalog: confusion counts, effects by tool, and the prompts of the suite."""

    confused: Mapping[Cell, int] = field(default_factory=dict)
    effects: Mapping[str, str | None] = field(default_factory=dict)
    prompts: Sequence[str] = ()


def lint(found: Sequence[Catalog], context: Context) -> tuple[Suspicion, ...]:
    """Suspicions of all catalogs, each once with the catalogs that have it; warnings first."""
    merged: dict[str, Suspicion] = {}
    for catalog in sorted(found, key=lambda c: c.id):
        for check in CHECKS:
            for one in check(catalog, context):
                key = repr((one.kind, one.tools, one.message, one.texts))
                known = merged.get(key, one)
                merged[key] = replace(known, catalogs=(*known.catalogs, catalog.id))
    return tuple(sorted(merged.values(), key=_order))


def _order(one: Suspicion) -> tuple[Any, ...]:
    return (one.severity != "warning", -int(one.figures.get("observed", 0)), one.kind, one.tools, one.message)


def _sizes(catalog: Catalog, context: Context) -> Iterator[Suspicion]:
    n = len(catalog.tools)
    for limit, severity in SIZES:
        if n > limit:
            message = f"{n} tools are on offer, more than {limit}; offer fewer at once, or route to a group first"
            yield Suspicion("size", severity, (), message, figures={"tools": n, "limit": limit})
            return


def _overlaps(catalog: Catalog, context: Context) -> Iterator[Suspicion]:
    for pair in suspicious(catalog.tools, context.confused):
        sure = pair.lexical and pair.observed
        strong = sure or pair.observed >= OFTEN or (pair.description or 0) >= STRONG
        figures = {"name": pair.name, "description": pair.description, "observed": pair.observed}
        yield Suspicion(
            "overlap",
            "warning" if strong else "note",
            (pair.a.name, pair.b.name),
            _told(pair),
            tuple((tool.name, tool.description or "(no description)") for tool in (pair.a, pair.b)),
            {**figures, "wanted_first_got_second": pair.there, "wanted_second_got_first": pair.back},
        )


def _told(pair: Overlap) -> str:
    described = "not both described" if pair.description is None else f"descriptions {pair.description:.0f}/100 alike"
    parts = [f"names {pair.name:.0f}/100 alike", described]
    for wanted, got, n in ((pair.a, pair.b, pair.there), (pair.b, pair.a, pair.back)):
        if n:
            parts.append(f"{n} wanted {wanted.name} and got {got.name}")
    return "; ".join(parts)


def _descriptions(catalog: Catalog, context: Context) -> Iterator[Suspicion]:
    for tool in catalog.tools:
        if not tool.description.strip():
            yield _about(tool, "no-description", "warning", "no description: the model has only the name to choose by")
            continue
        changes = re2.search(_CHANGE, tool.description.lower()) is not None
        effect = context.effects.get(tool.name)
        if (effect == "write" or (effect is None and re2.search(_CHANGE_NAME, words(tool.name)))) and not changes:
            yield _about(tool, "side-effect", "warning", "changes something, and its description does not say what")
        elif not changes and not re2.search(_READ, tool.description.lower()):
            yield _about(tool, "side-effect", "note", "the description does not say whether the tool reads or writes")


def _advertising(catalog: Catalog, context: Context) -> Iterator[Suspicion]:
    for tool in catalog.tools:
        found = re2.search(_PRAISE, tool.description.lower())
        if found:
            said = f"advertises ({found.group(0)!r}) instead of saying where the tool ends and the next one begins"
            yield _about(tool, "advertising", "warning", said)


def _leaks(catalog: Catalog, context: Context) -> Iterator[Suspicion]:
    known = {shingle: prompt for prompt in context.prompts for shingle in _shingles(prompt)}
    for tool in catalog.tools:
        found = re2.search(_BENCHMARK, tool.description.lower())
        if found:
            yield _about(
                tool, "leak", "warning", f"speaks of the test ({found.group(0)!r}); a user's model never sees one"
            )
        prompt = next((known[s] for s in _shingles(tool.description) if s in known), None)
        if prompt is not None:
            one = _about(tool, "leak", "warning", f"repeats {SHINGLE} words in a row of a prompt of the suite")
            yield replace(one, texts=(*one.texts, ("prompt", prompt)))


def _shingles(text: str) -> Iterator[tuple[str, ...]]:
    found = re2.findall(_WORD, text.lower())
    return (tuple(found[i : i + SHINGLE]) for i in range(len(found) - SHINGLE + 1))


def _generic(catalog: Catalog, context: Context) -> Iterator[Suspicion]:
    for tool in catalog.tools:
        properties = (tool.schema or {}).get("properties")
        for name, schema in sorted(properties.items()) if isinstance(properties, dict) else ():
            if re2.search(_GENERIC_PARAMETER, name.lower()) and _free(schema):
                said = f"takes a free text ({name}) that can do anything; offer the few things that it is used for"
                yield _about(tool, "generic", "warning", said)
                break
        else:
            if re2.search(_GENERIC_TOOL, words(tool.name)):
                yield _about(tool, "generic", "note", "its name says that it can do anything")


def _free(schema: Any) -> bool:
    """Any text is allowed."""
    if not isinstance(schema, dict):
        return schema is True
    kinds = schema.get("type", "string")
    textual = "string" in kinds if isinstance(kinds, list) else kinds == "string"
    return textual and not schema.keys() & {"enum", "const", "pattern", "format", "$ref"}


def _about(tool: ToolDefinition, kind: str, severity: Severity, message: str) -> Suspicion:
    return Suspicion(kind, severity, (tool.name,), message, ((tool.name, tool.description or "(no description)"),))


Check: TypeAlias = Callable[[Catalog, Context], Iterator[Suspicion]]
CHECKS: tuple[Check, ...] = (_sizes, _overlaps, _descriptions, _advertising, _leaks, _generic)
