"""The yes/no judge over an OpenAI-compatible endpoint (R26, R37): prompt, client, limits and cache.

It implements the `Asker` of `rules.asking`; `app` makes it from the settings and hands it to `judge`. The HTTP library
is an extra and is imported with the first question that no cache answers.
"""

from otel_toolselect.llm.cache import Cache
from otel_toolselect.llm.client import Client, Limits

__all__ = ["Cache", "Client", "Limits"]
