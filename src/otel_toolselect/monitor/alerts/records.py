"""States as records: JSON text for the store, read back strictly.

pydantic guards this border: a record that another version wrote, or that was damaged, is an error with its reason and
never a state that is half right.
"""

from __future__ import annotations

from functools import cache

from pydantic import TypeAdapter, ValidationError

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import AlertState, Notification


@cache
def _states() -> TypeAdapter[AlertState]:
    return TypeAdapter(AlertState)


@cache
def _notifications() -> TypeAdapter[Notification]:
    return TypeAdapter(Notification)


def state_text(state: AlertState) -> str:
    return _states().dump_json(state).decode()


def read_state(text: str) -> AlertState:
    """Raises InputError on what is no state."""
    try:
        return _states().validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise InputError(f"no alert state: {_first(error)}", where="alert state") from error


def notification_text(notification: Notification) -> str:
    """For webhooks and dead letters."""
    return _notifications().dump_json(notification).decode()


def read_notification(text: str) -> Notification:
    """Raises InputError on what is no notification."""
    try:
        return _notifications().validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise InputError(f"no notification: {_first(error)}", where="notification") from error


def _first(error: ValidationError) -> str:
    """Where and why, without the value: records hold labels of users."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'text'}: {found['msg']}"
