"""The runner: plays the cases of a suite against an agent and gathers what it did (R41, R54, R56).

An *attempt* is one case sent once. Kinds of targets live in `targets/`, one file each, found by scanning; `Runner`
sends the attempts, some at a time, and keeps each one in a `Folder` as soon as it is whole, so that a run that was
interrupted goes on where it stopped. Judging is done elsewhere, on the traces in the folder.

*Infrastructure faults* (R36), which take an attempt out of the denominators: time-out, connection refused or broken,
HTTP 408, 429 and 5xx, a process ended by a signal, and errors that are unmistakably of that kind in what an agent says
as it fails. An agent that fails otherwise is judged by the spans that it sent; without any, its attempt is incomplete.
"""

from otel_toolselect.suites.runner.folder import Done, Folder, Header
from otel_toolselect.suites.runner.plan import Attempt, choose, plan
from otel_toolselect.suites.runner.playing import Playing, Runner, Watch
from otel_toolselect.suites.runner.target import Kind, Options, Outcome, Target, Trial, kinds

__all__ = [
    "Attempt",
    "Done",
    "Folder",
    "Header",
    "Kind",
    "Options",
    "Outcome",
    "Playing",
    "Runner",
    "Target",
    "Trial",
    "Watch",
    "choose",
    "kinds",
    "plan",
]
