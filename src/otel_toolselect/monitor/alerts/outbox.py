"""What is sent, what is held back, and how neither a crash nor a silence loses or doubles a message.

A notification is born `pending` in the state's outbox, and the state is stored before anything is sent. The order is:
evaluate, store, send what the outbox holds, `acknowledged`, store. After a crash between any two of these the outbox
says what may not have been sent: it is sent again under the same key.

A silence holds back what is born while it lasts; the state changes all the same. When it ends, receivers hear of the
present if it is not what they believe: an alert that fired meanwhile and still does is told then, one that fired and
recovered is not, and nobody hears of the end of what nobody was told.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from otel_toolselect.model.alerting import AlertState, Notification, NotificationKind, Silence
from otel_toolselect.monitor.alerts.silences import silenced

_RAISED: Mapping[NotificationKind, bool] = {"fire": True, "resolve": False, "no_data": True, "data_back": False}
_TRACKS: tuple[tuple[NotificationKind, NotificationKind], ...] = (("fire", "resolve"), ("no_data", "data_back"))


def acknowledged(state: AlertState, keys: Collection[str]) -> AlertState:
    """The state once notifications with these keys have been delivered (or given up for good)."""
    return replace(state, outbox=tuple(n for n in state.outbox if n.key not in keys))


def posted(
    state: AlertState, made: Sequence[Notification], silences: Sequence[Silence], now_ns: int
) -> tuple[AlertState, tuple[Notification, ...]]:
    """The state with these in its outbox, or held back; and everything that has news in this call: `made`, as sent or
    silenced, and what a silence that ended lets go.
    """
    news: list[Notification] = []
    for notification in made:
        state, notification = _post(state, notification, silenced(silences, notification.labels, now_ns))
        news.append(notification)
    for track in _TRACKS:
        state, released = _review(state, track, silences, now_ns)
        news += released
    return state, tuple(news)


def _post(state: AlertState, made: Notification, silence: Silence | None) -> tuple[AlertState, Notification]:
    if silence is not None:
        held = replace(made, silenced_by=silence.id)
        return replace(state, withheld=(*state.withheld, held)), held
    track = _track(made.kind)
    before = [n for n in state.withheld if n.kind in track]
    state = replace(state, withheld=tuple(n for n in state.withheld if n.kind not in track))
    if _told(state, track) == _RAISED[made.kind]:
        # the end of what a silence kept from them
        return state, replace(made, silenced_by=before[-1].silenced_by if before else None)
    return _sent(state, made), made


def _review(
    state: AlertState,
    track: tuple[NotificationKind, NotificationKind],
    silences: Sequence[Silence],
    now_ns: int,
) -> tuple[AlertState, list[Notification]]:
    waiting = [n for n in state.withheld if n.kind in track]
    if not waiting:
        return state, []
    others, latest = tuple(n for n in state.withheld if n.kind not in track), waiting[-1]
    if _told(state, track) == _RAISED[latest.kind]:
        return replace(state, withheld=others), []
    if silenced(silences, latest.labels, now_ns) is not None:
        return replace(state, withheld=(*others, latest)), []
    released = replace(latest, silenced_by=None)
    return _sent(replace(state, withheld=others), released), [released]


def _track(kind: NotificationKind) -> tuple[NotificationKind, NotificationKind]:
    return _TRACKS[0] if kind in _TRACKS[0] else _TRACKS[1]


def _told(state: AlertState, track: tuple[NotificationKind, NotificationKind]) -> bool:
    return state.told_firing if track is _TRACKS[0] else state.told_silent


def _sent(state: AlertState, notification: Notification) -> AlertState:
    state = replace(state, outbox=(*state.outbox, notification))
    if _track(notification.kind) is _TRACKS[0]:
        return replace(state, told_firing=_RAISED[notification.kind])
    return replace(state, told_silent=_RAISED[notification.kind])
