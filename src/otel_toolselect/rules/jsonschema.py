"""The JSON Schema of suites, rule files, alert files and test files, for editors that complete and check (issue C).

Made from the registry: every kind of check and every matcher that is installed is in it, with the first sentence of its
module as the description. A plug-in says what its value looks like by an attribute `schema`; without one any value is
taken. The loader stays the judge: the schema lets through whatever the loader takes, and not everything that it refuses
(names that the policy does not know, impossible combinations).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from otel_toolselect.model.ruletests import UNMATCHED
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import LAYERS
from otel_toolselect.rules import givenruns, rulefiles, ruletests, selection
from otel_toolselect.rules._alertschema import alert_definitions
from otel_toolselect.rules._schema import FLAG, NUMBER, TEXT, WHOLE, Schema, items, mapping, ref, words
from otel_toolselect.rules.draft import CLASSES
from otel_toolselect.rules.expect import kinds
from otel_toolselect.rules.infra import NAMED
from otel_toolselect.rules.matching import matchers
from otel_toolselect.rules.policy import EFFECTS
from otel_toolselect.rules.profile import MODES, profiles

DRAFT = "https://json-schema.org/draft/2020-12/schema"


SELECTORS = items(ref("selector"), least=1)

_REFERENCE = mapping(
    {
        "calls": items({"anyOf": [TEXT, mapping({"tool": TEXT, "args": ref("arguments")}, required=("tool",))]}),
        "mode": words(MODES),
        "among": {"anyOf": [{"type": "string"}, items({"type": "string"}, least=1)]},
        "max_distance": WHOLE,
        "matching": ref("matching"),
    },
    required=("calls",),
)

# what a kind's value looks like; a kind that brings a `schema` of its own is asked first
_VALUES: Mapping[str, Schema] = {
    "class": words(CLASSES),
    "first": SELECTORS,
    "eventually": items(ref("selector")),
    "never": items({"type": "string", "examples": ["effect:write", "issue_refund before search_orders ok"]}),
    "order": items(
        mapping({"first": ref("selector"), "then": ref("selector"), "needs": words(["ok"])}, required=("first", "then"))
    ),
    "args": {"type": "object", "additionalProperties": ref("arguments")},
    "reference": {"anyOf": [_REFERENCE, items(_REFERENCE, least=1)]},
    "clarify": mapping({"about": items(TEXT), "judge": {"type": "string"}}),
    "turns": items(
        mapping(
            {
                "at": {"type": "integer", "minimum": 1},
                "first": SELECTORS,
                "never": items({"type": "string"}),
                "eventually": items(ref("selector")),
                "args": {"type": "object", "additionalProperties": ref("arguments")},
            },
            required=("at",),
        )
    ),
    "grounded": items({"type": "string"}, least=1),
    "stale": items({"type": "string"}, least=1),
    "only_if": items(
        mapping(
            {
                "when": mapping({"tool": TEXT, "path": {"type": "string"}, "equals": ref("value")}, required=("tool",)),
                "never": SELECTORS,
                "eventually": SELECTORS,
                "first": SELECTORS,
            },
            required=("when",),
        )
    ),
    "answer": mapping(
        {"contains": items(TEXT), "not_contains": items(TEXT), "cites_results": FLAG, "consistent": FLAG}
    ),
    "said": items(TEXT, least=1),
    "ended": mapping({"before_turn": {"type": "integer", "minimum": 1}}),
    "recovery": mapping({"max_same_failure": WHOLE, "max_failures": WHOLE}),
    "budget": mapping(
        {
            "calls": WHOLE,
            "extra_reads": WHOLE,
            "redundant": WHOLE,
            "tokens": WHOLE,
            "seconds": NUMBER,
            "cost_usd": NUMBER,
        }
    ),
    "cel": items(
        {
            "anyOf": [
                {"type": "string"},
                mapping({"expr": {"type": "string"}, "says": TEXT, "layer": words(LAYERS)}, required=("expr",)),
            ]
        }
    ),
}


def schema() -> Schema:
    """One schema for all kinds of files: the key at the top says which a file is."""
    chosen: Schema = ref("suite_file")
    for key, name in _FILES:
        chosen = {"if": {"required": [key]}, "then": ref(name), "else": chosen}
    return {
        "$schema": DRAFT,
        "title": "toolselect: suites, rule files, alert files, tests of rules and of alerts",
        "type": "object",
        **chosen,
        "$defs": {**_defs(), **alert_definitions()},
    }


# the last that fits decides: tests of alerts have `tests`, too
_FILES = (
    ("rules", "rules_file"),
    ("alerts", "alerts_file"),
    ("tests", "tests_file"),
    ("alerts_file", "alert_tests_file"),
)


def _defs() -> Schema:
    return {
        "suite_file": _suite(),
        "rules_file": _rules(),
        "tests_file": _tests(),
        "policy": _policy(),
        "expect": _expect(),
        "match": _match(),
        "arguments": {"type": "object", "additionalProperties": ref("value")},
        "value": _value(),
        "selector": {
            "type": ["string", "number"],
            "description": "A tool, effect:EFFECT, or an outcome without a call.",
            "examples": [*NO_CALL_LABELS, *(f"effect:{e}" for e in EFFECTS)],
        },
        "matching": {"type": "string", "enum": sorted(profiles()), "description": "How plain values are compared."},
        "run": _run(),
        "event": _event(),
    }


def _expect() -> Schema:
    """A property per kind of check that can be written."""
    written = {name: kind for name, kind in kinds().items() if not kind.implicit}
    return mapping(
        {
            name: {**getattr(kind, "schema", _VALUES.get(name, {})), "description": summary_of(kind)}
            for name, kind in written.items()
        },
        about="What a run must look like; every key is a check.",
    ) | {"minProperties": 1}


def _value() -> Schema:
    """A literal, a matcher, or a nested object of them: a description per matcher, as objects may use the names."""
    options = {name for kind in matchers().values() for name in kind.options}
    found: Schema = {name: {"description": f"An option of {_users(name)}."} for name in sorted(options)}
    found |= {name: {"description": summary_of(kind)} for name, kind in matchers().items()}
    found["optional"] = {"description": "true: the argument may be left out."}
    return {
        "description": "An expected value: a literal, a matcher such as {one_of: [...]}, or a nested object of them.",
        "anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            items(ref("value")),
            {"type": "object", "properties": found, "additionalProperties": ref("value")},
        ],
    }


def _users(option: str) -> str:
    return ", ".join(name for name, kind in matchers().items() if option in kind.options)


def summary_of(plugin: object) -> str:
    """The first sentence of a plug-in's module, without its markup."""
    text = sys.modules[type(plugin).__module__].__doc__ or ""
    first = " ".join(text.strip().split("\n\n")[0].split())
    return first.replace("`", "")


def _policy() -> Schema:
    tool = mapping({"effect": words(EFFECTS), "risk": TEXT})
    return mapping(
        {
            "tools": {"type": "object", "additionalProperties": tool},
            "aliases": {"type": "object", "additionalProperties": TEXT},
            "servers": {"type": "object", "additionalProperties": items(TEXT)},
            "infra_errors": items({"anyOf": [words(NAMED), TEXT]}),
        },
        about="What the tools do; which names are one tool; which failures are the platform's.",
    )


def _suite() -> Schema:
    catalog = mapping({"catalog": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}}, required=("catalog",))
    case = mapping(
        {
            "id": TEXT,
            "prompt": TEXT,
            "agent": TEXT,
            "tools": {"anyOf": [items(TEXT), catalog]},
            "tags": {"type": "object", "additionalProperties": TEXT},
            "risk": TEXT,
            "group": mapping({"id": TEXT, "relation": words(["same", "different"])}, required=("id",)),
            "labels": items(mapping({"by": TEXT, "first": items(TEXT), "class": TEXT, "note": TEXT}, required=("by",))),
            "rationale": TEXT,
            "env": TEXT,
            "expect": ref("expect"),
            "matching": ref("matching"),
        },
        required=("id", "expect"),
    )
    keys = {"suite": TEXT, "version": TEXT, "policy": ref("policy"), "matching": ref("matching")}
    return mapping({**keys, "cases": items(case, least=1)}, required=("suite", "cases"))


def _rules() -> Schema:
    entry: Schema = {
        "id": TEXT,
        "match": ref("match"),
        "expect": ref("expect"),
        "checks": items(words(rulefiles.always_on()), least=1),
        "severity": words(rulefiles.SEVERITIES),
        "owner": TEXT,
        "rationale": TEXT,
        "tags": {"type": "object", "additionalProperties": TEXT},
        "risk": TEXT,
        "matching": ref("matching"),
    }
    keys = {"rules": TEXT, "version": TEXT, "policy": ref("policy"), "matching": ref("matching")}
    listed = items(mapping({k: entry[k] for k in rulefiles.ENTRY_KEYS}, required=("id",)), least=1)
    made = mapping({**keys, "cases": listed, "entries": listed}, required=("rules",))
    return made | {"oneOf": [{"required": ["cases"]}, {"required": ["entries"]}]}


def _match() -> Schema:
    name: Schema = {"anyOf": [TEXT, items(TEXT, least=1), mapping({"matches": {"type": "string"}})]}
    scalar: Schema = {"type": ["string", "number", "boolean", "null"]}
    made: Schema = {
        "agent": name,
        "service": name,
        "model": name,
        "tools_offered": items(TEXT, least=1),
        "request": {"type": "string", "description": "An RE2 pattern, found in the user's request."},
        "attributes": {"type": "object", "additionalProperties": {"anyOf": [scalar, items(scalar, least=1)]}},
    }
    return mapping({k: made[k] for k in selection.KEYS}, about="Which runs the rule is about; without it, all.")


def _tests() -> Schema:
    spans: Schema = {"anyOf": [{"type": "string"}, items({"type": "string"}), {"type": "object"}]}
    given = mapping(
        {"run": ref("run"), "events": items(ref("event")), "runs": items(ref("run"), least=1), "spans": spans}
    )
    verdict = mapping(
        {
            "rule": TEXT,
            "case": TEXT,
            "run": TEXT,
            "status": words(ruletests.STATUSES),
            "layers": mapping({layer: words(s for s in ruletests.STATUSES if s != UNMATCHED) for layer in LAYERS}),
            "failure": TEXT,
            "owner": TEXT,
            "first_action": TEXT,
            "says": TEXT,
        }
    )
    # `yes` and `no` are booleans to editors that read YAML 1.1
    judge: Schema = {"type": "object", "additionalProperties": {"enum": ["yes", "no", True, False]}}
    test = mapping(
        {"name": TEXT, "given": given, "expect": items(verdict, least=1), "judge": judge},
        required=("name", "given", "expect"),
    )
    return mapping({"files": items(TEXT, least=1), "tests": items(test, least=1)}, required=("files", "tests"))


def _run() -> Schema:
    tool = {"anyOf": [TEXT, mapping({"name": TEXT, "description": TEXT, "schema": {"type": "object"}})]}
    special: Schema = {
        "attempt": WHOLE,
        "input_tokens": WHOLE,
        "output_tokens": WHOLE,
        "seconds": NUMBER,
        "cost_usd": NUMBER,
        "tools": items(tool),
        "history": items(TEXT),
        "attributes": {"type": "object"},
        "events": items(ref("event")),
    }
    return mapping({name: special.get(name, TEXT) for name in givenruns.FACTS})


def _event() -> Schema:
    call: Schema = {
        "call": TEXT,
        "args": {"type": "object"},
        "turn": WHOLE,
        "ok": FLAG,
        "value": {},
        "error": TEXT,
        "infra": FLAG,
        "executed": FLAG,
        "server": TEXT,
    }
    recorded: Schema = {name: {} for name in givenruns.EVENT_KEYS}
    recorded["kind"] = words(["assistant", "tool_call", "tool_result"])
    return {
        "anyOf": [
            mapping({k: call[k] for k in givenruns.CALL_KEYS}, required=("call",)),
            mapping({"text": TEXT, "turn": WHOLE}, required=("text",)),
            mapping(recorded, required=("kind",)),
        ]
    }
