"""What the harnesses of LangChain, LangGraph, LangMem and deepagents share."""
