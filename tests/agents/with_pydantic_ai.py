"""An agent on Pydantic AI, with its own spans."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from ways import refund_order, run, search_orders, traced

traced()
Agent.instrument_all()


def answer(prompt: str) -> str:
    agent = Agent(OpenAIChatModel("gpt-4o-mini"), name="shop", tools=[search_orders, refund_order])
    return str(agent.run_sync(prompt).output)


if __name__ == "__main__":
    run(answer)
