"""Shared parts of the harnesses of LangChain, LangGraph, LangMem and deepagents."""
