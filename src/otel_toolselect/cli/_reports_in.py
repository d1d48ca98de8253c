"""Where commands on figures take their report from: a file of `score --format json`, or the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from otel_toolselect.errors import TooFewError, UsageError

if TYPE_CHECKING:
    from otel_toolselect.model.figures import Report

MaybeReport: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="[REPORT.json]",
        show_default=False,
        help="What `toolselect score ... --format json -o REPORT.json` wrote; without it the store is looked at.",
    ),
]
MaybeSuite: TypeAlias = Annotated[
    str | None, typer.Option("--suite", "-s", metavar="FILE", help="Judge the stored runs against this suite.")
]
SuiteName: TypeAlias = Annotated[
    str | None,
    typer.Option("--suite", "-s", metavar="NAME", help="Stored verdicts of this suite: its name, or its file."),
]
Label: TypeAlias = Annotated[str | None, typer.Option("--label", help="Only runs with this label (experiment).")]
Service: TypeAlias = Annotated[str | None, typer.Option("--service", help="Only traces of this service.name (store).")]


@dataclass(frozen=True, slots=True)
class Asked:
    """A report file, or the store in a window."""

    report: str | None
    suite: str | None = None
    store: str | None = None
    since: str | None = None
    until: str | None = None
    service: str | None = None
    label: str | None = None

    def judged(self) -> Report:
        """The file's report; else the stored runs judged against the suite file."""
        if self.report is not None:
            return self._chosen(_read(self.report, self))
        if self.suite is None:
            raise UsageError("give a report file, or --suite FILE to judge what is in the store")
        from otel_toolselect import app
        from otel_toolselect.app.times import moment
        from otel_toolselect.cli._store import opened
        from otel_toolselect.config import load

        settings = load({"store": self.store})
        window = {"since_ns": moment(self.since), "until_ns": moment(self.until)}
        with opened(settings.dsn, create=False) as held:
            done = app.evaluate(held, self.suite, **window, service=self.service, settings=settings)
        return self._chosen(done.report)

    def stored(self) -> Report:
        """The file's report; else the verdicts that the store keeps, without judging again."""
        if self.report is not None:
            return self._chosen(_read(self.report, self))
        from otel_toolselect.app.times import moment
        from otel_toolselect.app.windows import suite_name
        from otel_toolselect.cli._store import opened
        from otel_toolselect.config import load
        from otel_toolselect.model.verdicts import SuiteVerdicts
        from otel_toolselect.stats import report

        name = suite_name(self.suite)
        since_ns, until_ns = moment(self.since), moment(self.until)
        with opened(load({"store": self.store}).dsn, create=False) as held:
            found = list(held.verdicts(name, since_ns=since_ns, until_ns=until_ns))
        suites = sorted({verdict.suite for verdict in found})
        if not found:
            raise TooFewError("the store keeps no such verdicts; `toolselect eval --suite FILE` judges what it holds")
        if len(suites) > 1:
            raise UsageError(f"the store keeps verdicts of several suites; choose with --suite: {', '.join(suites)}")
        return self._chosen(report(SuiteVerdicts(suites[0], tuple(found))))

    def _chosen(self, report: Report) -> Report:
        if self.label is None:
            return report
        from otel_toolselect.gates import labelled

        return labelled(report, self.label)


def refuse_together(option: str, **others: object) -> None:
    """UsageError where any of these is given beside the option."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(f"{option} and {', '.join(given)} do not go together")


def refuse_alone(option: str, **others: object) -> None:
    """UsageError where any of these is given without the option."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(f"{', '.join(given)}: only together with {option}")


def _read(path: str, asked: Asked) -> Report:
    from otel_toolselect.reports import read_report

    options = {"--since": asked.since, "--until": asked.until, "--service": asked.service, "--store": None}
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise UsageError(f"{', '.join(given)} choose from the store; {path} is a report file")
    return read_report(path)
