"""Dead letters for their owner: which there are, giving them to the store once more, dropping them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.app.serving import receive_settings, spool_folder
from otel_toolselect.config import Settings
from otel_toolselect.errors import InputError, StoreError, ToolselectError, UsageError
from otel_toolselect.model.runs import TENANT

if TYPE_CHECKING:
    from otel_toolselect.model.spans import Batch
    from otel_toolselect.receive.door import Door
    from otel_toolselect.receive.letters import Letter
    from otel_toolselect.store import Store


RECORDS_AT_ONCE = 10_000
"""Spans and log records of one insert: small letters share one, since each insert is a part of its own in the store."""


@dataclass(frozen=True, slots=True)
class Retried:
    """What became of one letter: in the store and gone, or still there because of `problem`."""

    letter: Letter
    spans: int = 0
    logs: int = 0
    problem: ToolselectError | None = None


def folder(settings: Settings) -> Path:
    """Where the dead letters of this store's receiver are."""
    from otel_toolselect.receive.deadletters import FOLDER

    return spool_folder(settings) / FOLDER


def find(settings: Settings, ids: Sequence[str] = ()) -> list[Letter]:
    """The letters with these ids, or whose ids begin so; all without ids. The oldest first.

    Raises UsageError for ids that name none or more than one, all of them in one message.
    """
    from otel_toolselect.receive.letters import letters

    there = list(letters(folder(settings)))
    if not ids:
        return there
    chosen: dict[str, Letter] = {}
    problems = []
    for wanted in ids:
        found = [x for x in there if x.id == wanted] or [x for x in there if x.id.startswith(wanted)]
        if len(found) == 1:
            chosen[found[0].id] = found[0]
        elif found:
            problems.append(f"{wanted} begins the ids of {len(found)} dead letters; write more of it")
        else:
            problems.append(f"there is no dead letter {wanted}; toolselect dead-letter list shows those there are")
    if problems:
        raise UsageError("\n".join(problems))
    return [x for x in there if x.id in chosen]


def retry(letters: Sequence[Letter], store: Store, settings: Settings) -> Iterator[Retried]:
    """Gives each to the store, through the running server where that holds it, and removes those that it took.

    A letter that was refused at the door goes through the door again, limits and redaction in force. A repeated retry
    stores nothing twice. Raises StoreError when the store is away: what was not told of is untouched then.
    """
    from otel_toolselect.receive.door import Door

    wanted = receive_settings(settings, spool_folder(settings))
    door = Door(wanted)
    group: list[_Read] = []
    for letter in letters:
        try:
            group.append(_Read(letter, _batch(letter, door, wanted.max_request_bytes)))
        except InputError as error:
            yield Retried(letter, problem=error)
        if sum(item.records for item in group) >= RECORDS_AT_ONCE:
            yield from _store(group, store)
            group = []
    yield from _store(group, store)


@dataclass(frozen=True, slots=True)
class _Read:
    letter: Letter
    batch: Batch

    @property
    def records(self) -> int:
        return len(self.batch.spans) + len(self.batch.logs)


def _store(group: Sequence[_Read], store: Store) -> Iterator[Retried]:
    """All at once; one by one when the store refuses some of it."""
    if not group:
        return
    try:
        store.insert([s for i in group for s in i.batch.spans], [r for i in group for r in i.batch.logs])
    except StoreError as error:
        if error.retryable:
            raise
        if len(group) == 1:
            yield Retried(group[0].letter, problem=error)
            return
        for item in group:
            yield from _store([item], store)
        return
    for item in group:
        item.letter.remove()
        yield Retried(item.letter, len(item.batch.spans), len(item.batch.logs))


def _batch(letter: Letter, door: Door, max_bytes: int) -> Batch:
    from otel_toolselect.receive.access import Sender

    request = letter.request()
    if not letter.acknowledged:
        sender = Sender(attributes={TENANT: letter.tenant} if letter.tenant else {})
        request = door.admit(request, sender).request
    return request.decode(max_bytes)
