"""An agent on LangChain and LangGraph, traced by OpenInference."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openinference.instrumentation.langchain import LangChainInstrumentor
from ways import refund_order, run, search_orders, traced

LangChainInstrumentor().instrument(tracer_provider=traced())


def answer(prompt: str) -> str:
    model = ChatOpenAI(model="gpt-4o-mini", max_retries=0)
    agent = create_agent(model, [tool(search_orders), tool(refund_order)], name="shop")
    result = agent.invoke({"messages": [{"role": "user", "content": prompt}]})
    return str(result["messages"][-1].content)


if __name__ == "__main__":
    run(answer)
