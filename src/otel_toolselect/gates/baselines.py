"""The baseline file (R42): reviewable YAML in the user's repository, one line per fact, always in the same order.

`cases` holds what every other figure is counted from, so that a gate can compare on identical cases. On reading, the
totals must agree with it: a number edited by hand is an error, because a baseline moves by `baseline accept` with a
second reviewer or not at all. A baseline written by hand may leave `cases` out; then only its totals are compared.

    schema: toolselect.baseline/1
    suite: support
    accepted: {by: ann, reviewer: raj, at: "2026-11-30"}
    figures: {accuracy: 0.85}
    cells: [[refund_order, get_invoice, 3]]        # expected, observed, count; off the diagonal only
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolselect.errors import SuiteError
from otel_toolselect.gates._yamltext import Value, section, word
from otel_toolselect.gates.side import of_records
from otel_toolselect.model.gating import IDENTITIES, Baseline, CaseRecord
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.rules.documents import Fields, Items, Node, Problems, Scalar, read_document
from otel_toolselect.rules.documents import parse_document as _parse

SCHEMA = "toolselect.baseline/1"
COUNTS = ("runs", "judged", "infra", "catalog_gap", "incomplete", "cases")
_KEYS = (
    "schema", "suite", "accepted", "identity", "observations", "figures", "flips", "recall", "cells", "risk", "cases",
)  # fmt: skip
_HEAD = """\
# Baseline for `toolselect gate`. Keep it beside the suite and review it like code.
# It moves by `toolselect baseline accept REPORT.json -o THIS --by NAME --reviewer OTHER`; do not edit it by hand.
# Counts are of runs (observations) unless a line says cases.
"""


def dump_baseline(baseline: Baseline) -> str:
    """The text of the file; the same baseline gives the same bytes."""
    return _HEAD + "\n".join(_lines(baseline)) + "\n"


def _lines(b: Baseline) -> Iterator[str]:
    accepted: dict[str, Value] = {"by": b.by, "reviewer": b.reviewer, "at": b.on}
    yield f"schema: {SCHEMA}"
    yield f"suite: {word(b.suite)}"
    yield from section("accepted", accepted)
    yield from section("identity", {what: list(b.identities.get(what, ())) for what in IDENTITIES})
    yield from section("observations", {name: b.observations[name] for name in COUNTS if name in b.observations})
    yield from section("figures", _figures(b))
    flips: dict[str, Value] = {"rate": b.flip_rate, "cases": b.repeated_cases, "flipping": list(b.flipping)}
    yield from section("flips", flips)
    yield from section("recall", {tool: _share(*counts) for tool, counts in sorted(b.recall.items())})
    yield from section("cells", [[cell.expected, cell.observed, n] for cell, n in b.cells])
    yield from section("risk", {name: _share(*counts) for name, counts in sorted(b.risk.items())})
    if b.cases is not None:
        yield from section("cases", {name: _case(record) for name, record in sorted(b.cases.items())})


def _figures(b: Baseline) -> dict[str, Value]:
    found: dict[str, Value] = {}
    if b.accuracy is not None and b.accuracy_n:
        found["accuracy"] = _share(round(b.accuracy * b.accuracy_n), b.accuracy_n)
    elif b.accuracy is not None:
        found["accuracy"] = b.accuracy
    if b.case_mean is not None:
        found["mean_of_cases"] = round(b.case_mean, 6)
    if b.clarification[1]:
        found["clarification"] = _share(*b.clarification)
    return found


def _share(passed: int, n: int) -> dict[str, Value]:
    return {"passed": passed, "of": n, "rate": round(passed / n, 6) if n else None}


def _case(record: CaseRecord) -> dict[str, Value]:
    saw: list[Value] = [[cell.expected, cell.observed, n] for cell, n in record.cells]
    found: dict[str, Value] = {"passed": record.passed, "of": record.n, "saw": saw}
    if record.clarified[1]:
        found["asked"] = list(record.clarified)
    if record.risk is not None:
        found["risk"] = record.risk
    if record.request is not None:
        found["request"] = record.request
    return found


def load_baseline(path: str) -> Baseline:
    """The baseline in a file. Raises InputError, or SuiteError with every mistake."""
    root, problems = read_document(path)
    return _read(root, problems)


def parse_baseline(text: str, path: str) -> Baseline:
    return _read(*_parse(text, path))


def _read(root: Node, problems: Problems) -> Baseline:
    found = _fields(root, "a baseline", _KEYS, problems)
    schema = found.get("schema")
    if not isinstance(schema, Scalar) or schema.text != SCHEMA:
        problems.add(
            schema or root, f"not a baseline: schema must be {SCHEMA}", "make one with `toolselect baseline accept`"
        )
        raise SuiteError(problems.found)
    accepted = _fields(found.get("accepted"), "accepted", ("by", "reviewer", "at"), problems)
    figures = _fields(found.get("figures"), "figures", ("accuracy", "mean_of_cases", "clarification"), problems)
    flips = _fields(found.get("flips"), "flips", ("rate", "cases", "flipping"), problems)
    identity = _fields(found.get("identity"), "identity", IDENTITIES, problems)
    counts = _fields(found.get("observations"), "observations", COUNTS, problems)
    accuracy, accuracy_n = _accuracy(figures.get("accuracy"), problems)
    baseline = Baseline(
        suite=_text(found.get("suite"), "suite", problems),
        by=_text(accepted.get("by"), "accepted.by", problems),
        reviewer=_text(accepted.get("reviewer"), "accepted.reviewer", problems),
        on=_text(accepted.get("at"), "accepted.at", problems),
        accuracy=accuracy,
        accuracy_n=accuracy_n,
        case_mean=_number(figures.get("mean_of_cases"), "mean_of_cases", problems),
        identities={what: _texts(identity.get(what), what, problems) for what in IDENTITIES},
        observations={name: _count(node, name, problems) for name, node in counts.items()},
        flipping=_texts(flips.get("flipping"), "flipping", problems),
        repeated_cases=_count(flips.get("cases"), "cases", problems),
        flip_rate=_number(flips.get("rate"), "rate", problems),
        recall=_shares(found.get("recall"), "recall", problems),
        cells=_cells(found.get("cells"), "cells", problems),
        risk=_shares(found.get("risk"), "risk", problems),
        clarification=_share_of(figures.get("clarification"), "clarification", problems),
        cases=_cases(found.get("cases"), problems) if "cases" in found else None,
    )
    _second_person(baseline, found.get("accepted") or root, problems)
    _totals_agree(baseline, root, problems)
    if problems.found:
        raise SuiteError(problems.found)
    return baseline


def same_person(a: str, b: str) -> bool:
    """Whether two names are one person's, case and blanks aside."""
    return "".join(a.casefold().split()) == "".join(b.casefold().split())


def _second_person(baseline: Baseline, node: Node, problems: Problems) -> None:
    if baseline.by and baseline.reviewer and same_person(baseline.by, baseline.reviewer):
        problems.add(
            node, f"accepted by {baseline.by!r} and reviewed by the same person", "a second person must review"
        )


def _totals_agree(baseline: Baseline, root: Node, problems: Problems) -> None:
    """What stands above `cases` for people to read must be what `cases` adds up to."""
    if baseline.cases is None or problems.found:
        return
    side = of_records(baseline.cases.values(), baseline.cases)
    said = round(baseline.accuracy * (baseline.accuracy_n or 0)) if baseline.accuracy is not None else 0
    wrong = []
    if (said, baseline.accuracy_n or 0) != (sum(r.passed for r in baseline.cases.values()), side.n):
        wrong.append("figures.accuracy")
    if dict(baseline.cells) != side.off_diagonal:
        wrong.append("cells")
    if dict(baseline.recall) != side.recall:
        wrong.append("recall")
    if wrong:
        problems.add(root, f"{', '.join(wrong)} and cases do not agree: edited by hand?", "accept the report again")


def _fields(node: Node | None, what: str, known: tuple[str, ...], problems: Problems) -> dict[str, Node]:
    if node is None:
        return {}
    return {name: value for name, (_, value) in (problems.fields(node, what, known) or {}).items()}


def _text(node: Node | None, what: str, problems: Problems) -> str:
    if node is None:
        problems.at(1, 1, f"{what} is missing", "make the file with `toolselect baseline accept`")
        return ""
    return problems.text(node, what) or ""


def _texts(node: Node | None, what: str, problems: Problems) -> tuple[str, ...]:
    return () if node is None else tuple(text for text, _ in problems.texts(node, what))


def _number(node: Node | None, what: str, problems: Problems) -> float | None:
    if node is None or (isinstance(node, Scalar) and node.plain and node.value is None):
        return None
    return problems.number(node, what)


def _count(node: Node | None, what: str, problems: Problems) -> int:
    return 0 if node is None else problems.whole(node, what, least=0) or 0


def _accuracy(node: Node | None, problems: Problems) -> tuple[float | None, int | None]:
    """A bare rate, or passed and of."""
    if isinstance(node, Fields):
        passed, n = _share_of(node, "accuracy", problems)
        return (passed / n if n else None), n
    value = _number(node, "accuracy", problems)
    if value is not None and not 0 <= value <= 1 and node is not None:
        problems.add(node, f"accuracy must be from 0 to 1, not {value}")
    return value, None


def _share_of(node: Node | None, what: str, problems: Problems) -> tuple[int, int]:
    """passed and of; the rate beside them is for people."""
    if node is None:
        return 0, 0
    found = _fields(node, what, ("passed", "of", "rate"), problems)
    passed, n = _count(found.get("passed"), "passed", problems), _count(found.get("of"), "of", problems)
    if passed > n:
        problems.add(node, f"{what}: {passed} of {n} cannot be")
    return passed, n


def _shares(node: Node | None, what: str, problems: Problems) -> dict[str, tuple[int, int]]:
    if node is None:
        return {}
    if not isinstance(node, Fields):
        problems.add(node, f"{what} must be a mapping", "write {NAME: {passed: 3, of: 4}}")
        return {}
    return {key.text: _share_of(value, key.text, problems) for key, value in node.entries}


def _cells(node: Node | None, what: str, problems: Problems) -> tuple[tuple[Cell, int], ...]:
    """Entries [expected, observed, count]; a count that is left out is 1."""
    if node is None:
        return ()
    counts: dict[Cell, int] = {}
    for entry in problems.items(node, what, example="[[EXPECTED, OBSERVED, 3]]"):
        parts = entry.items if isinstance(entry, Items) else ()
        if len(parts) not in (2, 3):
            problems.add(entry, f"an entry of {what} must be a list", "write [EXPECTED, OBSERVED, COUNT]")
            continue
        expected, observed = problems.text(parts[0], "expected"), problems.text(parts[1], "observed")
        n = problems.whole(parts[2], "a count", least=0) if len(parts) == 3 else 1
        if expected is None or observed is None or n is None:
            continue
        cell = Cell(expected, observed)
        if cell in counts:
            problems.add(entry, f"the cell {expected} -> {observed} stands twice")
        counts[cell] = n
    return tuple(sorted(counts.items(), key=lambda item: (item[0].expected, item[0].observed)))


def _cases(node: Node | None, problems: Problems) -> dict[str, CaseRecord]:
    if not isinstance(node, Fields):
        return {}
    found = {}
    for key, value in node.entries:
        known = _fields(value, f"the case {key.text!r}", ("passed", "of", "saw", "asked", "risk", "request"), problems)
        asked = problems.items(known["asked"], "asked") if "asked" in known else ()
        found[key.text] = CaseRecord(
            passed=_count(known.get("passed"), "passed", problems),
            n=_count(known.get("of"), "of", problems),
            cells=_cells(known.get("saw"), "saw", problems),
            clarified=_asked(asked, problems),
            risk=_text(known["risk"], "risk", problems) if "risk" in known else None,
            request=_text(known["request"], "request", problems) if "request" in known else None,
        )
    return found


def _asked(nodes: tuple[Node, ...], problems: Problems) -> tuple[int, int]:
    """[asked, wanted a question]; nothing is 0 of 0."""
    counts = [_count(node, "asked", problems) for node in nodes]
    if len(counts) == 2 and counts[0] <= counts[1]:
        return counts[0], counts[1]
    if nodes:
        problems.add(nodes[0], "asked must be two counts", "write [ASKED, WANTED]")
    return 0, 0
