"""Suites as files of other tools, and the care of suites: import, export, lint, agreement of labellers.

One file per importer (`importers/`) and exporter (`exporters/`), found by scanning.
"""

from otel_toolselect.suites.document import Imported, render
from otel_toolselect.suites.exporting import export_suite
from otel_toolselect.suites.importing import read_suite

__all__ = ["Imported", "export_suite", "read_suite", "render"]
