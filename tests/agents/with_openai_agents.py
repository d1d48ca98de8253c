"""An agent on the OpenAI Agents SDK, traced by OpenInference."""

from __future__ import annotations

import asyncio

from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from ways import refund_order, run, search_orders, traced

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool

PROVIDER = traced()
OpenAIAgentsInstrumentor().instrument(tracer_provider=PROVIDER)


async def answer_async(prompt: str) -> str:
    model = OpenAIChatCompletionsModel("gpt-4o-mini", AsyncOpenAI(max_retries=0))
    agent = Agent(name="shop", model=model, tools=[function_tool(search_orders), function_tool(refund_order)])
    result = await Runner.run(agent, prompt)
    return str(result.final_output)


def answer(prompt: str) -> str:
    return asyncio.run(answer_async(prompt))


if __name__ == "__main__":
    run(answer)
