"""The program that a coding agent starts at each event; ``pin install`` copies it beside its pins.

It imports only a little of the standard library, because an agent waits for it at every
turn. It is started as ``python -I -S hook.py AGENT``, reads the event as JSON from standard
input, and prints JSON of the shape that Claude Code, Codex and Gemini CLI share; the plugins
for opencode and pi read the same.

It never fails silently. If the rules cannot be read, it hands out the last ones that could
be, if any, with a warning to the model, and to the user if the agent shows a hook's
``systemMessage``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import time

# Instead of importing ``typing``, which takes as long as all other imports.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
# At these events an earlier block is still in the context: it is repeated only if it changed.
ONLY_CHANGES = frozenset({"UserPromptSubmit", "PostToolUse", "AfterTool"})
# Agents that summarise a hook's text with its turn; no later hook's text outlasts that.
LOSES_TURNS = frozenset({"qwen", "copilot", "openhands"})
# Agents that read the text at the top level, not below ``hookSpecificOutput``.
FLAT = frozenset({"copilot", "openhands"})
# An agent starts the hooks of both scopes for one event within this time, in any order.
TOGETHER_SECONDS = 10
LONGEST_RECEIPTS = 4_000_000
LARGEST_RULES = 16 * 1024 * 1024
LONGEST_REASON = 300
# An agent waits for 20 seconds, and is told nothing by a hook that takes longer.
LONGEST_WAIT = 10
FAULT = (
    "WARNING from constraintrot, which keeps this session's standing policies: {reason}.{rest}"
    " Tell the user this before you do anything else, and do nothing that cannot be undone"
    " until they have answered."
)
LAST_KNOWN = " The policies below are the last ones that could be read, and they hold."
NONE_KNOWN = " No policy could be read, though there are some."


@contextlib.contextmanager
def held(path: str, until: float) -> Iterator[None]:
    """Hold a lock file; without lock support, as on Windows, go on unlocked.

    Raises:
        OSError: another process holds it until a time of the monotonic clock.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise TimeoutError(f"another process still holds {path}") from None
            time.sleep(0.005)
        yield
    finally:
        os.close(handle)


def contents(path: str) -> bytes:
    """Return what a bounded regular file holds (a FIFO or a device would never end)."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is no regular file")
        if status.st_size > LARGEST_RULES:
            raise ValueError(f"{path} is larger than {LARGEST_RULES:,} bytes")
        return file.read(LARGEST_RULES)


def digest(path: str) -> str:
    """Return the SHA-256, hex, of a file's ``contents``."""
    return hashlib.sha256(contents(path)).hexdigest()


def changed(folder: str, compiled: dict[str, Any]) -> bool:
    """Return whether the rules' files differ from the compiled ones, or could not be read before."""
    seeds = compiled.get("folder")
    if seeds is not None:
        named = {os.path.basename(source["path"]) for source in compiled["sources"]}
        if {name for name in os.listdir(seeds) if not name.startswith("..")} != named:
            return True
    if any(digest(source["path"]) != source["sha256"] for source in compiled["sources"]):
        return True
    return os.path.exists(os.path.join(folder, "fault"))


def load(folder: str) -> dict[str, Any]:
    """Load the rules that were compiled last."""
    with open(os.path.join(folder, "compiled.json"), encoding="utf-8") as file:
        compiled: dict[str, Any] = json.load(file)
    if compiled["version"] != 1 or not compiled["text"].strip():
        raise ValueError("compiled.json is of another version, or empty")
    return compiled


def recompile(folder: str, until: float) -> dict[str, Any]:
    """Compile the rules in a process that has the package; one of concurrent hooks does it."""
    import subprocess

    with held(os.path.join(folder, "compile.lock"), until):
        compiled = load(folder)
        if not changed(folder, compiled):
            return compiled
        try:
            done = subprocess.run(
                [*compiled["recompile"], folder],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=until - time.monotonic(),
                check=False,
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            raise ValueError("it took too long to read them") from None
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ValueError(why[-1] if why else "they could not be read")
    return load(folder)


def current(folder: str, until: float) -> tuple[dict[str, Any] | None, str]:
    """Return the compiled rules (or None) and the fault (or an empty text) in a limited time."""
    try:
        compiled = load(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return None, f"the compiled policies cannot be read ({error})"
    try:
        return (recompile(folder, until) if changed(folder, compiled) else compiled), ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        # This forces a new revision once they can be read: agents drop a text that they know.
        with contextlib.suppress(OSError), open(os.path.join(folder, "fault"), "w"):
            pass
        return compiled, f"the files of the policies cannot be read ({error})"


def handed_out(compiled: dict[str, Any] | None, fault: str) -> str:
    """Return the text for the model: the rules, with a warning if there is a fault."""
    if compiled and not fault:
        return str(compiled["text"])
    warning = FAULT.format(
        reason=fault[:LONGEST_REASON], rest=LAST_KNOWN if compiled else NONE_KNOWN
    )
    return warning + "\n\n" + compiled["text"] if compiled else warning


def in_force(compiled: dict[str, Any], folders: set[str]) -> bool:
    """Return whether a pin's settings start its hook for an agent that works in or below a folder."""
    named = compiled["list"]
    if named["scope"] == "project":
        project = os.path.realpath(named["project"])
        if not any(
            (os.path.realpath(one) + os.sep).startswith(project + os.sep) for one in folders
        ):
            return False
    variable, value = named["moved"]
    if named["scope"] == "user" and os.environ.get(variable, "") != value:
        return False
    # The file may be a repository's.
    return named["hook"] in contents(named["settings"]).decode("utf-8")


def beside(folder: str, compiled: dict[str, Any] | None, event: dict[str, object]) -> list[str]:
    """Return the folders of the agent's pins of the other scope in force in this session."""
    mine = (compiled or {}).get("list", {})
    if not mine.get("merges"):
        return []
    variables = (os.environ.get(name) for name in ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"))
    works_in = event.get("cwd") or event.get("working_dir")
    folders = {str(one) for one in (*variables, works_in) if one}
    with contextlib.suppress(OSError):  # The agent may have removed the folder that it is in.
        folders.add(os.getcwd())
    root, found = os.path.dirname(folder), []
    for name in sorted(os.listdir(root)):
        other = os.path.join(root, name)
        try:
            theirs = load(other)
            apart = theirs["list"]["scope"] != mine["scope"]
            if theirs["list"]["agent"] == mine["agent"] and apart and in_force(theirs, folders):
                found.append(other)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def noted(place: str) -> tuple[list[str], float]:
    """Return what a session was handed last (the text's mark, the pin, the event), and when."""
    try:
        with open(place, encoding="utf-8") as file:
            kept = json.load(file)
            # A damaged note must not silence the hook.
            return [*map(str, kept["said"]), "", "", ""][:3], float(kept["at"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ["", "", ""], 0.0


def said_already(
    place: str, mark: str, agent: str, name: str, event: dict[str, object], until: float
) -> bool:
    """Return whether the session has been handed a text already; if not, note it as handed.

    Args:
        place: the session's note, which the pins of both scopes share.
        mark: the text's digest.
        agent: the agent's name.
        name: the event's name.
        event: the event, as the agent sent it.
        until: the time of the monotonic clock to wait for.
    """
    mine = [mark, HERE, name]
    unchanged = name in ONLY_CHANGES or event.get("source") == "resume"
    begun = ""
    if agent in LOSES_TURNS and name == "SessionStart":
        # This text goes into the process's system prompt; the history may hold an older text.
        place, unchanged = place + ".system", False
    elif agent in LOSES_TURNS:
        (begun, *_), _ = noted(place + ".system")
        # Each turn repeats the text until the system prompt has it.
        unchanged = unchanged and (begun == mark or name != "UserPromptSubmit")
    try:
        with held(place + ".lock", until):
            known, at = noted(place)
            recent = time.time() - at < TOGETHER_SECONDS
            by_other = recent and known[1] != HERE and known[2] == name
            if (known[0] or begun) == mark and (unchanged or by_other):
                return True
            with open(place, "w", encoding="utf-8") as file:
                json.dump({"said": mine, "at": time.time()}, file)
    except OSError:
        pass  # Then the text is repeated, which does no harm.
    return False


def write_receipt(folder: str, fields: dict[str, object]) -> None:
    """Append a receipt, sealed with the key beside the receipts."""
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


def handed(agent: str, name: str, text: str) -> dict[str, object]:
    """Return the answer to an event that hands an agent a text."""
    top = {"additionalContext": text} if agent in FLAT else {}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}, **top}


def name_of(event: dict[str, object]) -> str:
    """Return the event's name; OpenHands calls it a type."""
    name = event.get("hook_event_name") or event.get("event_type") or "SessionStart"
    return str(name)[:LONGEST_REASON]


def answer(folder: str, agent: str, event: dict[str, object]) -> dict[str, object]:
    """Return the answer that is printed for an event."""
    name = name_of(event)
    session = str(event.get("session_id") or "")
    until = time.monotonic() + LONGEST_WAIT
    compiled, fault = current(folder, until)
    text = handed_out(compiled, fault)
    lists = {folder: (compiled, fault)}
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, LookupError):
        # A fault of the other scope is reported by its own hook.
        lists |= {other: current(other, until) for other in beside(folder, compiled, event)}
    # The user's pins first, whichever hook hands them out.
    first, *_ = ordered = sorted(lists, key=lambda one: "-user-" not in os.path.basename(one))
    whole = "\n\n".join(handed_out(*lists[one]) for one in ordered)
    if compiled and len(lists) > 1 and len(whole.encode()) <= compiled["longest"]:
        text = whole
        fault = "; ".join(lists[one][1] for one in ordered if lists[one][1])
    else:
        first = folder
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    # A sub-agent has the session's id, and a context of its own.
    who = session + str(event.get("agent_id") or "")
    called = hashlib.sha256(who.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    place = os.path.join(first, "sessions", called)
    if session and said_already(place, mark, agent, name, event, until):
        return {}
    out = handed(agent, name, text)
    receipt = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "agent": agent,
        "event": name,
        "source": event.get("source") if isinstance(event.get("source"), str) else None,
        "session": session[:LONGEST_REASON],
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
    # Set if an older signed list replaced a later one; the later one stays in force.
    refused = (compiled or {}).get("refused", "")
    if told := fault or refused:
        out["systemMessage"] = f"constraintrot: {told}"
    return out


def main() -> None:
    """Answer the event on standard input."""
    agent = sys.argv[1] if len(sys.argv) > 1 else "unknown"
    event: dict[str, object] = {}
    try:
        given = json.loads(sys.stdin.buffer.read() or b"{}")
        event = given if isinstance(given, dict) else {}
    except (ValueError, RecursionError):
        pass  # The text depends little on the event.
    try:
        out = answer(HERE, agent, event)
    except Exception as error:
        reason = f"its hook failed ({type(error).__name__}: {error})"
        compiled = None
        with contextlib.suppress(Exception):
            compiled = load(HERE)
        out = handed(agent, name_of(event), handed_out(compiled, reason))
        out["systemMessage"] = "constraintrot: " + reason
    if out:
        sys.stdout.write(json.dumps(out) + "\n")


if __name__ == "__main__":
    main()
