"""What LangChain's OpenAI model would send, without an endpoint."""

from typing import Any

import pytest


def recorded(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[dict[str, Any]]]:
    """The package, and the requests that its model makes from now on; none is sent."""
    openai = pytest.importorskip("langchain_openai")
    payloads: list[dict[str, Any]] = []
    made = openai.ChatOpenAI._get_request_payload

    def payload(self: Any, *given: Any, **named: Any) -> Any:
        payloads.append(made(self, *given, **named))
        raise ConnectionError

    monkeypatch.setattr(openai.ChatOpenAI, "_get_request_payload", payload)
    return openai, payloads
