"""Okapi BM25 over name, description and parameter names (Robertson and Zaragoza, 2009): k1 = 1.5, b = 0.75, no
stemming, no stop words; idf = ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.suites.experiments.retrieval._words import document, terms

K1, B = 1.5, 0.75


class _Bm25:
    name = "bm25"
    about = "Okapi BM25 over name, description and parameter names"

    def scores(self, prompt: str, tools: Sequence[ToolDefinition]) -> list[float]:
        documents = [Counter(terms(document(tool))) for tool in tools]
        lengths = [counts.total() for counts in documents]
        mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
        asked = dict.fromkeys(terms(prompt))
        idf = {}
        for term in asked:
            n = sum(term in counts for counts in documents)
            idf[term] = log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        return [
            sum(
                idf[term] * counts[term] * (K1 + 1) / (counts[term] + K1 * (1 - B + B * length / mean))
                for term in asked
                if counts[term]
            )
            for counts, length in zip(documents, lengths, strict=True)
        ]


PLUGIN = _Bm25()
