"""The program that a coding agent starts at each event; ``pin install`` copies it beside its pins.

It imports nothing but the standard library, and little of that: an agent waits for it
at every turn. It is started as ``python -I -S hook.py AGENT``, reads the event as JSON
from standard input, and prints JSON of the shape that Claude Code, Codex and Gemini CLI
share; the plugins for opencode and pi read the same.

It never fails in silence. Where the rules cannot be read it hands out the last ones that
could be, or none, and says so in the text: to the model, and to the user where the agent
shows a hook's ``systemMessage``.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time

# As ``typing`` has it, which costs as much time as all the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
# Of one context in which an earlier block is still to be seen: said again only when it changed.
ONLY_CHANGES = frozenset({"UserPromptSubmit", "PostToolUse", "AfterTool"})
LONGEST_RECEIPTS = 4_000_000
LONGEST_REASON = 300
RECOMPILE_SECONDS = 10
FAULT = (
    "WARNING from constraintrot, which keeps this session's standing policies: {reason}.{rest}"
    " Tell the user this before you do anything else, and do nothing that cannot be undone"
    " until they have answered."
)
LAST_KNOWN = " The policies below are the last ones that could be read, and they hold."
NONE_KNOWN = " No policy could be read, though there are some."


def digest(path: str) -> str:
    """SHA-256 of a file, hex."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def changed(compiled: dict[str, Any]) -> bool:
    """Whether the files of the rules are not those that were compiled."""
    folder = compiled.get("folder")
    if folder is not None:
        named = {os.path.basename(source["path"]) for source in compiled["sources"]}
        if {name for name in os.listdir(folder) if not name.startswith("..")} != named:
            return True
    return any(digest(source["path"]) != source["sha256"] for source in compiled["sources"])


def load(folder: str) -> dict[str, Any]:
    """What was compiled last."""
    with open(os.path.join(folder, "compiled.json"), encoding="utf-8") as file:
        compiled: dict[str, Any] = json.load(file)
    if compiled["version"] != 1 or not compiled["text"].strip():
        raise ValueError("compiled.json is of another version, or empty")
    return compiled


def recompile(folder: str, compiled: dict[str, Any]) -> dict[str, Any]:
    """Compile the rules anew, in a process that has the package."""
    import subprocess

    try:
        done = subprocess.run(
            [*compiled["recompile"], folder],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RECOMPILE_SECONDS,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        raise ValueError("it took too long to read them") from None
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ValueError(why[-1] if why else "they could not be read")
    return load(folder)


def current(folder: str) -> tuple[dict[str, Any] | None, str]:
    """What is compiled, or None, and what is wrong with it, or an empty text."""
    try:
        compiled = load(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return None, f"the compiled policies cannot be read ({error})"
    try:
        return (recompile(folder, compiled) if changed(compiled) else compiled), ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        return compiled, f"the files of the policies cannot be read ({error})"


def handed_out(compiled: dict[str, Any] | None, fault: str) -> str:
    """The text for the model."""
    if compiled and not fault:
        return str(compiled["text"])
    warning = FAULT.format(
        reason=fault[:LONGEST_REASON], rest=LAST_KNOWN if compiled else NONE_KNOWN
    )
    return warning + "\n\n" + compiled["text"] if compiled else warning


def shown_before(folder: str, session: str, mark: str) -> bool:
    """Whether this session was handed the same text last; what it is handed now is noted."""
    name = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    path = os.path.join(folder, "sessions", name)
    try:
        with open(path, encoding="ascii") as file:
            if file.read() == mark:
                return True
    except (OSError, ValueError):
        pass
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(mark)
    except OSError:
        pass  # Then it is said again, which does no harm.
    return False


def write_receipt(folder: str, fields: dict[str, object]) -> None:
    """One more line of the receipts, sealed with the key beside them."""
    import hmac

    with open(os.path.join(folder, "key"), "rb") as file:
        key = file.read()
    body = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    seal = hmac.new(key, body.encode("ascii"), "sha256").hexdigest()
    path = os.path.join(folder, "receipts.jsonl")
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        # One write: hooks of several sessions append at the same time.
        os.write(handle, f'{{"receipt":{body},"seal":"{seal}"}}\n'.encode("ascii"))
        full = os.fstat(handle).st_size > LONGEST_RECEIPTS
    finally:
        os.close(handle)
    if full:
        os.replace(path, path + ".1")


def answer(folder: str, agent: str, event: dict[str, object]) -> dict[str, object]:
    """What is printed for an event."""
    name = str(event.get("hook_event_name") or "SessionStart")
    session = str(event.get("session_id") or "")
    compiled, fault = current(folder)
    text = handed_out(compiled, fault)
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    known = shown_before(folder, session, mark)
    if name in ONLY_CHANGES and known and session:
        return {}
    out: dict[str, object] = {
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": text}
    }
    receipt = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "agent": agent,
        "event": name,
        "source": event.get("source") if isinstance(event.get("source"), str) else None,
        "session": session,
        "state": "injected" if not fault else "stale" if compiled else "failed",
        "manifest": compiled["manifest"] if compiled else None,
        "revision": compiled["revision"] if compiled else None,
        "blocks": compiled["blocks"] if compiled else [],
        "sha256": mark,
        "characters": len(text),
    }
    try:
        write_receipt(folder, receipt)
    except OSError as error:
        fault = fault or f"no receipt could be written ({error})"
    if fault:
        out["systemMessage"] = "constraintrot: " + fault
    return out


def main() -> None:
    """Answer the event on standard input."""
    agent = sys.argv[1] if len(sys.argv) > 1 else "unknown"
    event: dict[str, object] = {}
    try:
        given = json.loads(sys.stdin.buffer.read() or b"{}")
        event = given if isinstance(given, dict) else {}
    except (ValueError, RecursionError):
        pass  # What to hand out depends little on it.
    try:
        out = answer(HERE, agent, event)
    except Exception as error:
        reason = f"its hook failed ({type(error).__name__}: {error})"
        name = str(event.get("hook_event_name") or "SessionStart")
        text = FAULT.format(reason=reason, rest=NONE_KNOWN)
        out = {
            "hookSpecificOutput": {"hookEventName": name, "additionalContext": text},
            "systemMessage": "constraintrot: " + reason,
        }
    if out:
        sys.stdout.write(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
