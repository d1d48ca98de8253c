"""Wiring of `preflight`: ask the servers, judge what they said, keep a catalog to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.model.preflight import Concern, Offer, OfferedTool, Preflight

if TYPE_CHECKING:
    from otel_toolselect.preflight import Check, Plan
    from otel_toolselect.preflight.asking import Asked

Told = Callable[[str], None]


def _silent(name: str) -> None:
    """The default of `told`."""


def preflight(path: str, told: Told = _silent) -> Preflight:
    """Everything about one file. `told` hears the name of each server that is done. Raises InputError, SuiteError."""
    from otel_toolselect.preflight import inspect, load, read_pins
    from otel_toolselect.preflight.asking import ask

    plan = load(path)
    pins = read_pins(plan.pinned) if plan.pinned is not None else None
    asked = ask(plan, told)
    offers = [one.offer for one in asked]
    held = [(check, *_held(plan, position, check, asked)) for position, check in enumerate(plan.checks)]
    found = [concern for _, concerns, _ in held for concern in concerns]
    return Preflight(
        name=plan.name,
        path=path,
        offers=tuple(offers),
        concerns=(*inspect(plan, offers, pins), *found),
        checks=sum(ran for _, _, ran in held),
        passed=sum(ran and not concerns for _, concerns, ran in held),
    )


def pin(path: str, told: Told = _silent) -> tuple[str, tuple[Offer, ...]]:
    """Write what the servers of the file offer now to its `pinned`; returns the name of that file, and the offers.

    Nothing is called. Raises UsageError without `pinned`, EnvironmentProblem when a server cannot be reached.
    """
    from otel_toolselect.preflight import load, written
    from otel_toolselect.preflight.asking import ask

    plan = load(path)
    if plan.pinned is None:
        raise UsageError(f"{path} does not say where to; add pinned: tools.json")
    offers = tuple(one.offer for one in ask(replace(plan, checks=()), told))
    away = [f"{offer.server}: {offer.failure}" for offer in offers if offer.failure is not None]
    if away:
        raise EnvironmentProblem(f"nothing was pinned, as not all servers could be asked: {'; '.join(away)}")
    Path(plan.pinned).write_text(written(offers), encoding="utf-8")
    return plan.pinned, offers


def _held(plan: Plan, position: int, check: Check, asked: Sequence[Asked]) -> tuple[tuple[Concern, ...], bool]:
    """Concerns about one check, and whether it was carried out: not so where its server is out of reach."""
    from otel_toolselect.preflight import concerns_of

    asked = [one for one in asked if check.server in ("", one.offer.server)]
    answered = [one for one in asked if position in one.answers]
    found = [
        concern
        for one in answered
        for concern in concerns_of(
            check, one.offer.server, _tool(one.offer, check.tool), one.answers[position], plan.policy
        )
    ]
    if not answered and not any(one.offer.failure is not None for one in asked):
        said = "a check calls it, and no server offers it"
        return (Concern("contract", "error", check.server, check.tool, said, check.line),), True
    return tuple(found), bool(answered)


def _tool(offer: Offer, name: str) -> OfferedTool:
    return next(tool for tool in offer.tools if tool.name == name)
