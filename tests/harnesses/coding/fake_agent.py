"""A coding agent in small, as a program: standard library only, one of four model APIs.

``python fake_agent.py API URL WINDOW SYSTEM TOOLS_FILE [MISDEED]``; requests of the user's come
as lines ``{"say": TEXT}`` on standard input, each is answered with ``{"done": true}``. It
calls its tools through the real MCP server, and replaces its history by a summary once its
model says that more than WINDOW tokens are taken, or refuses a request as too long. At its start and after that it runs the
hooks in ``~/.fake/hooks.json``, as Claude Code does. A misdeed makes it behave badly.
"""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

API, URL, WINDOW, SYSTEM, TOOLS = sys.argv[1:6]
MISDEED = sys.argv[6] if len(sys.argv) > 6 else ""
ASK = "Write the summary of all this."
history: list[dict[str, Any]] = []
told: list[str] = []
tools = json.loads(Path(TOOLS).read_text())
server = Path(__file__).parents[3] / "constraintrot/coding_agents/drivers/mcp_server.py"
mcp = subprocess.Popen(
    [sys.executable, "-I", "-S", str(server), TOOLS, f"{URL}/tool"],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)


def run_tool(name: str, arguments: dict[str, Any]) -> str:
    assert mcp.stdin is not None
    assert mcp.stdout is not None
    params = {"name": name, "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    mcp.stdin.write(json.dumps(call) + "\n")
    mcp.stdin.flush()
    return str(json.loads(mcp.stdout.readline())["result"]["content"][0]["text"])


def run_hooks(source: str) -> None:
    """Put what the hooks of the user's settings hand out before the user's next words."""
    settings = Path.home() / ".fake/hooks.json"
    hooks = json.loads(settings.read_text())["hooks"]["SessionStart"] if settings.exists() else []
    event = json.dumps({"hook_event_name": "SessionStart", "session_id": "1", "source": source})
    for entry in hooks:
        command = entry["hooks"][0]["command"]
        said = subprocess.run(command, shell=True, input=event, capture_output=True, text=True)
        text = json.loads(said.stdout)["hookSpecificOutput"]["additionalContext"]
        told.append(f"Hook: {text}")


def post(path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    request = urllib.request.Request(f"{URL}{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        lines = answer.read().decode().splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
    return [json.loads(one) for one in data]


Answer = tuple[str, list[tuple[str, str, dict[str, Any]]], int]


def chat(with_tools: bool) -> Answer:
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    for one in history:
        if "call" in one:
            number, name, given = one["call"]
            function = {"name": f"office_{name}", "arguments": json.dumps(given)}
            calls = [{"id": number, "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": one["text"], "tool_calls": calls})
        elif "result" in one:
            said = {"role": "tool", "tool_call_id": one["result"], "content": one["text"]}
            messages.append(said)
        else:
            messages.append({"role": one["role"], "content": one["text"]})
    functions = [
        {"name": f"office_{t['name']}", "description": "", "parameters": t["inputSchema"]}
        for t in tools
    ]
    offered = [{"type": "function", "function": f} for f in functions]
    body = {"model": "m", "messages": messages, "stream": True}
    events = post("/v1/chat/completions", body | ({"tools": offered} if with_tools else {}))
    delta = events[0]["choices"][0]["delta"]
    made = [
        (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
        for c in delta.get("tool_calls", [])
    ]
    return delta.get("content") or "", made, events[-1]["usage"]["total_tokens"]


def responses(with_tools: bool) -> Answer:
    items: list[dict[str, Any]] = [{"type": "message", "role": "developer", "content": SYSTEM}]
    for one in history:
        if "call" in one:
            number, name, given = one["call"]
            call = {"type": "function_call", "call_id": number, "name": name}
            items.append(call | {"namespace": "mcp__office", "arguments": json.dumps(given)})
        elif "result" in one:
            said = {"type": "function_call_output", "call_id": one["result"]}
            items.append(said | {"output": one["text"]})
        else:
            part = {"type": "input_text", "text": one["text"]}
            items.append({"type": "message", "role": one["role"], "content": [part]})
    if MISDEED == "opaque" and not with_tools:
        items.append({"type": "compaction_trigger"})
    inner = [{"type": "function", "name": t["name"], "parameters": t["inputSchema"]} for t in tools]
    space = [{"type": "namespace", "name": "mcp__office", "tools": inner}]
    body = {"model": "m", "instructions": "Be brief.", "input": items, "stream": True}
    events = post("/v1/responses", body | ({"tools": space} if with_tools else {}))
    whole = events[-1]["response"]
    text = "".join(o["content"][0]["text"] for o in whole["output"] if o["type"] == "message")
    calls = [
        (o["call_id"], o["name"], json.loads(o["arguments"]))
        for o in whole["output"]
        if o["type"] == "function_call" and o["namespace"] == "mcp__office"
    ]
    return text, calls, whole["usage"]["total_tokens"]


def messages(with_tools: bool) -> Answer:
    sent: list[dict[str, Any]] = []
    for one in history:
        if "call" in one:
            number, name, given = one["call"]
            use = {"type": "tool_use", "id": number, "name": f"mcp__office__{name}", "input": given}
            said = [{"type": "text", "text": one["text"]}] if one["text"] else []
            sent.append({"role": "assistant", "content": [*said, use]})
        elif "result" in one:
            result = {"type": "tool_result", "tool_use_id": one["result"], "content": one["text"]}
            sent.append({"role": "user", "content": [result]})
        else:
            sent.append({"role": one["role"], "content": one["text"]})
    offered = [
        {"name": f"mcp__office__{t['name']}", "input_schema": t["inputSchema"]} for t in tools
    ]
    body = {"model": "m", "system": SYSTEM, "messages": sent, "stream": True, "max_tokens": 9}
    events = post("/v1/messages?beta=true", body | ({"tools": offered} if with_tools else {}))
    text, name, number = "", "", ""
    calls: list[tuple[str, str, dict[str, Any]]] = []
    for event in events:
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            number, name = event["content_block"]["id"], event["content_block"]["name"]
        if event["type"] == "content_block_delta":
            text += event["delta"].get("text", "")
            if "partial_json" in event["delta"]:
                calls.append((number, name, json.loads(event["delta"]["partial_json"])))
    return text, calls, events[0]["message"]["usage"]["input_tokens"]


def gemini(with_tools: bool) -> Answer:
    contents: list[dict[str, Any]] = []
    for one in history:
        if "call" in one:
            call = {"name": f"mcp_office_{one['call'][1]}", "args": one["call"][2]}
            parts = [{"text": one["text"]}] if one["text"] else []
            contents.append({"role": "model", "parts": [*parts, {"functionCall": call}]})
        elif "result" in one:
            said = {"name": f"mcp_office_{one['name']}", "response": {"output": one["text"]}}
            contents.append({"role": "user", "parts": [{"functionResponse": said}]})
        else:
            role = "model" if one["role"] == "assistant" else "user"
            contents.append({"role": role, "parts": [{"text": one["text"]}]})
    offered = [
        {"name": f"mcp_office_{t['name']}", "parametersJsonSchema": t["inputSchema"]} for t in tools
    ]
    body = {"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": contents}
    with_them = {"tools": [{"functionDeclarations": offered}]} if with_tools else {}
    path = "/v1beta/models/m:streamGenerateContent?alt=sse"
    (event,) = post(path, body | with_them)
    parts = event["candidates"][0]["content"]["parts"]
    calls = [
        (p["functionCall"]["id"], p["functionCall"]["name"], p["functionCall"]["args"])
        for p in parts
        if "functionCall" in p
    ]
    text = "".join(part.get("text", "") for part in parts)
    return text, calls, event["usageMetadata"]["totalTokenCount"]


ask = {"chat": chat, "responses": responses, "messages": messages, "gemini": gemini}[API]


def own_tool(name: str, given: dict[str, Any]) -> str:
    """Read a file, or have a sub-agent do a task; all else is the MCP server's."""
    if name == "read":
        return Path(given["path"]).read_text()
    if name != "delegate":
        return run_tool(name, given)
    mine = list(history)
    history[:] = [{"role": "user", "text": given["task"]}]
    said, _, _ = ask(True)
    history[:] = mine
    return said


def compact(keep: int) -> None:
    """Replace all but the newest of the history by a summary."""
    kept = history[len(history) - keep :]
    history[len(history) - keep :] = [{"role": "user", "text": ASK}]
    summary, _, _ = ask(False)
    history[:] = [{"role": "user", "text": f"Before: {summary}"}, *kept]
    if MISDEED != "deaf":
        run_hooks("compact")


def asked() -> Answer:
    """Ask with tools; what is refused as too long is asked once more, shorter."""
    try:
        return ask(True)
    except urllib.error.HTTPError as refusal:
        if json.load(refusal)["error"].get("code") != "context_length_exceeded":
            raise
    compact(keep=1)
    return ask(True)


def turn(text: str) -> None:
    history.append({"role": "user", "text": "\n".join([*told, text])})
    told.clear()
    while True:
        said, calls, taken = asked()
        for number, name, given in calls:
            plain = name.removeprefix("mcp__office__").removeprefix("mcp_office_")
            plain = plain.removeprefix("office_")
            history.append({"call": (number, plain, given), "text": said})
            result = own_tool(plain, given)
            history.append({"result": number, "name": plain, "text": result})
        if not calls:
            history.append({"role": "assistant", "text": said})
            break
    if taken > int(WINDOW):
        compact(keep=0)


if MISDEED == "daemon":
    subprocess.Popen(["sleep", "600"], start_new_session=True)
run_hooks("startup")
for line in sys.stdin:
    if MISDEED == "dies":
        print("out of luck", file=sys.stderr)
        sys.exit(3)
    if MISDEED == "hangs":
        time.sleep(600)
    turn(json.loads(line)["say"])
    print(json.dumps({"done": True}), flush=True)
