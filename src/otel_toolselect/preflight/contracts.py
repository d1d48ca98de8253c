"""Answers held to their contracts. Pure: the same answers give the same concerns (R55)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import jsonschema_rs

from otel_toolselect.model.preflight import Answer, Concern, OfferedTool
from otel_toolselect.model.values import canonical
from otel_toolselect.preflight.files import Check
from otel_toolselect.rules import Policy

_SHOWN = 200


def concerns_of(
    check: Check, server: str, tool: OfferedTool, answers: Sequence[Answer], policy: Policy
) -> tuple[Concern, ...]:
    """What is wrong with the answers to one check; each thing once, though it is repeated."""
    found = [
        Concern("contract", "error", server, tool.name, said, check.line, (f"arguments: {canonical(check.args)}",))
        for said in dict.fromkeys(
            (*(said for answer in answers for said in _wrong(check, tool, answer, policy)), *_unsteady(answers))
        )
    ]
    return tuple(found)


def _wrong(check: Check, tool: OfferedTool, answer: Answer, policy: Policy) -> Iterator[str]:
    if answer.failure is not None:
        yield f"no answer: {answer.failure}"
        return
    contract = check.contract
    if answer.ok != contract.ok:
        said = _text(answer)
        yield f"failed: {said}" if contract.ok else f"was to fail, and answered {said}"
        return
    if contract.ok:
        why = contract.result_mismatch(tool.name, check.args, answer.value, policy)
        if why is not None:
            yield f"result: {why}"
        yield from _against_schema(tool, answer)
    else:
        why = contract.error_mismatch(tool.name, check.args, _text(answer), policy)
        if why is not None:
            yield why
    if contract.within_ns is not None and answer.seconds * 1e9 > contract.within_ns:
        yield f"took longer than {contract.within_ns / 1e9:g} s"


def _against_schema(tool: OfferedTool, answer: Answer) -> Iterator[str]:
    """A tool that declares what it returns is held to it."""
    if tool.output_schema is None:
        return
    try:
        problem = jsonschema_rs.validator_for(tool.output_schema).iter_errors(answer.value)
        first = next(iter(problem), None)
    except (ValueError, jsonschema_rs.ValidationError):
        return  # no schema at all: told by `inspect`
    if first is not None:
        yield f"result does not fit the declared output schema: {first.message}"


def _unsteady(answers: Sequence[Answer]) -> Iterator[str]:
    seen = dict.fromkeys((a.ok, canonical(a.value)) for a in answers if a.failure is None)
    if len(seen) > 1:
        yield f"{len(seen)} different answers to the same call: {' / '.join(value[:_SHOWN] for _, value in seen)}"


def _text(answer: Answer) -> str:
    text = answer.value if isinstance(answer.value, str) else canonical(answer.value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
