"""`--model NAME --base-url URL`: the decision alone, of a model behind an OpenAI-compatible endpoint.

The case's tools are offered (`--catalog`, out of which the case pins its own), the answer is captured, nothing is
executed. All calls of the answer are kept in the model's order; the first is the decision (R7).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from otel_toolselect.errors import UsageError
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.suites.runner.answers import read_answer
from otel_toolselect.suites.runner.masking import shown_url
from otel_toolselect.suites.runner.target import Catalog, Options, Outcome, Trial
from otel_toolselect.suites.runner.targets._web import Web, decoded, require
from otel_toolselect.suites.runner.targets.http import check_url


class _Model:
    name = "model"
    about = "a model behind an OpenAI-compatible endpoint: its first decision, nothing is executed"

    def make(self, options: Options) -> Model:
        require()
        if not options.base_url:
            raise UsageError("--model needs --base-url: the address before /chat/completions")
        check_url(options.base_url, "--base-url")
        if options.catalog is None:
            raise UsageError("--model needs --catalog FILE: the tools to offer")
        headers = dict(options.headers)
        if options.key:
            headers["authorization"] = f"Bearer {options.key}"
        provider = options.provider or _provider(options.base_url)
        url = f"{options.base_url.rstrip('/')}/chat/completions"
        return Model(url, options.where, provider, options.system, options.catalog, Web(options.timeout_s, headers))


PLUGIN = _Model()


@dataclass(slots=True)
class Model:
    url: str
    model: str
    provider: str
    system: str | None
    catalog: Catalog
    web: Web

    @property
    def shown(self) -> str:
        return f"model {self.model} at {shown_url(self.url)}"

    def run(self, trial: Trial) -> Outcome:
        tools = self.catalog.offered(trial.attempt)
        messages = [{"role": "system", "content": self.system}] if self.system else []
        messages.append({"role": "user", "content": trial.attempt.prompt})
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        if tools:
            body["tools"] = [{"type": "function", "function": _definition(tool)} for tool in tools]
        # baggage names the case, which is nobody's business outside
        found = self.web.post(self.url, json.dumps(body), {"traceparent": trial.headers["traceparent"]})
        if isinstance(found, Outcome):
            return replace(found, flushed=True)
        text, _ = found
        value = decoded(text)
        answer = read_answer(value) if isinstance(value, dict) and isinstance(value.get("choices"), list) else None
        if answer is None:
            return Outcome(trouble=f"no chat completion: {' '.join(text.split())[:200]}", flushed=True)
        # the name that was asked for: an alias would make one model two
        known = replace(answer, model=self.model, provider=self.provider, tools=tools, system=self.system)
        return Outcome(known, flushed=True)

    def cancel(self) -> None:
        self.web.close()

    def close(self) -> None:
        self.web.close()


def _definition(tool: ToolDefinition) -> dict[str, Any]:
    schema = tool.schema if tool.schema is not None else {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, "parameters": schema}


def _provider(url: str) -> str:
    """The vendor by its host; else the host."""
    host = urlsplit(url).hostname or ""
    known = {"openai.com": "openai", "anthropic.com": "anthropic", "mistral.ai": "mistral_ai", "groq.com": "groq"}
    return next((name for domain, name in known.items() if host == domain or host.endswith(f".{domain}")), host)
