"""Labels: the queue of a day, one run to label by keyboard, and where labellers disagree (R14, R47)."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from otel_toolselect.app import browse
from otel_toolselect.app.browse.run_models import LabelCard
from otel_toolselect.app.labels import Desk, named_day
from otel_toolselect.errors import UsageError
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.web.call import Call, part
from otel_toolselect.web.page import Action, Answer, Go, Page, Section, Show
from otel_toolselect.web.problems import NotFoundError
from otel_toolselect.web.steps import steps_of
from otel_toolselect.web.tables import Column, Table

_QUEUE = (
    Column("Request"),
    Column("First action"),
    Column("Why"),
    Column("Agent, model"),
    Column("Start", numeric=True),
)
_DISPUTES = (Column("Request"), Column("First action"), Column("Opinions"), Column("Start", numeric=True))
_KEYS = "123456789abcdefghijk"
_SAYS = {"none": "answer directly", "ask_followup": "ask back", "refuse_no_tool": "say that no tool fits"}
_WHY = {"failure": "failure", "unsure": "unsure", "tool": "sample of its tool", "random": "sample of all"}
NOTE = 2_000
"""Characters of a note."""


def queue(call: Call) -> Answer:
    day, by = _day(call), labeller(call)
    found = browse.label_queue(call.reader, _desk(call), day, by)
    table = Table(f"Runs of {day} that {by} has not labelled", _QUEUE, found.items, total=f"{found.left:,} left")
    values = {"found": found, "table": table, "day": day, "by": by, "own": _own(call), "at": _at(call, day, by)}
    values["reasons"] = _WHY
    return Show("labels.html.j2", values, title="Labels")


def disputes(call: Call) -> Answer:
    rows = browse.label_disputes(call.reader, call.filters)
    table = Table("Runs on which sources disagree, the latest first", _DISPUTES, rows)
    return Show("disputes.html.j2", {"table": table, "by": labeller(call)}, title="Disagreements")


def one(call: Call) -> Answer:
    by = labeller(call)
    card = browse.label_card(call.reader, _desk(call), call.params["run_id"], by)
    if card is None:
        raise NotFoundError("there is no such run here; it may be another store's, or another tenant's")
    day = _day(call)
    values = {
        "card": card,
        "run": card.timeline.run,
        # without what suites and rules found: whoever labels says what is right by themselves
        "steps": steps_of(replace(card.timeline, judgements=())),
        "choices": choices(card),
        "by": by,
        "day": day,
        "own": _own(call),
        "at": _at(call, day, by),
    }
    return Show("label.html.j2", values, title="Label a run")


def choices(card: LabelCard) -> list[tuple[str, str, str, bool]]:
    """(key, name, in words, chosen) of everything that a label can name; keys run out after twenty."""
    names = [*NO_CALL_LABELS, *(name for name in card.names if name not in NO_CALL_LABELS)]
    mine = card.mine.expected if card.mine is not None else ()
    keys = [*_KEYS, *([""] * len(names))]
    return [(key, name, _SAYS.get(name, ""), name in mine) for key, name in zip(keys, names, strict=False)]


def give(call: Call) -> Answer:
    """Keep what was said, and on to the next run of the queue."""
    desk, by, day = _desk(call), labeller(call), _day(call)
    run_id = call.params["run_id"]
    card = browse.label_card(call.reader, desk, run_id, by)
    if card is None:
        raise NotFoundError("there is no such run here; it may be another store's, or another tenant's")
    if call.field("do") == "withdraw":
        desk.withdraw(card.timeline.run, by)
        return Go(call.link(f"/labels/{part(run_id)}") + _at(call, day, by), said="Your label is taken back.")
    expected = [str(value) for value in call.form.getlist("expected")]
    if not expected and call.field("do") != "wrong":
        raise UsageError("choose what was right, or say that the first action was wrong")
    known = desk.checked(card.timeline.run, [] if call.field("do") == "wrong" else expected)
    desk.keep([desk.label(card.timeline.run, by, known, note=call.field("note", limit=NOTE))])
    return Go(_next(call, desk, day, by), said=f"Kept: {' or '.join(known) or 'the first action was wrong'}.")


def _next(call: Call, desk: Desk, day: str, by: str) -> str:
    left = browse.label_queue(call.reader, desk, day, by, limit=1).items
    path = f"/labels/{part(left[0].summary.run_id)}" if left else "/labels"
    return call.link(path) + _at(call, day, by)


def labeller(call: Call) -> str:
    """Whose labels are given: the person's who signed in; where nobody signs in, whom the address names."""
    if not _own(call):
        return call.who.name
    by = call.query.get("by", "") or call.field("by", limit=100)
    return by.strip()[:100] or call.who.name


def _own(call: Call) -> bool:
    """Whether the labeller may be chosen: on a machine where everybody is `local`, two people can still be two."""
    return call.who.via == "open"


def _day(call: Call) -> str:
    return named_day(call.query.get("day", "") or call.field("day", limit=20) or "today", call.now_ns)


def _desk(call: Call) -> Desk:
    return Desk(call.store, call.settings, clock=lambda: call.now_ns, origin=call.origin)


def _at(call: Call, day: str, by: str) -> str:
    """The query that keeps day and labeller."""
    return "?" + urlencode({"day": day, "by": by} if _own(call) else {"day": day})


PAGES = (
    Page("/labels", queue, scope="label"),
    Page("/labels/disagreements", disputes, scope="label"),
    Page("/labels/{run_id:path}", one, scope="label"),
)
ACTIONS = (Action("/labels/{run_id:path}", give, scope="label"),)
PLUGIN = Section("labels", "Labels", PAGES, ACTIONS, order=60, scope="label")
