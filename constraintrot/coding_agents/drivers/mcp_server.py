"""An MCP server on standard input and output that offers a scenario's tools, simulated.

Started by the agent as ``python -I -S mcp_server.py TOOLS URL``, with the standard
library only. It executes nothing: it sends each call to the evaluation at URL, which
answers from the script of the episode.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(url: str, name: str, arguments: dict[str, Any]) -> str:
    body = json.dumps({"name": name, "arguments": arguments}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with _DIRECT.open(request, timeout=60) as answer:
        result: str = json.load(answer)["text"]
        return result


def answer(message: dict[str, Any], tools: list[dict[str, Any]], url: str) -> dict[str, Any] | None:
    """Return the answer to a client's request; None for a notification."""
    if "id" not in message:
        return None
    method, given = message.get("method"), message.get("params") or {}
    head = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        result: dict[str, Any] = {
            "protocolVersion": given.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "office", "version": "1"},
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = {"tools": tools}
    elif method == "tools/call":
        text = call(url, given["name"], given.get("arguments") or {})
        result = {"content": [{"type": "text", "text": text}]}
    else:
        return {**head, "error": {"code": -32601, "message": f"no method {method}"}}
    return {**head, "result": result}


def main(tools_file: str, url: str) -> None:
    tools = json.loads(Path(tools_file).read_text(encoding="utf-8"))
    for line in sys.stdin:
        if line.strip() and (said := answer(json.loads(line), tools, url)) is not None:
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
