"""For agents that call their tools by hand: complete spans by the current GenAI conventions.

Depends on `opentelemetry-api` alone and does nothing harmful when no SDK is set up. Content (arguments, results,
messages) is recorded only when asked for: `capture=True`, or the conventions' own switch
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` set to `true`, `SPAN_ONLY` or `SPAN_AND_EVENT`.

    from otel_toolselect import instrument

    @instrument.tool
    def search_orders(customer_id: str) -> list[dict]: ...

    with instrument.case("refund-1", suite="support-agent"):
        with instrument.agent("support", request=text, tools=TOOLS) as run:
            ...
            run.answer("Your refund is on its way.")

Spec: semantic-conventions-genai, "GenAI agent and framework spans" (execute_tool, invoke_agent).
"""

from otel_toolselect.instrument._agent import AgentRun, agent
from otel_toolselect.instrument._case import CaseSpanProcessor, case
from otel_toolselect.instrument._tool import ToolRun, execute_tool, tool

__all__ = ["AgentRun", "CaseSpanProcessor", "ToolRun", "agent", "case", "execute_tool", "tool"]
