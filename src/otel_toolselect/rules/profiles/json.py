"""`matching: json`, the default: JSON equality (design section 4) of what is listed; other arguments are the schema's
business."""

from __future__ import annotations

from otel_toolselect.rules.profile import JSON_VALUES

PLUGIN = JSON_VALUES
