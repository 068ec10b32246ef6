"""The parts that the harnesses of LangChain, LangGraph, LangMem and deepagents share."""
