"""Which switch of which library brings what its spans lack: by instrumentation scope, for `toolselect doctor` and the
docs.

A dialect's own hints are for all that speak it; a library listed here knows better. Claims come from the captures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_EXPERIMENTAL = "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONTENT = ("arguments", "results", "request")


@dataclass(frozen=True, slots=True)
class Library:
    """One instrumentation: how its scopes begin, and its switches by what they bring."""

    scope: str
    content: str = ""
    switches: Mapping[str, str] = field(default_factory=dict)

    def hints(self) -> dict[str, str]:
        return {**{need: self.content for need in _CONTENT if self.content}, **self.switches}


LIBRARIES: tuple[Library, ...] = (
    Library(
        "opentelemetry.instrumentation.genai.openai_agents",
        f"set {_EXPERIMENTAL} and {_CAPTURE}=SPAN_AND_EVENT",
        {
            "request": "instrument the client too: opentelemetry-instrumentation-genai-openai records the messages",
            "catalog": "instrument the client too: opentelemetry-instrumentation-genai-openai records the tools",
            "ids": "instrument the client too: the call ids are in the model's answer only",
        },
    ),
    Library(
        "opentelemetry.instrumentation.genai.",
        f"set {_EXPERIMENTAL} and {_CAPTURE}=SPAN_AND_EVENT",
        {"catalog": f"set {_EXPERIMENTAL} and {_CAPTURE}=SPAN_AND_EVENT: the tools come with the content"},
    ),
    Library(
        "opentelemetry.instrumentation.openai_v2",
        f"set {_CAPTURE}=true and export logs to the same endpoint: the content is in log events",
        {"catalog": "use opentelemetry-instrumentation-genai-openai: this release records no tool definitions"},
    ),
    Library(
        "com.anthropic.sdk.python",
        "set ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content",
        {"catalog": "use opentelemetry-instrumentation-genai-anthropic: the SDK records no tool definitions"},
    ),
    Library(
        "pydantic-ai",
        "construct InstrumentationSettings(include_content=True) (the default)",
    ),
    Library("logfire.", "leave logfire's scrubbing off for the message attributes"),
    Library(
        "strands.telemetry.tracer",
        "content is always on; see that span events are not dropped on the way (Collector filters)",
        {"catalog": f"set {_EXPERIMENTAL},gen_ai_tool_definitions"},
    ),
    Library(
        "agent_framework",
        "set ENABLE_INSTRUMENTATION=true and ENABLE_SENSITIVE_DATA=true",
    ),
    Library(
        "semantic_kernel",
        "set SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true and attach the OTel "
        "LoggingHandler to Python's logging: the messages are log records",
    ),
    Library(
        "litellm",
        f"set {_CAPTURE}=SPAN_AND_EVENT and USE_OTEL_LITELLM_REQUEST_SPAN=true",
        {"ids": "LiteLLM records the ids of requested calls in the next request only"},
    ),
    Library(
        "gen_ai",
        "pass telemetry: { recordInputs: true, recordOutputs: true } to the call",
    ),
    Library(
        "agent_session_otel",
        "export with --include-content",
        {"catalog": "session files hold no tool definitions: pin the case's tools in the suite"},
    ),
)


def library_of(scope: str) -> Library | None:
    """The library that writes this scope; the most exact entry wins."""
    found = [lib for lib in LIBRARIES if scope.startswith(lib.scope)]
    return max(found, key=lambda lib: len(lib.scope), default=None)
