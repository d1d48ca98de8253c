"""`tiny`: the tiny forms (R11) as a whole suite, to grow from: `{"prompt", "expected"}` and `{"id", "request",
"expected", "env"}`, JSON lines or one JSON list.

`none` means any outcome without a call, as in the tiny form itself.
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.rules import parse_suite
from otel_toolselect.suites.document import Imported
from otel_toolselect.suites.importers._records import NO_CALL
from otel_toolselect.suites.importing import Source


class _Tiny:
    name = "tiny"
    about = 'the tiny forms {"prompt", "expected"} and {"id", "request", "expected", "env"}'

    def read(self, source: Source) -> Imported:
        # the loader makes ids and finds mistakes; its order is that of the records
        cases = parse_suite(source.text, path=f"{source.where}.jsonl").cases
        records = [record for _, record in source.records()]
        if len(cases) != len(records):
            raise InputError("holds records that are no tiny cases", where=source.where)
        found = Imported(source.stem, [])
        for case, record in zip(cases, records, strict=True):
            made: dict[str, Any] = {"id": case.id, "prompt": case.prompt}
            if case.env is not None:
                made["env"] = case.env
            made["expect"] = {"first": _first(record["expected"])}
            found.cases.append(made)
        return found


def _first(expected: Any) -> list[str]:
    listed = expected if isinstance(expected, list) else [expected]
    found: list[str] = []
    for name in listed:
        found += NO_CALL if name in (None, "none") else [str(name)]
    return list(dict.fromkeys(found))


PLUGIN = _Tiny()
