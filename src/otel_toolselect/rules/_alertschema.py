"""The JSON Schema of alert files and of their tests (see `jsonschema`): keys and words are those of the loaders."""

from __future__ import annotations

from otel_toolselect.model.alerting import AGAINST, DIMENSIONS, SEVERITIES
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.rules import alertconditions, alertfiles, alertparts, alertseries, alerttests, silencing
from otel_toolselect.rules._schema import FLAG, NUMBER, TEXT, WHOLE, Schema, items, mapping, ref, words

_SPAN: Schema = {"type": "string", "pattern": "^[0-9]{1,9}[smhdw]$", "examples": ["5m", "1h", "1d"]}
_TEXTS: Schema = {"type": "object", "additionalProperties": TEXT}


def alert_definitions() -> Schema:
    return {
        "alerts_file": _alerts(),
        "alert_tests_file": _tests(),
        "alert_window": _window(),
        "alert_condition": _condition(),
        "step": {"anyOf": [TEXT, {"type": "object", "additionalProperties": WHOLE}]},
    }


def _alerts() -> Schema:
    shared: Schema = {
        "window": ref("alert_window"),
        "min_count": {"type": "integer", "minimum": 1},
        "no_data_after": _SPAN,
        "for": _SPAN,
        "keep_firing": _SPAN,
        "severity": words(SEVERITIES),
        "owner": TEXT,
        "runbook": TEXT,
        "labels": _TEXTS,
        "annotations": _TEXTS,
    }
    own: Schema = {
        "id": TEXT,
        "signal": {"anyOf": [{"const": s.name, "description": f"{s.about}; of {s.of}"} for s in SIGNALS.values()]},
        "of": _scope(),
        "by": items(words(DIMENSIONS), least=1) | {"uniqueItems": True},
        "condition": ref("alert_condition"),
    }
    entry = mapping({key: {**own, **shared}[key] for key in alertfiles.ALERT_KEYS}, required=("id", "signal"))
    defaults = mapping(
        {key: shared[key] for key in alertfiles.DEFAULT_KEYS}, about="For alerts that do not say otherwise."
    )
    keys: Schema = {"alerts": TEXT, "version": TEXT, "defaults": defaults, "list": items(entry, least=1)}
    return mapping({key: keys[key] for key in alertfiles.KEYS}, required=("alerts", "list"))


def _scope() -> Schema:
    name: Schema = {"anyOf": [TEXT, items(TEXT, least=1)]}
    pair = mapping({"expected": TEXT, "observed": TEXT}, required=("expected", "observed"))
    made = {key: pair if key == "pair" else name for key in alertparts.SCOPE_KEYS}
    return mapping(made, about="What the alert is about; without it, all traffic.")


def _window() -> Schema:
    made: Schema = {"size": _SPAN, "slide": _SPAN, "zone": {"type": "string"}, "lateness": _SPAN}
    return {"anyOf": [_SPAN, mapping({key: made[key] for key in alertparts.WINDOW_KEYS})]}


def _condition() -> Schema:
    positive: Schema = {"type": "number", "exclusiveMinimum": 0}
    made: Schema = {
        "above": NUMBER,
        "below": NUMBER,
        "against": words(AGAINST),
        "drop": positive,
        "rise": positive,
        "effect": positive,
        "significance": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.2},
        "period": _SPAN,
    }
    ways = [{"required": [key]} for key in ("above", "below", "against")]
    return mapping({key: made[key] for key in alertconditions.CONDITION_KEYS}) | {"oneOf": ways}


def _tests() -> Schema:
    late = mapping({"step": TEXT, "at": TEXT, "holds": ref("step")}, required=("step", "at", "holds"))
    series: Schema = {
        "alerts": items(TEXT, least=1),
        "labels": _TEXTS,
        "steps": items(ref("step")),
        "reference": ref("step"),
        "late": items(late),
    }
    test = mapping(
        {
            "name": TEXT,
            "start": TEXT,
            "every": _SPAN,
            "series": items(mapping({k: series[k] for k in alertseries.SERIES_KEYS}, required=("alerts", "steps"))),
            "silences": items(_silence()),
            "expect": items(_expected(), least=1),
        },
        required=("name", "start", "every", "series", "expect"),
    )
    keys: Schema = {"alerts_file": TEXT, "tests": items(test, least=1)}
    return mapping({key: keys[key] for key in alerttests.KEYS}, required=alerttests.KEYS)


def _silence() -> Schema:
    value: Schema = {"anyOf": [TEXT, mapping({"matches": {"type": "string"}}, required=("matches",))]}
    made: Schema = dict.fromkeys(silencing.KEYS, TEXT)
    made["match"] = {"type": "object", "additionalProperties": value, "minProperties": 1}
    return mapping(made, required=("id", "match", "from", "until", "by"))


def _expected() -> Schema:
    facts: Schema = {
        "kind": words(alerttests.NOTIFICATIONS),
        "value": NUMBER,
        "numerator": WHOLE,
        "n": WHOLE,
        "silenced": FLAG,
        "late": FLAG,
        "says": TEXT,
    }
    notification = mapping({key: facts[key] for key in alerttests.NOTIFICATION_KEYS}, required=("kind",))
    made: Schema = {
        "at": TEXT,
        "alert": TEXT,
        "labels": _TEXTS,
        "state": words(alerttests.STATES),
        "notifications": items({"anyOf": [words(alerttests.NOTIFICATIONS), notification]}),
        "says": TEXT,
    }
    return mapping({key: made[key] for key in alerttests.EXPECT_KEYS}, required=("at", "alert"))
