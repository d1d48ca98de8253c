"""Wiring of `experiment`: every setting of the file is a run of its own, in a folder of its own, and then compared."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.app.running import Cause, Progress, Wanted, play
from otel_toolselect.config import Settings, data_folder
from otel_toolselect.errors import UsageError
from otel_toolselect.model.experiments import Arm, Experiment
from otel_toolselect.suites.experiments import Plan, Setting, VariedCatalog, load_experiment
from otel_toolselect.suites.runner import Options, Playing, choose, plan

if TYPE_CHECKING:
    from otel_toolselect.model.figures import Report
    from otel_toolselect.rules import Suite
    from otel_toolselect.suites.experiments.files import Model

EXPERIMENTS = "experiments"
BASE = "base"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line adds to the file; `base_url` and `attempts` stand in for those of the file."""

    path: str
    folder: Path | None = None
    base_url: str | None = None
    attempts: int | None = None
    cases: Sequence[str] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 120.0
    playing: Playing = field(default_factory=lambda: Playing(record="answer"))
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """`found` None while a setting is not done: `left` attempts, for `cause`."""

    folder: Path
    found: Experiment | None
    left: int = 0
    cause: Cause | None = None


def experiment(
    asked: Asked, settings: Settings, *, stop: threading.Event, tell: Callable[[str], None], progress: Progress
) -> Tried:
    """Runs what is not done yet. Raises UsageError, InputError, SuiteError, EnvironmentProblem."""
    from otel_toolselect.rules import load_suite
    from otel_toolselect.stats.experiments import experiment as figures

    wanted = load_experiment(asked.path)
    suite = choose(load_suite(wanted.suite), asked.cases, asked.tags)
    arms = list(_arms(wanted))
    _refuse_impossible(arms, wanted, suite)
    folder = asked.folder or _folder(wanted.name)
    attempts = asked.attempts or wanted.attempts
    reports: list[tuple[Arm, Report]] = []
    for number, (arm, model, setting) in enumerate(arms, 1):
        tell(f"setting {number} of {len(arms)}: {arm.name}")
        one = Wanted(
            suite=wanted.suite,
            kind="model",
            options=_options(model, setting, wanted, asked, suite),
            attempts=attempts,
            label=arm.name,
            folder=folder / _slug(arm.name),
            playing=asked.playing,
            keep=asked.keep,
        )
        ran = play(suite, one, settings, stop=stop, tell=tell, progress=progress)
        if ran.left:
            return Tried(folder, None, ran.left, ran.cause)
        reports.append((arm, ran.done.report))
    against = {variation.name: variation.against for variation in wanted.variations}
    bases = {arm.name: base for arm, _, _ in arms if (base := _base_of(arm, arms, against)) is not None}
    return Tried(folder, figures(wanted.name, attempts, reports, bases))


def _arms(wanted: Plan) -> Iterator[tuple[Arm, Model, Setting]]:
    """Every model's base, then its variations; names are unique and say what is varied."""
    for model in wanted.models:
        shown = model.label or model.name
        prefix = f"{shown}: " if len(wanted.models) > 1 else ""
        yield Arm(f"{prefix}{BASE}", "", None, shown, model.provider or ""), model, Setting()
        for variation in wanted.variations:
            for name, (value, setting) in zip(variation.names, variation.settings, strict=True):
                yield Arm(f"{prefix}{name}", variation.name, value, shown, model.provider or ""), model, setting


def _base_of(arm: Arm, arms: Sequence[tuple[Arm, Model, Setting]], against: Mapping[str, str | None]) -> str | None:
    """A variation is held against what it says, else its model's base; a model's base against the first model's."""
    first = arms[0][0].name
    if not arm.series:
        return first if arm.name != first else None
    ours = [other.name for other, _, _ in arms if other.model == arm.model]
    wanted = against.get(arm.series)
    if wanted is None:
        return ours[0]
    prefix = ours[0].removesuffix(BASE)
    return f"{prefix}{wanted}"


def _refuse_impossible(arms: Sequence[tuple[Arm, Model, Setting]], wanted: Plan, suite: Suite) -> None:
    """Every catalog is made once beforehand, so that the tenth setting does not fail after an hour."""
    problems: list[str] = []
    for arm, _, setting in arms:
        catalog = VariedCatalog(wanted.catalog, setting, tuple(suite.policy.aliases.items()))
        for attempt in plan(suite, 1):
            try:
                catalog.offered(attempt)
            except UsageError as error:
                problems.append(f"{arm.name}: {error}")
                break
    if problems:
        raise UsageError("\n".join(dict.fromkeys(problems)))


def _options(model: Model, setting: Setting, wanted: Plan, asked: Asked, suite: Suite) -> Options:
    if model.key is not None and not os.environ.get(model.key) and asked.base_url is None:
        raise UsageError(f"the model {model.name} needs its key in the environment variable {model.key}")
    return Options(
        where=model.name,
        timeout_s=asked.timeout_s,
        base_url=asked.base_url or model.base_url,
        key=os.environ.get(model.key, "") if model.key else "",
        provider=model.provider,
        system=wanted.system,
        catalog=VariedCatalog(wanted.catalog, setting, tuple(suite.policy.aliases.items())),
    )


def _folder(name: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return data_folder() / EXPERIMENTS / f"{_slug(name)}-{stamp}-{os.getpid()}"


def _slug(name: str) -> str:
    """A folder's name that no other setting has."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60]
    return f"{plain or 'setting'}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:6]}"
