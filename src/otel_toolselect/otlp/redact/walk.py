"""Redaction of OTLP messages, in place: every text in them, wherever it stands."""

from __future__ import annotations

import json
from typing import Any

from otel_toolselect.model.remembered import remembered
from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp import encode, protodecode
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.redact import content
from otel_toolselect.otlp.redact.rules import KeyRule, Rules
from otel_toolselect.otlp.redact.texts import LONGEST_KEY, Texts
from otel_toolselect.otlp.skim import Skim, skim


class Redactor:
    """Applies rules to requests; one for the life of a receiver, as it remembers which keys match what."""

    def __init__(self, rules: Rules, *, drop_content: bool) -> None:
        self._rules = rules
        self._drop_content = drop_content
        self._texts = Texts(rules)
        self._stays = remembered(4_096, LONGEST_KEY)(self._key_stays)

    def message(self, request: Any, signal: Signal, found: Skim) -> int:
        """Redacts an export request whose skim is `found`; how many of its records, scopes and resources changed.

        What no field of the schema claims is left out too.
        """
        request.DiscardUnknownFields()
        changed = content.drop(request, signal) if self._drop_content else 0
        if not self._may_match(found):
            return changed
        groups = request.resource_spans if signal == "traces" else request.resource_logs
        changed += sum(self._group(group, signal) for group in groups)
        self._texts.forget()
        return changed

    def batch(self, batch: Batch) -> Batch:
        """Redacts spans and log records that are decoded already (files)."""
        spans, logs = batch.spans, batch.logs
        if spans:
            spans = protodecode.walk_traces(self._through(encode.encode_traces(spans), "traces")).spans
        if logs:
            logs = protodecode.walk_logs(self._through(encode.encode_logs(logs), "logs")).logs
        return Batch(spans, logs, batch.rejected_spans, batch.rejected_logs, batch.warnings)

    def fingerprint(self, body: bytes) -> str:
        """Tells bodies apart without saying what is in them. Comparable between processes only if a key is set."""
        return self._rules.digests.of(body)

    def _through(self, request: Any, signal: Signal) -> Any:
        self.message(request, signal, skim(request.SerializeToString(), signal))
        return request

    def _may_match(self, found: Skim) -> bool:
        """False when no rule can do anything: found out over the lists of a whole request at once, which is cheap."""
        if not all(map(self._stays, set(found.keys))):
            return True
        blobs = [_text_of(blob).encode() for blob in found.blobs]
        numbers = [str(number).encode() for number in found.numbers]
        text = b"\n".join([*found.texts, *blobs, *numbers, *set(found.keys)])
        return self._texts.may_match(text)

    def _key_stays(self, key: bytes) -> bool:
        text = key.decode(errors="replace")
        return self._rules.allows(text) and self._texts.key_rule(text) is None

    def _group(self, group: Any, signal: Signal) -> int:
        traces = signal == "traces"
        group.resource.ClearField("entity_refs")
        changed = int(self._attributes(group.resource.attributes, top=True) | self._fields(group, "schema_url"))
        for scoped in group.scope_spans if traces else group.scope_logs:
            scope = scoped.scope
            changed += self._fields(scope, "name", "version") | self._attributes(scope.attributes, top=True)
            changed += self._fields(scoped, "schema_url")
            if traces:
                changed += sum(map(self._span, scoped.spans))
            else:
                changed += sum(map(self._log, scoped.log_records))
        return changed

    def _span(self, raw: Any) -> bool:
        changed = self._attributes(raw.attributes, top=True)
        changed |= self._fields(raw, "name", "trace_state")
        if raw.HasField("status"):
            changed |= self._fields(raw.status, "message")
        for event in raw.events:
            changed |= self._fields(event, "name") | self._attributes(event.attributes, top=True)
        for link in raw.links:
            changed |= self._fields(link, "trace_state") | self._attributes(link.attributes, top=True)
        return changed

    def _log(self, raw: Any) -> bool:
        changed = self._attributes(raw.attributes, top=True)
        changed |= self._fields(raw, "event_name", "severity_text")
        if raw.HasField("body"):
            changed |= self._value(raw.body, "")
        return changed

    def _fields(self, raw: Any, *names: str) -> bool:
        changed = False
        for name in names:
            text = getattr(raw, name)
            cleaned = self._texts.clean(text)
            if cleaned is not text and cleaned != text:
                setattr(raw, name, cleaned)
                changed = True
        return changed

    def _attributes(self, items: Any, *, top: bool) -> bool:
        """Attributes, or the members of a nested value."""
        gone: list[int] = []
        changed = False
        for i, item in enumerate(items):
            key = item.key
            rule = self._texts.key_rule(key)
            if (top and not self._rules.allows(key)) or (rule is not None and rule.put.action == "drop"):
                gone.append(i)
            elif rule is not None:
                changed |= self._whole(item.value, rule)
            else:
                changed |= self._value(item.value, key)
                changed |= self._fields(item, "key")
        for i in reversed(gone):
            del items[i]
        return changed or bool(gone)

    def _whole(self, value: Any, rule: KeyRule) -> bool:
        text = _canonical(value)
        put = rule.put.of(text)
        if text == put or (rule.put.action == "hash" and self._texts.is_token(text)):
            return False
        value.string_value = put
        return True

    def _value(self, value: Any, key: str) -> bool:
        kind = value.WhichOneof("value")
        if kind == "string_value":
            text = value.string_value
            cleaned = self._texts.clean(text, key)
            if cleaned is text or cleaned == text:
                return False
            value.string_value = cleaned
            return True
        if kind == "array_value":
            return sum(self._value(item, key) for item in value.array_value.values) > 0
        if kind == "kvlist_value":
            return self._attributes(value.kvlist_value.values, top=False)
        return self._scalar(value, kind, key)

    def _scalar(self, value: Any, kind: str | None, key: str) -> bool:
        """Numbers and bytes become texts when something in them had to go; bytes that are no text stay bytes."""
        if kind == "bytes_value":
            raw = value.bytes_value
            text = _text_of(raw)
            cleaned = self._texts.clean(text, key)
            if cleaned == text:
                return False
            value.bytes_value = cleaned.encode() if _is_utf8(raw) else cleaned.encode("latin-1", "replace")
            return True
        if kind not in ("int_value", "double_value"):
            return False
        text = str(getattr(value, kind))
        cleaned = self._texts.clean(text, key)
        if cleaned == text:
            return False
        value.string_value = cleaned
        return True


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text_of(raw: bytes) -> str:
    """Bytes as the text that they are, or may be."""
    return raw.decode() if _is_utf8(raw) else raw.decode("latin-1")


def _canonical(value: Any) -> str:
    """A value as one text, the same for equal values."""
    kind = value.WhichOneof("value")
    if kind is None:
        return ""
    if kind in ("array_value", "kvlist_value"):
        return str(value.SerializeToString(deterministic=True).hex())
    found = getattr(value, kind)
    if isinstance(found, bytes):
        return _text_of(found)
    return found if isinstance(found, str) else json.dumps(found)
