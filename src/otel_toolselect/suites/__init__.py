"""Suites as files of other tools, and the care of suites: import, export, lint, agreement of labellers.

One file per importer (`importers/`) and exporter (`exporters/`), found by scanning.
"""

from otel_toolselect.suites.document import Imported, render
from otel_toolselect.suites.exporting import export_suite, exporters
from otel_toolselect.suites.importing import importers, read_suite

__all__ = ["Imported", "export_suite", "exporters", "importers", "read_suite", "render"]
