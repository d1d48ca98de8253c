"""Experiments on what a model is offered: prompts held, catalog or model varied (R45, R56).

`files` reads an experiment file, `varied` makes the catalogs, `retrieval/` holds the ways to choose tools for a prompt,
one file each, found by scanning.
"""

from otel_toolselect.suites.experiments.files import Plan, Setting, Variation, load_experiment
from otel_toolselect.suites.experiments.varied import VariedCatalog, retrievers

__all__ = ["Plan", "Setting", "Variation", "VariedCatalog", "load_experiment", "retrievers"]
